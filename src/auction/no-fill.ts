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
import { LOSS, type LossName, lossName } from './loss-code.ts'
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

  add({ auction, auctionId, clicks }: LoggedAuction & { readonly auctionId: string }): void {
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
      const link = sums.links.getOrInsertComputed(auctionId, () => ({ auctions: 0, all: 0 }))
      link.auctions += 1
      link.all += perClick
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
  /** By auction id. */
  readonly links: Map<string, { auctions: number; all: number }>
}

/** As many as somebody looks at; the most costly first. */
const LINKS_SHOWN = 10

const nothingMissed = (): Missed => ({
  ...{ auctions: 0, clicks: 0, missed: 0, all: 0 },
  ...{ dearest: -1, example: Buffer.alloc(0), links: new Map() },
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
    links: [...sums.links]
      .map(([auction_id, { auctions, all }]) => {
        return { auction_id, auctions, missed_if_clicked_micros: Math.round(all) }
      })
      .sort(byLoss)
      .slice(0, LINKS_SHOWN),
  }
}

function byLoss(one: NoFillReason['links'][number], other: typeof one): number {
  return (
    other.missed_if_clicked_micros - one.missed_if_clicked_micros ||
    other.auctions - one.auctions ||
    one.auction_id.localeCompare(other.auction_id)
  )
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
  const waived = WAIVERS[lossName(code)](auction)
  const set = { ...auction.set, ...waived.set }
  const request = { ...auction.request, ...waived.request }
  return earningsPerClick(set, request, rerun({ ...auction, set, request }))
}

/** The fields of an auction in which every candidate passes a check. */
interface Waived {
  readonly set?: Partial<CandidateSet>
  readonly request?: Partial<AuctionRequest>
}

/** How each check is waived. */
const WAIVERS: Readonly<Record<LossName, (auction: StoredAuction) => Waived>> = {
  none: () => ({}),
  noCandidates: () => ({}), // Nothing to waive without candidates.
  inactive: ({ set }) => ({ set: withoutLiveState(set, LIVE.inactive) }),
  outOfFlight: ({ set }) => ({ set: withoutLiveState(set, LIVE.outOfFlight) }),
  staleFeed: ({ set }) => ({ set: withoutLiveState(set, LIVE.staleFeed) }),
  outOfStock: ({ set }) => ({ set: { isInStock: set.isInStock.map(() => 1) } }),
  device: ({ set }) => ({ set: { deviceMask: set.deviceMask.map(() => ANY_DEVICE) } }),
  country: ({ set }) => ({ set: { countries: set.countries.map(() => null) } }),
  blocked: ({ set, request }) => ({
    set: { publishers: set.publishers.map(() => null) },
    request: ofPublisher(request, { merchants: null }),
  }),
  exclusive: () => ({ request: { isExclusive: false } }),
  confidence: ({ set }) => ({
    set: { confidencePpm: set.confidencePpm.map((ppm) => Math.max(ppm, CONFIDENCE_MIN_PPM)) },
  }),
  // Priced at the highest acceptable price.
  price: ({ set, request }) => ({
    set: { price: set.price.map((price) => Math.min(price, priceMax(set, request))) },
    request: ofPublisher(request, { isPriceRequired: false }),
  }),
  paced: ({ set: { state } }) => ({
    set: {
      state: { ...state, ptr: state.ptr.map(() => 1), paceFactor: state.paceFactor.map(() => 1) },
    },
  }),
  unfunded: ({ set: { state } }) => ({
    set: { state: { ...state, budgetOk: state.budgetOk.map(() => 1) } },
  }),
  // The platform's own floor stays.
  belowFloor: ({ set, request }) => ({
    set: { floors: set.floors.map(() => null) },
    request: ofPublisher(request, { floorMicros: 0 }),
  }),
  outbid: () => ({}), // Somebody won.
}

function withoutLiveState({ state }: CandidateSet, liveState: number): Partial<CandidateSet> {
  return {
    state: { ...state, live: state.live.map((live) => (live === liveState ? LIVE.live : live)) },
  }
}

const ofPublisher = (
  { publisher }: AuctionRequest,
  changed: Partial<AuctionRequest['publisher']>,
): Partial<AuctionRequest> => ({ publisher: { ...publisher, ...changed } })
