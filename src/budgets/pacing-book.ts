/**
 * The bid factors of each campaign on this node: pacing, updated once a minute, and the ROAS goal.
 * The auction uses the lower one, because two brakes in sequence would slow a campaign twice for
 * one cause (Balseiro et al., ICML 2024).
 *
 * Every node computes the factors from the same figures (the day's settled spending, the traffic
 * curve), so nodes need not communicate. Only CPC campaigns with a daily budget are paced; a total
 * budget implies no schedule: docs/spec/budgets.md#pacing.
 */
import type { Db } from '../platform/postgres/postgres.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import type { GrantedLease } from './lease-store.ts'
import { newPacer, PACING_INTERVAL_MS, type Pacer, stepPacer } from './pacing.ts'
import { loadRoasMultipliers } from './roas-store.ts'
import { campaignShape, type HoursOfWeek, shareOfDay } from './traffic-curve.ts'
import { loadTraffic } from './traffic-store.ts'

export interface PacedCampaign {
  readonly campaignId: number
  readonly index: number // its index in the shared outputs
  readonly dailyBudgetMicros: number | null // null: not paced
  readonly priceMaxMicros: number
  readonly hasRoasGoal: boolean
  /** Null: it may appear with every publisher. */
  readonly isAllowed: ((pubId: number) => boolean) | null
}

/** Shared arrays by a campaign's index; the auction reads them. */
export interface BrakeOutputs {
  readonly paceFactor: Float32Array // pacing's factor of the bid
  readonly roasFactor: Float32Array // the multiplier of the goal's ceiling
}

interface Entry {
  campaign: PacedCampaign
  pacer: Pacer | null // null until first measured
  shape: HoursOfWeek | null // of the measured day
  spentDay: string
  spentMicros: number
}

export class PacingBook {
  #entries = new Map<number, Entry>()
  #outputs: BrakeOutputs = { paceFactor: new Float32Array(0), roasFactor: new Float32Array(0) }
  #steppedAtMs = Number.NEGATIVE_INFINITY
  #steppedDay = ''
  #traffic: ReadonlyMap<number, HoursOfWeek> = new Map()
  #multipliers: ReadonlyMap<number, number> = new Map()

  /** Reads the results of the workers; to be called every minute or so. */
  async refresh(db: Db): Promise<void> {
    this.take({ traffic: await loadTraffic(db), multipliers: await loadRoasMultipliers(db) })
  }

  take(learned: {
    readonly traffic: ReadonlyMap<number, HoursOfWeek>
    readonly multipliers: ReadonlyMap<number, number>
  }): void {
    this.#traffic = learned.traffic
    this.#multipliers = learned.multipliers
    for (const entry of this.#entries.values()) this.#publish(entry)
  }

  /**
   * Replaces the snapshot of campaigns; keeps their entries in `outputs` up to date from now on.
   */
  setCampaigns(campaigns: readonly PacedCampaign[], outputs: BrakeOutputs): void {
    const before = this.#entries
    this.#entries = new Map()
    this.#outputs = outputs
    for (const campaign of campaigns) {
      const known = before.get(campaign.campaignId)
      const isPaced = campaign.dailyBudgetMicros !== null
      const entry: Entry = {
        campaign,
        pacer: isPaced ? (known?.pacer ?? null) : null,
        shape: isPaced ? (known?.shape ?? null) : null,
        spentDay: known?.spentDay ?? '',
        spentMicros: known?.spentMicros ?? 0,
      }
      this.#entries.set(campaign.campaignId, entry)
      this.#publish(entry)
    }
  }

  /** Records the database's figure of today's spending, by all nodes. */
  noteSpent(grants: readonly GrantedLease[], nowMs: number): void {
    const today = utcDay(nowMs)
    for (const { campaignId, day, daySettledMicros } of grants) {
      const entry = this.#entries.get(campaignId)
      // Around midnight the neighbouring days answer as well.
      if (entry === undefined || day !== today) continue
      entry.spentDay = day
      entry.spentMicros = daySettledMicros
    }
  }

  /** To be called at least every few seconds; works once a minute. */
  step(nowMs: number): void {
    // A clock that was set back must not stop pacing until it has caught up.
    if (Math.abs(nowMs - this.#steppedAtMs) < PACING_INTERVAL_MS) return
    const today = utcDay(nowMs)
    if (today !== this.#steppedDay) for (const entry of this.#entries.values()) entry.shape = null
    this.#steppedAtMs = nowMs
    this.#steppedDay = today
    const shapeOf = this.#shaper()
    for (const entry of this.#entries.values()) {
      const { dailyBudgetMicros, priceMaxMicros } = entry.campaign
      if (dailyBudgetMicros === null) continue
      // A day keeps the curve it started with: a new curve would put the campaign ahead or behind
      // at once, and hold back spending that was right until then.
      entry.shape ??= shapeOf(entry.campaign)
      const measure = {
        budgetMicros: dailyBudgetMicros,
        spentMicros: entry.spentDay === today ? entry.spentMicros : 0,
        share: shareOfDay(entry.shape, nowMs),
        priceMaxMicros,
      }
      entry.pacer = entry.pacer === null ? newPacer(measure) : stepPacer(entry.pacer, measure)
      this.#publish(entry)
    }
  }

  #publish({ campaign, pacer }: Entry): void {
    const { campaignId, index, hasRoasGoal } = campaign
    this.#outputs.paceFactor[index] = pacer?.factor ?? 1
    this.#outputs.roasFactor[index] = hasRoasGoal ? (this.#multipliers.get(campaignId) ?? 1) : 1
  }

  /** Most campaigns may appear everywhere and share one curve. */
  #shaper(): (campaign: PacedCampaign) => HoursOfWeek {
    const network = campaignShape(this.#traffic, () => true)
    return ({ isAllowed }) =>
      isAllowed === null ? network : campaignShape(this.#traffic, isAllowed)
  }
}
