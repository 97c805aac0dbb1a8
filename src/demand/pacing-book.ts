/**
 * The pass-through rates of all campaigns on this node, brought up to date once a minute.
 *
 * Every node computes them for itself from the same figures (what the log has settled of the day's
 * budget, the traffic curve), so nodes need not talk to each other. Only CPC campaigns with a daily
 * budget are paced; a total budget says nothing about when it is to be spent (economics 2.4).
 */
import { utcDay } from '../platform/timestamp.ts'
import type { GrantedLease } from './lease-store.ts'
import { newPacer, PACING_INTERVAL_MS, type Pacer, stepPacer } from './pacing.ts'
import { type HoursOfWeek, shareOfDay } from './traffic-curve.ts'

export interface PacedCampaign {
  readonly campaignId: number
  readonly index: number // its place in the shared output
  readonly dailyBudgetMicros: number | null // null: not paced
  readonly priceMaxMicros: number
  readonly shape: HoursOfWeek
}

interface Entry {
  campaign: PacedCampaign
  pacer: Pacer | null // null until first measured
  spentDay: string
  spentMicros: number
}

export class PacingBook {
  #entries = new Map<number, Entry>()
  #ptr: Float32Array = new Float32Array(0)
  #steppedAtMs = Number.NEGATIVE_INFINITY

  /** Takes over a snapshot of campaigns; from here on `ptr[index]` is theirs. */
  setCampaigns(campaigns: readonly PacedCampaign[], ptr: Float32Array): void {
    const before = this.#entries
    this.#entries = new Map()
    this.#ptr = ptr
    for (const campaign of campaigns) {
      const known = before.get(campaign.campaignId)
      const entry = known ?? { campaign, pacer: null, spentDay: '', spentMicros: 0 }
      entry.campaign = campaign
      if (campaign.dailyBudgetMicros === null) entry.pacer = null
      this.#entries.set(campaign.campaignId, entry)
      ptr[campaign.index] = entry.pacer?.ptr ?? 1
    }
  }

  /** Notes what the database said was spent of today's budgets, by all nodes. */
  noteSpent(grants: readonly GrantedLease[], nowMs: number): void {
    const today = utcDay(new Date(nowMs))
    for (const { campaignId, day, daySettledMicros } of grants) {
      const entry = this.#entries.get(campaignId)
      // Around midnight the neighbouring days answer as well.
      if (entry === undefined || day !== today) continue
      entry.spentDay = day
      entry.spentMicros = daySettledMicros
    }
  }

  /** To be called at least every few seconds; does its work once a minute. */
  step(nowMs: number): void {
    // A clock set back must not stop pacing until it has caught up.
    if (Math.abs(nowMs - this.#steppedAtMs) < PACING_INTERVAL_MS) return
    this.#steppedAtMs = nowMs
    const today = utcDay(new Date(nowMs))
    for (const entry of this.#entries.values()) {
      const { index, dailyBudgetMicros, priceMaxMicros, shape } = entry.campaign
      if (dailyBudgetMicros === null) continue
      const measure = {
        budgetMicros: dailyBudgetMicros,
        spentMicros: entry.spentDay === today ? entry.spentMicros : 0,
        share: shareOfDay(shape, nowMs),
        priceMaxMicros,
      }
      entry.pacer = entry.pacer === null ? newPacer(measure) : stepPacer(entry.pacer, measure)
      this.#ptr[index] = entry.pacer.ptr
    }
  }
}
