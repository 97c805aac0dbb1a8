/** Waits for the fold, so that a call can show the effect of its event. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogEvent } from '../events/event.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { areFolded } from './lane-store.ts'

const POLL_MS = 50

/** Waits until the worker has folded these events of the money lane. False on timeout. */
export async function untilFolded(
  db: Db,
  events: readonly LogEvent[],
  { patienceMs }: { readonly patienceMs: number },
): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += POLL_MS) {
    if (await areFolded(db, events)) return true
    await sleep(POLL_MS)
  }
  return areFolded(db, events)
}
