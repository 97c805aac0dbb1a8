/** When a schedule runs next. */
import { Cron } from 'croner'

/**
 * The next minute after `at` that matches this cron pattern, in UTC. Null if none ever does.
 */
export function nextRun(cron: string, at: Date): Date | null {
  return new Cron(cron, { timezone: 'UTC', paused: true }).nextRun(at)
}
