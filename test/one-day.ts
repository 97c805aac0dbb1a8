/** For tests that ask for the figures of the day they run on: it must not end meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '../src/platform/timestamp.ts'

/** So long one file takes at most, on a busy machine. */
const FILE_MS = 120_000
/** What the database's clock may be behind. */
const LATE_MS = 1_000

/** Resolves at once, but at the end of a day (UTC) when the next one has begun. */
export async function withinOneDay(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS)
  if (leftMs < FILE_MS) await sleep(leftMs + LATE_MS)
}
