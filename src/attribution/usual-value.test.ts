import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { makePublisherWorld } from '../../test/publisher-world.ts'
import { sql } from '../platform/sql.ts'
import { UsualValues } from './usual-value.ts'

const NOW = new Date('2026-03-02T12:00:00Z')
const db = await testDatabase()
const world = await makePublisherWorld(db)
const merchId = world.merchant.merch_id

/** What a browser may say of the merchant whose orders these are, in dollars. */
async function limitAfter(
  orders: readonly { dollars: number; count: number; daysAgo?: number; hold?: string }[],
): Promise<number> {
  await db.run(sql`truncate merchant_order`)
  for (const [at, { dollars, count, daysAgo = 0, hold = null }] of orders.entries()) {
    await db.run(sql`
      insert into merchant_order (merch_id, order_id, told, is_posted, accepted_at, hold,
        revenue_micros)
      select ${merchId}, ${`${at} `} || number, '{}', false,
        ${NOW}::timestamptz - make_interval(days => ${daysAgo}), ${hold}, ${dollars * 1_000_000}
      from generate_series(1, ${count}) as number`)
  }
  return (await new UsualValues(db).limitOf(merchId, NOW)) / 1_000_000
}

test('from twenty orders on, three times a merchant’s usual is the most that is believed', async () => {
  assert.equal(await limitAfter([]), 10_000)
  assert.equal(await limitAfter([{ dollars: 100, count: 19 }]), 10_000)
  assert.equal(await limitAfter([{ dollars: 100, count: 20 }]), 300)
})

test('one order in a thousand may be far off the usual', async () => {
  const usual = { dollars: 100, count: 999 }
  assert.equal(await limitAfter([usual, { dollars: 9_000, count: 1 }]), 300)
  assert.equal(await limitAfter([usual, { dollars: 9_000, count: 2 }]), 27_000)
})

test('what is usual is told by orders that count, of the last 90 days', async () => {
  const others = [
    { dollars: 9_000, count: 50, daysAgo: 90 },
    { dollars: 9_000, count: 50, hold: 'review' },
  ]
  assert.equal(await limitAfter([...others, { dollars: 100, count: 20, daysAgo: 89 }]), 300)
})
