/** The night's check of how much each publisher explores. */
import { listPublishers, setExploration, takeExploredDay } from '../accounts/publisher-store.ts'
import type { Db } from '../platform/postgres.ts'
import { DAY_MS, utcDay } from '../platform/timestamp.ts'
import { unpackReceipt } from './receipt.ts'
import { receiptsOfPublisher } from './receipt-store.ts'
import { ExploringDay, nextEpsilonPpm } from './regret.ts'

/**
 * What exploring cost each publisher yesterday sets how much it explores today (economics 1.4). Of
 * all or of none, and once: a job that ends halfway is done again, and so may one that was done.
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
