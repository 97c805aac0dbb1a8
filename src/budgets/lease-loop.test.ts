import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { listAccounts } from '../../test/support/budget-accounts.ts'
import { testDatabase } from '../../test/support/database.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { closeLeases, leaseCloseBody } from './book-spend.ts'
import { applyBudgets, lockBudgets, openAccounts } from './budget-account.ts'
import { ALWAYS, LeaseBook } from './lease.ts'
import { LeaseLoop } from './lease-loop.ts'
import { requestLeases } from './lease-store.ts'

const PRICE = 100_000
const NOON = Date.parse('2026-04-13T12:00:00Z')

async function makeLoop(
  t: TestContext,
  budgetMicros = 1_000 * PRICE,
  before: (db: Database) => Promise<void> = async () => undefined,
) {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`insert into campaign (merch_id, model, bid_micros, daily_budget_micros)
    values (1, 'cpc', ${PRICE}, ${budgetMicros})`)
  await db.run(sql`insert into node (node_id, host, pid, roles) values (1, 'here', 1, 'edge')`)
  await before(db)
  const book = new LeaseBook()
  const budgetOk = new Uint8Array(1)
  const clock = { wallMs: NOON, monotonicMs: 0 }
  const campaign = { campaignId: 1, index: 0, budget: 'leased' as const, priceMaxMicros: PRICE }
  const take = (budgetVersion: string) =>
    book.setCampaigns([{ ...campaign, ...ALWAYS, budgetVersion }], {
      budgetOk,
      nowMs: clock.wallMs,
    })
  take('1')
  const errors: unknown[] = []
  const loop = new LeaseLoop({
    ...{ book, db, identity: { nodeId: 1, incarnation: '1' } },
    now: () => clock.wallMs,
    monotonic: () => clock.monotonicMs,
    onError: (error) => errors.push(error),
  })
  t.after(() => loop.close())
  await loop.firstAnswer
  const reserve = () => book.reserve(1, PRICE, clock.wallMs)
  /** Waits for the loop's next requests; fails with their error. */
  const until = async (isDone: () => boolean | Promise<boolean>) => {
    while (!(await isDone())) {
      if (errors.length > 0) throw errors[0]
      await sleep(10)
    }
  }
  return { db, book, budgetOk, clock, loop, errors, take, reserve, until }
}

test('after the first request a campaign is funded and its accounts are open', async (t) => {
  const { db, budgetOk, reserve, errors } = await makeLoop(t)
  assert.equal(budgetOk[0], 1)
  assert.equal(typeof reserve(), 'number')
  const days = (await listAccounts(db, 1)).map(({ day }) => day)
  assert.deepEqual(days, [null, '2026-04-13'])
  assert.deepEqual(errors, [])
})

test('frees the leases of an ended node when the fold has read its final record', async (t) => {
  const ended = { nodeId: 2, incarnation: '1' }
  const { db, loop, budgetOk, reserve, clock } = await makeLoop(t, 9 * PRICE, async (db) => {
    await db.run(sql`update node set is_spool_empty = false`) // as of any running node
    await db.run(sql`insert into node (node_id, host, pid, roles, heartbeat_at, is_spool_empty)
      values (2, 'here', 2, 'edge', '-infinity', true)`)
    await openAccounts(db, [{ campaignId: 1, day: '2026-04-13' }])
    await db.run(sql`insert into lease
        (campaign_id, day, node_id, incarnation, granted_micros, request_no, expires_at)
      values (1, '2026-04-13', 2, 1, ${9 * PRICE}, 1, now())`)
    await db.run(sql`update budget_account set escrow_micros = ${9 * PRICE}`)
  })
  assert.equal(budgetOk[0], 0)
  let isFreed = false
  const freed = loop.whenFreed(Number.POSITIVE_INFINITY).then(() => {
    isFreed = true
  })
  await sleep(100)
  assert.equal(isFreed, false)
  await db.transaction((tx) => closeLeases(tx, [{ body: leaseCloseBody(ended) }]))
  await freed
  assert.equal(budgetOk[0], 1)
  assert.equal(typeof reserve(), 'number')
  await db.run(sql`update lease set closed_at = null where node_id = 2`)
  const late = loop.whenFreed(1_000)
  clock.monotonicMs += 1_000
  await late // A stopped fold does not delay a start for ever.
})

test('refills a lease as it is spent, and spends the whole budget', async (t) => {
  const { reserve, clock, budgetOk, until } = await makeLoop(t, 350 * PRICE)
  let clicks = 0
  await until(() => {
    while (reserve() !== null) clicks += 1
    clock.wallMs += 50
    clock.monotonicMs += 50
    return clicks === 350
  })
  assert.equal(budgetOk[0], 0)
})

test('returns a lost answer’s grant to the total budget when its day is over', async (t) => {
  const { db, loop } = await makeLoop(t)
  await loop.close()
  const [book, midnight] = [new LeaseBook(), Date.parse('2026-04-21T00:00:00Z')]
  await openAccounts(db, [{ campaignId: 1, day: '2026-04-20' }])
  const campaign = { campaignId: 1, index: 0, budget: 'leased' as const, priceMaxMicros: PRICE }
  const outputs = { budgetOk: new Uint8Array(1), nowMs: midnight - 1 }
  book.setCampaigns([{ ...campaign, ...ALWAYS, budgetVersion: '1' }], outputs)
  /** The reserved part of the total budget after the node's request; no answer comes in time. */
  const askedAt = async (requestNo: number, nowMs: number) => {
    const requests = book.prepare(requestNo, nowMs)
    const batch = { requestNo, requests, nowMs }
    await requestLeases(db, { nodeId: 1, incarnation: '1' }, batch)
    return Number((await listAccounts(db, 1))[0]?.escrow_micros)
  }
  const before = Number((await listAccounts(db, 1))[0]?.escrow_micros)
  assert.equal(await askedAt(1, midnight - 1), before + 100 * PRICE)
  assert.equal(await askedAt(2, midnight), before)
})

test('pays clicks of a budget too small to share from the account, on any node', async (t) => {
  const { db, loop, reserve, budgetOk, until } = await makeLoop(t, 3 * PRICE)
  // Another node lives: with shares of less than a click, no node holds a useful lease.
  await db.run(sql`insert into node (node_id, host, pid, roles) values (2, 'there', 1, 'edge')`)
  let paid = 0
  for (let clicks = 0; clicks < 5; clicks++) {
    if (reserve() === null) {
      await loop.fund(1, PRICE)
      if (reserve() === null) continue
    }
    paid += 1
  }
  assert.equal(paid, 3)
  await until(() => budgetOk[0] === 0)
  const [, day] = await listAccounts(db, 1)
  assert.equal(day?.escrow_micros, String(3 * PRICE))
})

test('a joining node gets a share at once of a budget that another node held whole', async (t) => {
  const { db, reserve, until } = await makeLoop(t, 90 * PRICE)
  const escrow = async () => Number((await listAccounts(db, 1))[1]?.escrow_micros)
  assert.equal(typeof reserve(), 'number')
  assert.equal(await escrow(), 90 * PRICE)
  // The clock stands still: no lease is renewed by age here.
  await db.run(sql`insert into node (node_id, host, pid, roles) values (2, 'there', 1, 'edge')`)
  const day = '2026-04-13'
  const amounts = { spentMicros: 0, holdMicros: 0, wantMicros: 90 * PRICE, immediateMicros: 0 }
  const asked = { campaignId: 1, day, leaseId: 0, isFinal: false, priceMaxMicros: PRICE }
  const requests = [{ ...asked, ...amounts, inFlightMicros: 0 }]
  await requestLeases(db, { nodeId: 2, incarnation: '1' }, { requestNo: 1, requests })
  await until(async () => (await escrow()) < 45 * PRICE)
  assert.equal(typeof reserve(), 'number', 'its own part stays')
})

test('a lowered budget applies with the next request, a raised one too', async (t) => {
  const { db, budgetOk, take, reserve, until } = await makeLoop(t, 100 * PRICE)
  const setBudget = async (clicks: number) => {
    await db.run(sql`update campaign set daily_budget_micros = ${clicks * PRICE}`)
    await applyBudgets(db, 1, '2026-04-13')
    take(String(clicks))
  }
  const pay = (clicks: number) => {
    for (let click = 0; click < clicks; click++) assert.equal(typeof reserve(), 'number')
  }
  pay(4)
  // The lease held all of the hundred.
  await setBudget(5)
  await until(async () => {
    const [, day] = await listAccounts(db, 1)
    return day?.cap_micros === String(5 * PRICE) && budgetOk[0] === 1
  })
  pay(1)
  assert.deepEqual([reserve(), budgetOk[0]], [null, 0])
  await setBudget(50)
  await until(() => budgetOk[0] === 1)
  pay(45)
  assert.equal(reserve(), null)
})

test('a wall clock set back ends the leases; the next request renews them', async (t) => {
  const { db, reserve, clock, until } = await makeLoop(t)
  clock.wallMs -= 3_600_000
  clock.monotonicMs += 1_000
  assert.equal(typeof reserve(), 'number') // Until the jump is noticed, a second at most.
  await db.transaction(async (tx) => {
    await lockBudgets(tx) // The renewal waits, however fast the machine is.
    await until(() => reserve() === null)
  })
  await until(() => reserve() !== null)
})

test('a node declared dead funds nothing more and logs it', async (t) => {
  const { db, reserve, budgetOk, errors, take } = await makeLoop(t)
  await db.run(sql`update node set closed_incarnation = 1 where node_id = 1`)
  take('2') // Requests at once because the budget changed.
  while (errors.length === 0) await sleep(10)
  assert.match(String(errors[0]), /declared dead/)
  assert.equal(reserve(), null)
  assert.equal(budgetOk[0], 0)
})

test('after close nothing is spent and nothing is requested', async (t) => {
  const { db, loop, reserve } = await makeLoop(t)
  await loop.close()
  assert.equal(reserve(), null)
  const requestNo = () => db.row<{ request_no: string }>(sql`select request_no from lease`)
  const before = await requestNo()
  await sleep(1_100)
  assert.deepEqual(await requestNo(), before)
})
