/**
 * What a publisher would have earned under other settings: its logged auctions, run again with
 * changed floors, lists, tolerance or price rule.
 *
 * The reader clicks before knowing the merchant, so the same clicks would have come and only
 * winners and prices change. Bids and budgets stay those of the day: a log cannot say how merchants
 * would have reacted.
 */
import type { CategoryFloor } from '../accounts/category-floor.ts'
import type { CandidateSet } from './candidate-set.ts'
import { type CategoryFloors, compileFloors } from './category-floors.ts'
import { earningsPerClick } from './expected-earnings.ts'
import type { Outcome } from './outcome.ts'
import { CATEGORY_UNKNOWN, type StoredAuction } from './receipt.ts'
import { rerun } from './replay.ts'
import type { WhatIf, WhatIfSide } from './result-schema.ts'
import { type AuctionRequest, canReplay } from './run-auction.ts'
import { type IdList, idList } from './targeting.ts'

/** Given settings replace those of the day; lists replace both lists. */
export interface WhatIfChange {
  readonly floorMicros?: number
  readonly categoryFloors?: readonly CategoryFloor[] // Replaces the floors of all categories.
  readonly tolerancePpm?: number
  readonly beta?: number
  readonly isPriceRequired?: boolean
  readonly isFirstPrice?: boolean
  readonly allowMerchants?: readonly number[]
  readonly blockMerchants?: readonly number[]
}

/** An auction of the log and its result's billable clicks. */
export interface LoggedAuction {
  readonly auction: StoredAuction
  readonly clicks: number
}

/**
 * Runs every auction again, as it was and changed, in slices: a day is too much for one turn of the
 * event loop. Tolerance and beta have a publisher's limits (result-schema.ts).
 */
export class WhatIfRun {
  readonly #change: WhatIfChange
  readonly #floors: CategoryFloors | null // Null means those of the day.
  // Null means all; undefined means those of the day.
  readonly #merchants: IdList | null | undefined
  readonly #before = new Tally()
  readonly #after = new Tally()
  readonly #winners = new Map<number, { before: number; after: number }>()
  #skipped = 0
  #changed = 0

  constructor(change: WhatIfChange) {
    this.#change = change
    this.#floors = change.categoryFloors === undefined ? null : compileFloors(change.categoryFloors)
    const { allowMerchants: allow, blockMerchants: block } = change
    if (allow !== undefined || block !== undefined)
      this.#merchants = idList(allow ?? [], block ?? [])
  }

  add({ auction, clicks }: LoggedAuction): void {
    const hasUnknownCategory =
      this.#floors !== null && auction.set.category.includes(CATEGORY_UNKNOWN)
    if (!canReplay(auction.ruleVersion) || hasUnknownCategory) {
      this.#skipped += 1
      return
    }
    const { set } = auction
    const request = changedRequest(auction.request, this.#change, this.#merchants)
    const was = rerun(auction)
    const would = rerun({ ...auction, set: withFloors(set, this.#floors), request })
    this.#before.add({ set, request: auction.request, outcome: was }, clicks)
    this.#after.add({ set, request, outcome: would }, clicks)
    if (was.winner !== would.winner) this.#changed += 1
    const counts = (outcome: Outcome) =>
      this.#winners.getOrInsert(merchantOf(set, outcome), { before: 0, after: 0 })
    counts(was).before += 1
    counts(would).after += 1
  }

  report(): WhatIf {
    const [before, after] = [this.#before.side(), this.#after.side()]
    const [was, would] = [before.reader_price_micros, after.reader_price_micros]
    const winners = [...this.#winners].map(([merch_id, counts]) => ({ merch_id, ...counts }))
    return {
      auctions: this.#before.auctions,
      clicks: this.#before.clicks,
      skipped: this.#skipped,
      before,
      after,
      difference: {
        won: after.won - before.won,
        earnings_micros: after.earnings_micros - before.earnings_micros,
        earnings_per_click_micros:
          after.earnings_per_click_micros - before.earnings_per_click_micros,
        reader_price_micros: was === null || would === null ? null : would - was,
      },
      winner_changed: this.#changed,
      winners: winners.sort((a, b) => b.after - a.after || a.merch_id - b.merch_id),
    }
  }
}

function changedRequest(
  request: AuctionRequest,
  change: WhatIfChange,
  merchants: IdList | null | undefined,
): AuctionRequest {
  const { publisher } = request
  return {
    ...request,
    isFirstPrice: change.isFirstPrice ?? request.isFirstPrice,
    publisher: {
      ...publisher,
      floorMicros: change.floorMicros ?? publisher.floorMicros,
      tolerancePpm: change.tolerancePpm ?? publisher.tolerancePpm,
      beta: change.beta ?? publisher.beta,
      isPriceRequired: change.isPriceRequired ?? publisher.isPriceRequired,
      merchants: merchants === undefined ? publisher.merchants : merchants,
    },
  }
}

function withFloors(set: CandidateSet, floors: CategoryFloors | null): CandidateSet {
  if (floors === null) return set
  return { ...set, floors: Array.from(set.category, (id) => floors.get(id) ?? null) }
}

class Tally {
  auctions = 0
  clicks = 0
  won = 0
  earningsMicros = 0
  perClickMicros = 0
  priced = 0
  priceMicros = 0

  add(
    held: { set: CandidateSet; request: AuctionRequest; outcome: Outcome },
    clicks: number,
  ): void {
    const { set, request, outcome } = held
    this.auctions += 1
    this.clicks += clicks
    if (outcome.winner < 0) return
    const perClick = earningsPerClick(set, request, outcome)
    this.won += 1
    this.perClickMicros += perClick
    this.earningsMicros += perClick * clicks
    const price = set.price[outcome.winner] as number
    if (price === 0) return
    this.priced += 1
    this.priceMicros += price
  }

  side(): WhatIfSide {
    return {
      won: this.won,
      earnings_micros: Math.round(this.earningsMicros),
      earnings_per_click_micros:
        this.auctions === 0 ? 0 : Math.round(this.perClickMicros / this.auctions),
      reader_price_micros: this.priced === 0 ? null : Math.round(this.priceMicros / this.priced),
    }
  }
}

function merchantOf(set: CandidateSet, { winner }: Outcome): number {
  return winner < 0 ? 0 : (set.merchId[winner] as number)
}
