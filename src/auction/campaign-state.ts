/**
 * What changes about campaigns between two snapshots of the market: may they run, are they funded,
 * how often do they pass.
 *
 * Shared arrays by a campaign's dense index. A candidate set holds indexes, not copies: a tick of
 * the clock, a spent lease or a pacing step writes one cell, and every cached set sees it at its
 * next auction. A set keeps the state it was built with, so an index never meets another snapshot.
 */
import { FEED_AGE_MAX_MS } from '../catalog/merchant.ts'

/** `live` of a campaign; numbers are stored in receipts. */
export const LIVE = { inactive: 0, live: 1, outOfFlight: 2, staleFeed: 3 } as const

export interface CampaignState {
  /** LIVE; written by `refreshLive`, at least once a second. */
  readonly live: Uint8Array
  /** 1 while a lease can fund another win; written by the lease book (economics 2.3). */
  readonly budgetOk: Uint8Array
  /** Pass-through rate of pacing, 0 to 1 (economics 2.4). Float32: a receipt stores it exactly. */
  readonly ptr: Float32Array
  /** What a ROAS goal leaves of the bid's ceiling, 0.2 to 1 (economics 2.4); 1 without a goal. */
  readonly roasFactor: Float32Array
}

/** Nobody runs until `refreshLive`, everybody is funded and passes. */
export function createCampaignState(campaigns: number): CampaignState {
  return {
    live: new Uint8Array(campaigns),
    budgetOk: new Uint8Array(campaigns).fill(1),
    ptr: new Float32Array(campaigns).fill(1),
    roasFactor: new Float32Array(campaigns).fill(1),
  }
}

/** When a campaign may run. */
export interface CampaignFlight {
  readonly index: number
  readonly isActive: boolean
  readonly startsAtMs: number | null // the flight is half open: [start, end)
  readonly endsAtMs: number | null
  /** Null: this merchant never had a feed; its links compete without a price. */
  readonly feedImportedAtMs: number | null
}

/** Brings `live` up to date. */
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
