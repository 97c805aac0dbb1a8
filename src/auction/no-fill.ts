/**
 * Why auctions had no winner, ranked by the money that each reason cost the publisher.
 *
 * The money is not guessed from bids. Each unfilled auction runs again with one check waived and
 * everything else unchanged; its outcome is that reason's cost. A candidate with two faults costs
 * nothing by either alone.
 */
import { LIVE } from './campaign-state.ts'
import type { CandidateSet } from './candidate-set.ts'
import { earningsPerClick } from './expected-earnings.ts'
import { LOSS } from './loss-code.ts'
import { lossReason } from './loss-reason.ts'
import type { StoredAuction } from './receipt.ts'
import { rerun } from './replay.ts'
import type { NoFillReason } from './result-schema.ts'
import { type AuctionRequest, CONFIDENCE_MIN_PPM, canReplay, priceMax } from './run-auction.ts'
import { ANY_DEVICE } from './targeting.ts'
import type { LoggedAuction } from './what-if.ts'

/** Reasons by money missed, greatest first; filled auctions are skipped. */
export class NoFillRun {
  readonly #found = new Map<number, Missed>()
  readonly #totals = { auctions: 0, unfilled: 0, unfilled_clicks: 0 }

  add({ auction, clicks }: LoggedAuction): void {
    this.#totals.auctions += 1
    if (auction.outcome.winner >= 0) return
    this.#totals.unfilled += 1
    this.#totals.unfilled_clicks += clicks
    for (const code of reasonsOf(auction)) {
      const sums = this.#found.getOrInsertComputed(code, nothingMissed)
      const perClick = earningsWithout(auction, code)
      sums.auctions += 1
      sums.clicks += clicks
      sums.missed += perClick * clicks
      sums.all += perClick
      if (perClick > sums.dearest) {
        sums.dearest = perClick
        sums.example = auction.resultNumber
      }
    }
  }

  /** All auctions, those without a winner, and the clicks on these. */
  totals() {
    return this.#totals
  }

  report(): NoFillReason[] {
    return [...this.#found].map(toReason).sort(byMoneyMissed)
  }
}

interface Missed {
  auctions: number
  clicks: number
  missed: number
  all: number
  /** The highest value per click of one auction, and its result number. */
  dearest: number
  example: Buffer
}

const nothingMissed = (): Missed => ({
  ...{ auctions: 0, clicks: 0, missed: 0, all: 0 },
  ...{ dearest: -1, example: Buffer.alloc(0) },
})

function toReason([code, sums]: [number, Missed]): NoFillReason {
  const { word, name, publisher } = lossReason(code)
  return {
    code,
    word,
    name,
    sentence: publisher,
    auctions: sums.auctions,
    clicks: sums.clicks,
    missed_micros: Math.round(sums.missed),
    missed_if_clicked_micros: Math.round(sums.all),
    auction_result_number: sums.example.toString('hex'),
  }
}

function byMoneyMissed(a: NoFillReason, b: NoFillReason): number {
  return (
    b.missed_micros - a.missed_micros ||
    b.missed_if_clicked_micros - a.missed_if_clicked_micros ||
    b.auctions - a.auctions ||
    a.code - b.code
  )
}

function reasonsOf({ set, outcome }: StoredAuction): Set<number> {
  if (set.n === 0) return new Set([LOSS.noCandidates])
  return new Set(outcome.losses.subarray(0, set.n))
}

/** The publisher's micros per click if every candidate had passed this check. */
function earningsWithout(auction: StoredAuction, code: number): number {
  if (!canReplay(auction.ruleVersion)) return 0
  const set = { ...auction.set, ...waivedFields(auction, code) }
  const request = { ...auction.request, ...waivedRequest(auction.request, code) }
  return earningsPerClick(set, request, rerun({ ...auction, set, request }))
}

function waivedFields(auction: StoredAuction, code: number): Partial<CandidateSet> {
  const { set } = auction
  const { state } = set
  switch (code) {
    case LOSS.inactive:
    case LOSS.outOfFlight:
    case LOSS.staleFeed:
      return { state: { ...state, live: state.live.map((live) => waivedLive(live, code)) } }
    case LOSS.outOfStock:
      return { isInStock: set.isInStock.map(() => 1) }
    case LOSS.device:
      return { deviceMask: set.deviceMask.map(() => ANY_DEVICE) }
    case LOSS.country:
      return { countries: set.countries.map(() => null) }
    case LOSS.blocked:
      return { publishers: set.publishers.map(() => null) }
    case LOSS.confidence:
      return { confidencePpm: set.confidencePpm.map((ppm) => Math.max(ppm, CONFIDENCE_MIN_PPM)) }
    case LOSS.price:
      // Priced at the highest acceptable price.
      return { price: set.price.map((price) => Math.min(price, priceMax(set, auction.request))) }
    case LOSS.paced:
      return {
        state: { ...state, ptr: state.ptr.map(() => 1), paceFactor: state.paceFactor.map(() => 1) },
      }
    case LOSS.unfunded:
      return { state: { ...state, budgetOk: state.budgetOk.map(() => 1) } }
    case LOSS.belowFloor:
      return { floors: set.floors.map(() => null) }
    default:
      return {} // `exclusive` is part of the request; without candidates there is nothing to waive.
  }
}

function waivedRequest(request: AuctionRequest, code: number): Partial<AuctionRequest> {
  const { publisher } = request
  switch (code) {
    case LOSS.blocked:
      return { publisher: { ...publisher, merchants: null } }
    case LOSS.exclusive:
      return { isExclusive: false }
    case LOSS.price:
      return { publisher: { ...publisher, isPriceRequired: false } }
    case LOSS.belowFloor:
      return { publisher: { ...publisher, floorMicros: 0 } } // The platform's own floor stays.
    default:
      return {}
  }
}

const WAIVED_LIVE: Readonly<Record<number, number>> = {
  [LOSS.inactive]: LIVE.inactive,
  [LOSS.outOfFlight]: LIVE.outOfFlight,
  [LOSS.staleFeed]: LIVE.staleFeed,
}

function waivedLive(live: number, code: number): number {
  return live === WAIVED_LIVE[code] ? LIVE.live : live
}
