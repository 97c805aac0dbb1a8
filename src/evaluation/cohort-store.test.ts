import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addClicks, addOrder, makeCampaign } from '../../test/support/campaign-clicks.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { findFirstClick, loadCohorts } from './cohort-store.ts'

const NOON = Date.parse('2026-04-13T12:00:00Z') // a Monday

test('cohorts contain each pair’s clicks by slot, with their orders', async (t) => {
  const db = await makeCampaign(t)
  assert.equal(await findFirstClick(db), null)
  await addClicks(db, 3, { atMs: NOON - 2 * DAY_MS })
  await addClicks(db, 4, { atMs: NOON - DAY_MS, pubId: 2 })
  await addOrder(db, 'one', { sold: 10e6, kept: 10e6 })
  await db.run(sql`update merchant_order set accepted_at = ${new Date(NOON - DAY_MS)}`)
  assert.equal(await findFirstClick(db), NOON - 2 * DAY_MS)
  const range = { fromMs: NOON - 10 * DAY_MS, toMs: NOON, slotMs: DAY_MS }
  const slotOf = (ms: number) => Math.floor(ms / DAY_MS)
  const cohorts = await loadCohorts(db, range)
  assert.deepEqual(
    cohorts.toSorted((left, right) => left.slot - right.slot),
    [
      {
        ...{ pubId: 1, merchId: 1, slot: slotOf(NOON - 2 * DAY_MS), clicks: 3 },
        orders: [{ slot: slotOf(NOON - DAY_MS), count: 1 }],
      },
      { pubId: 2, merchId: 1, slot: slotOf(NOON - DAY_MS), clicks: 4, orders: [] },
    ],
  )
  // Excludes orders that were unknown at the end of the range.
  const [first] = await loadCohorts(db, { ...range, toMs: NOON - 1.5 * DAY_MS })
  assert.deepEqual(first?.orders, [])
  for (const [gone, back] of [
    [sql`hold = 'review'`, sql`hold = null`],
    [sql`rejected_at = accepted_at`, sql`rejected_at = null`],
  ] as const) {
    await db.run(sql`update merchant_order set ${gone}`)
    const cohorts = await loadCohorts(db, range)
    assert.deepEqual(
      cohorts.flatMap(({ orders }) => orders),
      [],
      gone.text,
    )
    await db.run(sql`update merchant_order set ${back}`)
  }
})
