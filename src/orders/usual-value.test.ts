import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { sql } from '../platform/postgres/sql.ts'
import { UsualValues } from './usual-value.ts'

const NOW = new Date('2026-03-02T12:00:00Z')
const db = await testDatabase()
const world = await makePublisherWorld(db)
const merchId = world.merchant.merch_id

/** The limit for browsers' orders of the merchant with these orders, in dollars. */
async function limitAfter(
  orders: readonly {
    dollars: number
    count: number
    daysAgo?: number
    hold?: string
    source?: 's2s' | 'import' | 'pixel'
  }[],
): Promise<number> {
  await db.run(sql`truncate merchant_order`)
  for (const [at, order] of orders.entries()) {
    const { dollars, count, daysAgo = 0, hold = null, source = 's2s' } = order
    await db.run(sql`
      insert into merchant_order (merch_id, order_id, account, is_posted, accepted_at, hold, source,
        revenue_micros)
      select ${merchId}, ${`${at} `} || number, '{}', false,
        ${NOW}::timestamptz - make_interval(days => ${daysAgo}), ${hold}, ${source},
        ${dollars * 1_000_000}
      from generate_series(1, ${count}) as number`)
  }
  return (await new UsualValues(db).limitOf(merchId, NOW)) / 1_000_000
}

test('from twenty orders on, a browser’s order may be three times a merchant’s usual value', async () => {
  assert.equal(await limitAfter([]), 10_000)
  assert.equal(await limitAfter([{ dollars: 100, count: 19 }]), 10_000)
  assert.equal(await limitAfter([{ dollars: 100, count: 20 }]), 300)
})

test('one order in a thousand may be far off the usual value', async () => {
  const usual = { dollars: 100, count: 999 }
  assert.equal(await limitAfter([usual, { dollars: 9_000, count: 1 }]), 300)
  assert.equal(await limitAfter([usual, { dollars: 9_000, count: 2 }]), 27_000)
})

test('orders that count in the last 90 days define the usual value', async () => {
  const others = [
    { dollars: 9_000, count: 50, daysAgo: 90 },
    { dollars: 9_000, count: 50, hold: 'review' },
  ]
  assert.equal(await limitAfter([...others, { dollars: 100, count: 20, daysAgo: 89 }]), 300)
})

test('browsers’ orders lower the limit to a thousand dollars at most, and never raise it', async () => {
  const unconfirmed = (dollars: number) => ({ dollars, count: 20, source: 'pixel' }) as const
  assert.equal(await limitAfter([unconfirmed(700)]), 2_100)
  for (const dollars of [0, 0.01, 100])
    assert.equal(await limitAfter([unconfirmed(dollars)]), 1_000)
  assert.equal(await limitAfter([unconfirmed(9_000)]), 10_000)
  const confirmed = { dollars: 100, count: 19 }
  assert.equal(await limitAfter([unconfirmed(9_000), confirmed]), 10_000)
  // Once the merchant's server has reported enough, browsers' orders do not count.
  for (const source of ['s2s', 'import'] as const) {
    assert.equal(await limitAfter([unconfirmed(9_000), { dollars: 100, count: 20, source }]), 300)
    assert.equal(await limitAfter([unconfirmed(1), { dollars: 9_000, count: 20, source }]), 27_000)
  }
})
