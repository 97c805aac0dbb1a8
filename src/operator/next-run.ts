/** When a schedule runs next. */
import { parseCronItems } from 'graphile-worker'

const MINUTE_MS = 60_000
/** Every schedule runs at least once a day. */
const MINUTES_MAX = 2 * 24 * 60

/** The next minute after `nowMs` at which this cron pattern runs, in UTC; null if none is near. */
export function nextRun(cron: string, nowMs: number): Date | null {
  const [item] = parseCronItems([{ task: 'next', match: cron }])
  const firstMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS
  for (let at = 1; at <= MINUTES_MAX; at += 1) {
    const time = new Date(firstMs + at * MINUTE_MS)
    const isDue = item?.match({
      min: time.getUTCMinutes(),
      hour: time.getUTCHours(),
      date: time.getUTCDate(),
      month: time.getUTCMonth() + 1,
      dow: time.getUTCDay(),
    })
    if (isDue) return time
  }
  return null
}
