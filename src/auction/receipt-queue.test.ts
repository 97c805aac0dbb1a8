import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testDatabase } from '../../test/support/database.ts'
import type { Database, ReservedDb } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { type Receipt, ReceiptQueue } from './receipt-queue.ts'

const db = await testDatabase()

const receipt = (): Receipt => ({
  resultNumber: randomBytes(16),
  atMs: Date.now(),
  pubId: 1,
  auctionId: '9007199254740993',
  merchId: 0,
  packed: Buffer.from('packed'),
})

async function untilStored(receipts: readonly Receipt[]): Promise<void> {
  const stored = () =>
    db.rows(sql`
      select from receipt
      where result_number = any(${receipts.map(({ resultNumber }) => resultNumber)}::bytea[])`)
  while ((await stored()).length < receipts.length) await sleep(10)
}

/** The database; its connections break once, as `breakAt` says. */
function breaking(breakAt: 'before' | 'after'): Pick<Database, 'reserve'> {
  let isBroken = false
  const cut = () => {
    isBroken = true
    throw new Error('Connection terminated unexpectedly')
  }
  return {
    reserve: async (): Promise<ReservedDb> => {
      const reserved = await db.reserve()
      return {
        ...reserved,
        transaction: async (work) => {
          if (!isBroken && breakAt === 'before') cut()
          const result = await reserved.transaction(work)
          return isBroken ? result : cut()
        },
      }
    },
  }
}

for (const breakAt of ['before', 'after'] as const) {
  test(`a connection that breaks ${breakAt} a commit loses no receipt and blocks none`, async () => {
    const errors: unknown[] = []
    const queue = new ReceiptQueue({
      db: breaking(breakAt),
      onDropped: (count) => assert.fail(`${count} dropped`),
      onError: (error) => errors.push(error),
    })
    const receipts = [receipt(), receipt()]
    for (const one of receipts) queue.push(one)
    while (errors.length === 0) await sleep(10)
    const later = receipt()
    queue.push(later)
    await untilStored([...receipts, later])
    await queue.close()
    assert.equal(errors.length, 1)
  })
}

test('queued receipts are written on close', async () => {
  const queue = new ReceiptQueue({
    db,
    onDropped: (count) => assert.fail(`${count} dropped`),
    onError: (error) => assert.fail(String(error)),
  })
  const receipts = Array.from({ length: 600 }, receipt)
  for (const one of receipts) queue.push(one)
  await queue.close()
  await untilStored(receipts)
})
