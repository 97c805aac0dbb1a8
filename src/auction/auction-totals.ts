/**
 * Counts every auction of every campaign: entered, won or lost and why, bids and prices.
 *
 * Receipts are sampled under load; these totals are not. A process gathers them in memory and
 * adds them to the daily totals in numbered batches, each exactly once. A killed process loses
 * its latest counts: some seconds of them, never money.
 */
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import type { CandidateSet } from './candidate-set.ts'
import { LADDER, LOSS } from './loss-code.ts'
import type { Outcome } from './outcome.ts'

/** What totals are counted by; the numbers are stored. */
export const DIMENSION = { all: 0, publisher: 1, device: 2, country: 3, offer: 4 } as const
type Dimension = (typeof DIMENSION)[keyof typeof DIMENSION]

/** How a campaign fared in one auction, by its candidate that came closest to winning. */
export interface CampaignResult {
  readonly campaignId: number
  readonly offerId: number // 0 for a page without a feed entry.
  readonly loss: number // 0: won.
  /** Micros per click that it offered; null if it was left out before it could bid. */
  readonly bidMicros: number | null
}

/** One auction, as far as the totals count it. */
export interface CountedAuction {
  readonly atMs: number
  readonly pubId: number
  readonly device: number
  readonly country: string | null
  readonly priceMicros: number // What the winner pays for the click; 0 without one.
  readonly results: readonly CampaignResult[]
}

/** A cell of the totals of one day. */
export interface Total {
  readonly day: string
  readonly campaignId: number
  readonly dimension: Dimension
  readonly value: number
  readonly reason: number
  auctions: number
  bids: number
  bidMicros: number
  priceMicros: number
}

/** How close to winning each loss is. */
const CLOSENESS = new Map(LADDER.map((loss, at) => [loss, at]))
/** A campaign that is paused or out of its flight was not in the auction at all. */
const NOT_ENTERED = new Set<number>([LOSS.inactive, LOSS.outOfFlight])

/**
 * How each campaign of a set fared. A campaign with several offers counts once; one that is paused
 * or out of its flight did not enter.
 */
export function campaignResults(set: CandidateSet, outcome: Outcome): CampaignResult[] {
  const best = new Map<number, number>() // Campaign to candidate.
  for (let i = 0; i < set.n; i += 1) {
    const id = set.campaignId[i] as number
    const known = best.get(id)
    if (known === undefined || closeness(outcome, i) > closeness(outcome, known)) best.set(id, i)
  }
  const results: CampaignResult[] = []
  for (const [campaignId, i] of best) {
    const loss = i === outcome.winner ? LOSS.none : (outcome.losses[i] as number)
    if (NOT_ENTERED.has(loss)) continue
    const hasBid = i === outcome.winner || loss === LOSS.outbid || loss === LOSS.belowFloor
    const low = set.offerId[2 * i] as number
    const high = set.offerId[2 * i + 1] as number
    results.push({
      campaignId,
      offerId: high * 2 ** 32 + low,
      loss,
      bidMicros: hasBid ? Math.round(outcome.values[i] as number) : null,
    })
  }
  return results
}

function closeness(outcome: Outcome, i: number): number {
  if (i === outcome.winner) return LADDER.length
  return CLOSENESS.get(outcome.losses[i] as number) ?? -1
}

/** A country as a number: its two letters; 0 if unknown. */
export function countryValue(code: string | null): number {
  return code === null ? 0 : code.charCodeAt(0) * 256 + code.charCodeAt(1)
}

/**
 * Most cells between two flushes, about 20 MB. Beyond it offers are counted together under 0; the
 * other dimensions have few values.
 */
const CELLS_MAX = 100_000

/**
 * Above every loss code: a value and a code make one number, which a Map finds fastest. Exact for
 * offer ids below 9 · 10^12; they are numbered from 1.
 */
const REASONS_MAX = 1_000

/** A campaign's cells of a day: by dimension, then by value and reason. */
type CampaignCells = readonly [Cells, Cells, Cells, Cells, Cells]
type Cells = Map<number, Total>

/**
 * Totals since the last `take`. Every auction comes here, so cells are looked up by numbers: texts
 * as keys take three times as long.
 */
export class AuctionTotals {
  /** By days since 1970, then by campaign. */
  #days = new Map<number, Map<number, CampaignCells>>()
  #size = 0

  add({ atMs, pubId, device, country, priceMicros, results }: CountedAuction): void {
    const day = Math.floor(atMs / DAY_MS)
    const campaigns = this.#days.getOrInsertComputed(day, () => new Map())
    const countryNumber = countryValue(country)
    for (const result of results) {
      const cells = campaigns.getOrInsertComputed(result.campaignId, noCells)
      const price = result.loss === LOSS.none ? priceMicros : 0
      const offer = this.#size < CELLS_MAX ? result.offerId : 0
      this.#count(cells, DIMENSION.all, 0, day, result, price)
      this.#count(cells, DIMENSION.publisher, pubId, day, result, price)
      this.#count(cells, DIMENSION.device, device, day, result, price)
      this.#count(cells, DIMENSION.country, countryNumber, day, result, price)
      this.#count(cells, DIMENSION.offer, offer, day, result, price)
    }
  }

  /** Everything counted so far; counting goes on from nothing. */
  take(): Total[] {
    const taken = [...this.#days.values()].flatMap((campaigns) =>
      [...campaigns.values()].flatMap((cells) => cells.flatMap((one) => [...one.values()])),
    )
    this.#days = new Map()
    this.#size = 0
    return taken
  }

  // Plain arguments: five calls a campaign and auction would each make a record.
  #count(
    cells: CampaignCells,
    dimension: Dimension,
    value: number,
    day: number,
    { campaignId, loss: reason, bidMicros }: CampaignResult,
    priceMicros: number,
  ): void {
    const key = value * REASONS_MAX + reason
    let cell = cells[dimension].get(key)
    if (cell === undefined) {
      cell = {
        ...{ day: utcDay(day * DAY_MS), campaignId, dimension, value, reason },
        ...{ auctions: 0, bids: 0, bidMicros: 0, priceMicros: 0 },
      }
      cells[dimension].set(key, cell)
      this.#size += 1
    }
    cell.auctions += 1
    if (bidMicros !== null) {
      cell.bids += 1
      cell.bidMicros += bidMicros
    }
    cell.priceMicros += priceMicros
  }
}

const noCells = (): CampaignCells => [new Map(), new Map(), new Map(), new Map(), new Map()]
