/**
 * The state of campaigns that changes between market snapshots: active, funded, paced.
 *
 * Shared arrays by a campaign's dense index. A candidate set holds indexes, not copies: a clock
 * tick, a spent lease or a pacing step writes one cell, and every cached set sees it at its next
 * auction. A set keeps the state it was built with, so an index never meets another snapshot.
 */
import { FEED_AGE_MAX_MS } from '../catalog/merchant.ts'

/** Values of `live`; the numbers are stored in receipts. */
export const LIVE = { inactive: 0, live: 1, outOfFlight: 2, staleFeed: 3 } as const

export interface CampaignState {
  /** A LIVE value; `refreshLive` writes it at least once a second. */
  readonly live: Uint8Array
  /** 1 while another win can be paid; written by the lease book (docs/spec/budgets.md). */
  readonly budgetOk: Uint8Array
  /** The part of its bid that pacing leaves, 0 to 1. Float32: a receipt stores it exactly. */
  readonly paceFactor: Float32Array
  /** Receipts of rule version 1: the share of auctions that a pacing coin let through. Else 1. */
  readonly ptr: Float32Array
  /** A ROAS goal's multiplier of the bid's ceiling, 0.2 to 5; 1 without a goal. */
  readonly roasFactor: Float32Array
}

/** No campaign is active until `refreshLive`; all are funded and bid in full. */
export function createCampaignState(campaigns: number): CampaignState {
  return {
    live: new Uint8Array(campaigns),
    budgetOk: new Uint8Array(campaigns).fill(1),
    paceFactor: new Float32Array(campaigns).fill(1),
    ptr: new Float32Array(campaigns).fill(1),
    roasFactor: new Float32Array(campaigns).fill(1),
  }
}

/** When a campaign may run. */
export interface CampaignFlight {
  readonly index: number
  readonly isActive: boolean
  readonly startsAtMs: number | null // The flight is half open: [start, end).
  readonly endsAtMs: number | null
  /** Null if this merchant never had a feed; its links then compete without a price. */
  readonly feedImportedAtMs: number | null
}

/** Updates `live`. */
export function refreshLive(
  state: CampaignState,
  flights: Iterable<CampaignFlight>,
  nowMs: number,
): void {
  for (const flight of flights) state.live[flight.index] = liveAt(flight, nowMs)
}

export function liveAt(flight: CampaignFlight, nowMs: number): number {
  const { isActive, startsAtMs, endsAtMs, feedImportedAtMs } = flight
  if (!isActive) return LIVE.inactive
  if (startsAtMs !== null && nowMs < startsAtMs) return LIVE.outOfFlight
  if (endsAtMs !== null && nowMs >= endsAtMs) return LIVE.outOfFlight
  const isStale = feedImportedAtMs !== null && nowMs - feedImportedAtMs > FEED_AGE_MAX_MS
  return isStale ? LIVE.staleFeed : LIVE.live
}
