/**
 * The part of a day's traffic that has come by a given time: the curve that pacing spends along.
 *
 * Learned per hour of the week (UTC) from the clicks of all campaigns at the publishers that a
 * campaign may appear with: its own clicks would show its throttling, not its traffic. A publisher
 * with few clicks is shrunk to the network's shape (empirical Bayes), and that to a flat day.
 */
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'

export const HOURS_PER_WEEK = 168
const HOURS_PER_DAY = 24
/** 1 January 1970 was a Thursday; hours of the week count from Monday, 00:00 UTC. */
const EPOCH_WEEKDAY = 3
/** Clicks that the wider shape is worth: about a week of a small publisher. */
const PRIOR_CLICKS = 500

/** Clicks, or weights, by hour of the week. */
export type HoursOfWeek = Float64Array

/** The hour of the week of an instant, 0 (Monday 00:00 UTC) to 167. */
export function hourOfWeek(nowMs: number): number {
  const hours = Math.floor(nowMs / HOUR_MS) + EPOCH_WEEKDAY * HOURS_PER_DAY
  return hours % HOURS_PER_WEEK
}

/** Shrinks own counts to a wider shape; every hour keeps some weight, so every day has a curve. */
export function shrinkShape(own: HoursOfWeek, wider: HoursOfWeek | null): HoursOfWeek {
  const total = wider?.reduce((sum, count) => sum + count, 0) ?? 0
  return own.map((count, hour) => {
    const shape = total > 0 ? (wider?.[hour] ?? 0) / total : 1 / HOURS_PER_WEEK
    return count + PRIOR_CLICKS * shape
  })
}

/** F(t): the part of its UTC day's traffic expected before `nowMs`, 0..1. */
export function shareOfDay(shape: HoursOfWeek, nowMs: number): number {
  const hourOfDay = Math.floor((nowMs % DAY_MS) / HOUR_MS)
  const midnight = hourOfWeek(nowMs) - hourOfDay
  let before = 0
  let total = 0
  for (let hour = 0; hour < HOURS_PER_DAY; hour++) {
    const weight = shape[midnight + hour] ?? 0
    total += weight
    if (hour < hourOfDay) before += weight
    else if (hour === hourOfDay) before += weight * ((nowMs % HOUR_MS) / HOUR_MS)
  }
  return total > 0 ? before / total : (nowMs % DAY_MS) / DAY_MS
}

/** The shape of a campaign's traffic: that of the publishers it may appear with. */
export function campaignShape(
  publishers: ReadonlyMap<number, HoursOfWeek>,
  isAllowed: (pubId: number) => boolean,
): HoursOfWeek {
  const network = new Float64Array(HOURS_PER_WEEK)
  const own = new Float64Array(HOURS_PER_WEEK)
  for (const [pubId, hours] of publishers) {
    const counts = isAllowed(pubId)
    for (let hour = 0; hour < HOURS_PER_WEEK; hour++) {
      const clicks = hours[hour] ?? 0
      network[hour] = (network[hour] ?? 0) + clicks
      if (counts) own[hour] = (own[hour] ?? 0) + clicks
    }
  }
  return shrinkShape(own, shrinkShape(network, null))
}
