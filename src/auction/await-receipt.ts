/**
 * Receipts are written in the background: one of this very second may still be on its way. Who asks
 * for it at once waits for it, rather than being told that there is none.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../platform/postgres.ts'
import { findReceipt } from './receipt-store.ts'

const TRIES = 8
const TRY_MS = 250

/** The receipt of a result; null when none has come within two seconds. */
export async function awaitReceipt(db: Db, resultNumber: Buffer): Promise<Buffer | null> {
  for (let tried = 1; ; tried += 1) {
    const packed = await findReceipt(db, resultNumber)
    if (packed !== null || tried === TRIES) return packed
    await sleep(TRY_MS)
  }
}
