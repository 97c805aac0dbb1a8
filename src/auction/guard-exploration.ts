/** The nightly adjustment of how much each publisher explores. */
import { listPublishers, setExploration, takeExploredDay } from '../accounts/publisher-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import { unpackReceipt } from './receipt.ts'
import { receiptsOfPublisher } from './receipt-store.ts'
import { ExploringDay, nextEpsilonPpm } from './regret.ts'

/**
 * Yesterday's cost of exploring sets today's share. For all publishers or none, and once: an
 * interrupted job runs again, and so may a finished one.
 */
export async function guardExploration(db: Db, nowMs: number): Promise<void> {
  const day = utcDay(nowMs - DAY_MS)
  const changes: Parameters<typeof setExploration>[1][] = []
  for (const { pub_id: pubId, epsilon_ppm: beforePpm } of await listPublishers(db, { uid: null })) {
    const cost = new ExploringDay()
    for await (const receipts of receiptsOfPublisher(db, { pubId, day })) {
      for (const { packed } of receipts) cost.add(unpackReceipt(packed))
    }
    const epsilonPpm = nextEpsilonPpm(beforePpm, cost)
    if (epsilonPpm !== beforePpm) changes.push({ pubId, beforePpm, epsilonPpm })
  }
  await db.transaction(async (tx) => {
    if (!(await takeExploredDay(tx, day))) return
    for (const change of changes) await setExploration(tx, change)
  })
}
