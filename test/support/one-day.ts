/** For tests that read the figures of the current day: the day must not end meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '../../src/platform/time/timestamp.ts'

/** The longest time of one file, on a busy machine. */
const FILE_MS = 120_000
/** How far the database's clock may be behind. */
const LATE_MS = 1_000

/** Resolves at once; near the end of a UTC day, resolves when the next one has started. */
export async function withinOneDay(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS)
  if (leftMs < FILE_MS) await sleep(leftMs + LATE_MS)
}
