/** Moves money from nodes that hold it to the node whose readers click. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { sql } from '../platform/postgres/sql.ts'
import { openAccounts } from './budget-account.ts'
import { ALWAYS, LeaseBook } from './lease.ts'
import { requestLeases } from './lease-store.ts'

const DAY = '2026-04-13'
const NOON = Date.parse(`${DAY}T12:00:00Z`)
const PRICE = 100_000

/** Two nodes and a budget of this many clicks. */
async function makeNodes(t: TestContext, clicks: number) {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`
    insert into campaign (merch_id, model, bid_micros, daily_budget_micros)
    values (1, 'cpc', ${PRICE}, ${clicks * PRICE})`)
  await db.run(sql`
    insert into node (node_id, host, pid, roles, heartbeat_at)
    select id, 'here', 1, 'edge', '-infinity' from generate_series(1, 2) as id`)
  await openAccounts(db, [{ campaignId: 1, day: DAY }])
  const makeNode = (nodeId: number) => {
    const [book, budgetOk] = [new LeaseBook(), new Uint8Array(1)]
    const terms = { index: 0, budget: 'leased', priceMaxMicros: PRICE } as const
    const set = (budgetVersion = '') =>
      book.setCampaigns([{ campaignId: 1, ...terms, budgetVersion, ...ALWAYS }], {
        ...{ budgetOk, nowMs: NOON },
      })
    set()
    let calls = 0
    book.onLow(() => {
      calls += 1
    })
    let requestNo = 0
    const ask = async (nowMs = NOON, { isHeard = true } = {}) => {
      requestNo += 1
      const requests = book.prepare(requestNo, nowMs)
      const batch = { requestNo, requests, nowMs }
      const answer = await requestLeases(db, { nodeId, incarnation: '1' }, batch)
      assert(answer !== null)
      if (isHeard) book.apply(requestNo, { requests, ...answer }, nowMs)
      return answer
    }
    const heldClicks = () => book.unspentMicros(1, NOON) / PRICE
    const change = () => set('changed')
    return { book, budgetOk, ask, heldClicks, change, calls: () => calls }
  }
  return [makeNode(1), makeNode(2)] as const
}

test('asks a node above its share to return the excess when another node cannot pay a click', async (t) => {
  const [one, other] = await makeNodes(t, 40)
  const { grants } = await one.ask()
  assert.equal(one.heldClicks(), 40)
  assert.deepEqual((await one.ask()).recalled, [])
  await other.ask()
  assert.equal(other.budgetOk[0], 0, 'money of another node pays no click here')
  assert.deepEqual((await one.ask(NOON, { isHeard: false })).recalled, [grants[0]?.leaseId])
  const calls = one.calls()
  await one.ask()
  assert.equal(one.calls(), calls + 1, 'it requests again at once')
  assert.deepEqual((await one.ask()).recalled, [])
  assert.equal(one.heldClicks(), 10)
  await other.ask(NOON + 2_000)
  assert.equal(other.heldClicks(), 7.5)
  assert.deepEqual((await one.ask()).recalled, [], 'a node keeps its own share')
})

test('does not recall money that would be the node’s share again', async (t) => {
  const [one, other] = await makeNodes(t, 5)
  for (const node of [one, other, one, one]) await node.ask()
  assert.equal(one.heldClicks(), 1.25)
  await other.ask(NOON + 2_000)
  assert.equal(other.heldClicks(), 0)
  assert.deepEqual((await one.ask(NOON + 2_000)).recalled, [])
})

test('spends a budget where the readers are, and pays each click on a last win', async (t) => {
  for (const clicks of [10, 50]) {
    const [busy, idle] = await makeNodes(t, clicks)
    let paid = 0
    for (let nowMs = NOON; nowMs < NOON + 40_000; nowMs += 200) {
      if (nowMs % 1_000 === 0) await idle.ask(nowMs)
      if (nowMs % 1_000 === 0) await busy.ask(nowMs)
      if (busy.budgetOk[0] === 0) continue
      busy.book.recordWin(1, `${nowMs}`, nowMs)
      busy.book.recordClick(1, { nowMs, ageMs: 0, priceMicros: PRICE, address: `${nowMs}` })
      const isHeld = busy.book.reserve(1, PRICE, nowMs) !== null
      if (!isHeld && busy.book.want(1, PRICE, nowMs)) await busy.ask(nowMs)
      assert(isHeld || busy.book.reserve(1, PRICE, nowMs) !== null, `after ${paid} of ${clicks}`)
      paid += 1
    }
    assert.equal(paid, clicks)
  }
})

test('in a burst no more clicks win than the unleased money can pay', async (t) => {
  const [one, other] = await makeNodes(t, 3)
  for (const node of [one, other, one, one]) await node.ask()
  assert.equal(one.heldClicks(), 0, 'all three are in the account')
  assert(one.book.want(1, PRICE, NOON))
  const first = one.ask()
  assert(one.book.want(1, PRICE, NOON))
  assert.equal(one.budgetOk[0], 1)
  assert(one.book.want(1, PRICE, NOON))
  assert.equal(one.budgetOk[0], 0)
  await first
  assert.notEqual(one.book.reserve(1, PRICE, NOON), null)
  assert.equal(one.budgetOk[0], 0, 'the answer to the first precedes the others')
  await one.ask()
  for (const _ of ['second', 'third']) assert.notEqual(one.book.reserve(1, PRICE, NOON), null)
})

test('a grant that came too late for its click pays the node’s next one', async (t) => {
  const [one, other] = await makeNodes(t, 3)
  for (const node of [one, other, one, one]) await node.ask()
  for (let click = 1; click <= 3; click++) assert(one.book.want(1, PRICE, NOON))
  await one.ask() // No click waits any more.
  for (let nowMs = NOON + 1_000; nowMs < NOON + 10_000; nowMs += 1_000) {
    await other.ask(nowMs)
    await one.ask(nowMs)
    assert.equal(one.heldClicks(), 3)
  }
  assert.notEqual(one.book.reserve(1, PRICE, NOON + 9_999), null)
  const calls = one.calls()
  await other.ask(NOON + 10_000)
  await one.ask(NOON + 10_000)
  assert.equal(one.heldClicks(), 0)
  assert.equal(one.calls(), calls, 'no second wake-up for the same money')
  await other.ask(NOON + 12_000)
  assert.equal(other.budgetOk[0], 1)
})

test('keeps a late grant ten seconds, not an hour more after a clock change', async (t) => {
  const [one, other] = await makeNodes(t, 3)
  for (const node of [one, other, one, one]) await node.ask()
  assert(one.book.want(1, PRICE, NOON))
  await one.ask()
  assert.equal(one.heldClicks(), 1)
  const backMs = NOON - 3_600_000
  one.book.stopSpending(backMs)
  await one.ask(backMs)
  assert.equal(one.heldClicks(), 0)
})

test('requests late grants again after a budget change', async (t) => {
  const [one, other] = await makeNodes(t, 3)
  for (const node of [one, other, one, one]) await node.ask()
  assert(one.book.want(1, PRICE, NOON))
  await one.ask()
  one.change()
  await one.ask()
  assert.equal(one.heldClicks(), 0)
})
