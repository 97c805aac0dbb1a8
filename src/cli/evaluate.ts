/** `souk evaluate`: how good the predictions were on the service's own log. */

import { calibrationPlot } from '../evaluation/calibration-plot.ts'
import { findFirstClick, loadCohorts } from '../evaluation/cohort-store.ts'
import { evaluate } from '../evaluation/evaluate.ts'
import type { Metrics } from '../evaluation/metrics.ts'
import { replaceText } from '../platform/files/atomic-file.ts'
import { DAY_MS, HOUR_MS, utcDay } from '../platform/time/timestamp.ts'
import { UNFITTED_MODEL } from '../prediction/prediction-model.ts'
import type { CommandContext } from './command.ts'
import { requireDaysInOrder } from './day-range.ts'

/** The default range. */
const DAYS_DEFAULT = 28
/** Older data hardly counts, see evidence.ts. */
const TEACHING_DAYS = 100
/** A younger log is evaluated by hour; by day it would have almost nothing to show. */
const DAILY_FROM_DAYS = 14

interface EvaluateOptions {
  readonly from?: string
  readonly to?: string
  readonly plot?: string
}

/**
 * Both days are included. Each day (each hour of a young log) is predicted from the data before it.
 */
export async function evaluateCommand(
  context: Pick<CommandContext, 'database' | 'now'>,
  options: EvaluateOptions,
) {
  const db = await context.database()
  const nowMs = context.now().getTime()
  const to = options.to ?? utcDay(nowMs)
  const toMs = Date.parse(to) + DAY_MS
  const from = options.from ?? utcDay(toMs - DAYS_DEFAULT * DAY_MS)
  const fromMs = Date.parse(from)
  requireDaysInOrder({ from, to })
  const firstMs = (await findFirstClick(db)) ?? nowMs
  const slotMs = toMs - firstMs >= DAILY_FROM_DAYS * DAY_MS ? DAY_MS : HOUR_MS
  const teachingMs = Math.max(firstMs, fromMs - TEACHING_DAYS * DAY_MS)
  const cohorts = await loadCohorts(db, { fromMs: teachingMs, toMs, slotMs })
  const evaluation = evaluate(cohorts, {
    slotMs,
    fromSlot: Math.floor(fromMs / slotMs),
    toSlot: Math.floor(toMs / slotMs),
    model: UNFITTED_MODEL,
    refitSlots: DAY_MS / slotMs,
    knownUntilMs: Math.min(nowMs, toMs),
  })
  if (options.plot !== undefined) await replaceText(options.plot, calibrationPlot(evaluation))
  const { clicks, orders, pairSlots, methods, bins } = evaluation
  return {
    from,
    to,
    slot: slotMs === DAY_MS ? 'day' : 'hour',
    clicks,
    orders,
    pair_slots: pairSlots,
    note: methods === null ? 'Without a click and an order there is nothing to measure.' : null,
    ours: methods === null ? null : toRecord(methods.ours),
    baselines:
      methods === null
        ? null
        : {
            global_mean: toRecord(methods.global),
            merchant_mean: toRecord(methods.merchant),
            pair_7_days: toRecord(methods.pair7d),
          },
    bins,
    plot: options.plot ?? null,
  }
}

function toRecord(metrics: Metrics) {
  return {
    log_loss: metrics.logLoss,
    normalised_entropy: metrics.normalisedEntropy,
    calibration: metrics.calibration,
    calibration_error: metrics.calibrationError,
    ...Object.fromEntries(
      metrics.calibrationByAge.map(({ fromClicks, calibration }) => [
        `calibration_from_${fromClicks}_clicks`,
        calibration,
      ]),
    ),
    weighted_error: metrics.weightedError,
    coverage: metrics.coverage,
    coverage_cohorts: metrics.cohorts,
  }
}
