/**
 * Receipts are written in the background, so a recent one may still be in the queue. A request for
 * it waits instead of reporting that there is none.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../platform/postgres/postgres.ts'
import { findReceipt } from './receipt-store.ts'

const TRIES = 8
const TRY_MS = 250

/** The receipt of a result; null if none appears within two seconds. */
export async function awaitReceipt(db: Db, resultNumber: Buffer): Promise<Buffer | null> {
  for (let tried = 1; ; tried += 1) {
    const packed = await findReceipt(db, resultNumber)
    if (packed !== null || tried === TRIES) return packed
    await sleep(TRY_MS)
  }
}
