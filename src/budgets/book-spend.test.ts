import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listAccounts } from '../../test/support/budget-accounts.ts'
import { testDatabase } from '../../test/support/database.ts'
import { sql } from '../platform/postgres/sql.ts'
import { bookSpend, closeLeases, leaseCloseBody } from './book-spend.ts'
import { openAccounts } from './budget-account.ts'
import { requestLeases } from './lease-store.ts'

const PRICE = 100_000
const DAYS = ['2026-04-13', '2026-04-14'] as const

test('around midnight each day’s clicks and leases change its own budget; an ended node frees its own', async (t) => {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`
    insert into campaign (merch_id, model, bid_micros, daily_budget_micros, budget_micros)
    values (1, 'cpc', ${PRICE}, ${10 * PRICE}, ${100 * PRICE})`)
  await db.run(sql`insert into node (node_id, host, pid, roles) values (1, 'here', 1, 'edge')`)
  const asked = DAYS.map((day) => ({
    ...{ campaignId: 1, day, leaseId: 0, spentMicros: 0, holdMicros: 0, wantMicros: 5 * PRICE },
    ...{ priceMaxMicros: PRICE, isFinal: false, immediateMicros: 0, inFlightMicros: 0 },
  }))
  await openAccounts(db, asked)
  const node = { nodeId: 1, incarnation: '1' }
  const other = { nodeId: 2, incarnation: '1' }
  const nowMs = Date.parse(`${DAYS[1]}T00:00:00Z`)
  const answer = await requestLeases(db, node, { requestNo: 1, requests: asked, nowMs })
  await db.run(sql`insert into node (node_id, host, pid, roles) values (2, 'there', 1, 'edge')`)
  const one = asked.slice(1).map((request) => ({ ...request, wantMicros: PRICE }))
  const askOther = () => requestLeases(db, other, { requestNo: 1, requests: one, nowMs })
  await askOther()
  const click = (day: string) => {
    const leaseId = String(answer?.grants.find((lease) => lease.day === day)?.leaseId)
    return { campaignId: 1, day, leaseId, reservedMicros: PRICE, merchantCostMicros: PRICE }
  }
  /** Prices settled and reserved: of the whole, then of each day. */
  const booked = async () =>
    (await listAccounts(db, 1))
      .toSorted((one, other) => (one.day ?? '').localeCompare(other.day ?? ''))
      .map(({ settled_micros, escrow_micros }) =>
        [settled_micros, escrow_micros].map((micros) => Number(micros) / PRICE),
      )
  await bookSpend(db, [click(DAYS[0]), click(DAYS[1]), click(DAYS[1])])
  assert.deepEqual(await booked(), [
    [3, 8],
    [1, 4],
    [2, 4],
  ])
  await db.transaction((tx) => closeLeases(tx, [{ body: leaseCloseBody(node) }]))
  assert.deepEqual(await booked(), [
    [3, 1],
    [1, 0],
    [2, 1],
  ])
  assert.notEqual(await askOther(), null)
})
