import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type BudgetAccount, listAccounts } from '../../test/support/budget-accounts.ts'
import { testDatabase } from '../../test/support/database.ts'
import type { NodeIdentity } from '../platform/postgres/node-registry.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { type BookedClick, bookSpend, closeLeases, leaseCloseBody } from './book-spend.ts'
import { applyBudgets, openAccounts, returnToBudget } from './budget-account.ts'
import { requestLeases } from './lease-store.ts'
import { LEASE_TTL_MS, type LeaseRequest } from './lease-terms.ts'

const DAY = '2026-04-13'
const NOON = Date.parse(`${DAY}T12:00:00Z`)
const PRICE = 100_000

interface Budgets {
  readonly daily: number | null
  readonly total: number | null
}

async function makeWorld(t: TestContext, budgets: readonly Budgets[], nodes = 2) {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`
    insert into campaign (merch_id, model, bid_micros, daily_budget_micros, budget_micros)
    select 1, 'cpc', ${PRICE}, daily, total from unnest(
      ${budgets.map(({ daily }) => daily)}::bigint[],
      ${budgets.map(({ total }) => total)}::bigint[]) as budget (daily, total)`)
  await db.run(sql`
    insert into node (node_id, host, pid, roles, heartbeat_at)
    select id, 'here', 1, 'edge', '-infinity' from generate_series(1, ${nodes}::int) as id`)
  const campaignIds = budgets.map((_, index) => index + 1)
  await openAccounts(
    db,
    campaignIds.map((campaignId) => ({ campaignId, day: DAY })),
  )
  return db
}

const node = (nodeId: number): NodeIdentity => ({ nodeId, incarnation: '1' })

function request(changes: Partial<LeaseRequest> = {}): LeaseRequest {
  return {
    campaignId: 1,
    day: DAY,
    leaseId: 0,
    spentMicros: 0,
    holdMicros: 0,
    wantMicros: 50 * PRICE,
    priceMaxMicros: PRICE,
    isFinal: false,
    immediateMicros: 0,
    inFlightMicros: 0,
    ...changes,
  }
}

async function ask(
  db: Database,
  nodeId: number,
  requestNo: number,
  requests: readonly LeaseRequest[] = [request()],
) {
  const answer = await requestLeases(db, node(nodeId), { requestNo, requests, nowMs: NOON })
  return answer?.grants[0] ?? null
}

async function accounts(db: Database, campaignId = 1): Promise<Record<string, BudgetAccount>> {
  const rows = await listAccounts(db, campaignId)
  return Object.fromEntries(rows.map((row) => [row.day ?? 'life', row]))
}

function click(leaseId: number, changes: Partial<BookedClick> = {}): BookedClick {
  const amounts = { reservedMicros: PRICE, merchantCostMicros: PRICE }
  return { campaignId: 1, day: DAY, leaseId: String(leaseId), ...amounts, ...changes }
}

test('takes a lease from both accounts of its campaign at once', async (t) => {
  const db = await makeWorld(t, [{ daily: 100 * PRICE, total: 30 * PRICE }], 1)
  const grant = await ask(db, 1, 1)
  assert.equal(grant?.grantedMicros, 30 * PRICE) // The only node may have everything.
  const { life, [DAY]: day } = await accounts(db)
  assert.equal(life?.escrow_micros, String(30 * PRICE))
  assert.equal(day?.escrow_micros, String(30 * PRICE))
})

test('only nodes that serve readers share a budget', async (t) => {
  const db = await makeWorld(t, [{ daily: 40 * PRICE, total: null }], 2)
  await db.run(sql`
    update node set roles = 'api,worker', heartbeat_at = ${new Date(NOON)} where node_id = 2`)
  assert.equal((await ask(db, 1, 1))?.fairMicros, 40 * PRICE)
  await db.run(sql`update node set roles = 'edge' where node_id = 2`)
  assert.equal((await ask(db, 1, 2, [request({ leaseId: 1 })]))?.fairMicros, 10 * PRICE)
})

test('with several nodes each gets a share; money too small to share stays in the account', async (t) => {
  const db = await makeWorld(t, [{ daily: 40 * PRICE, total: null }], 2)
  assert.equal((await ask(db, 2, 1))?.grantedMicros, 40 * PRICE)
  // Node 2 learns of node 1 and returns the excess over its share.
  assert.equal((await ask(db, 1, 1))?.grantedMicros, 0)
  const kept = request({ leaseId: 1, holdMicros: 10 * PRICE })
  assert.equal((await ask(db, 2, 2, [kept]))?.grantedMicros, 10 * PRICE)
  assert.equal((await ask(db, 1, 2))?.grantedMicros, Math.floor((30 * PRICE) / 4))

  // Three clicks and a half left for two living nodes: a lease of less than a click is useless.
  const tail = await makeWorld(t, [{ daily: 3.5 * PRICE, total: null }], 2)
  const held = new Map<number, { leaseId: number; spentMicros: number }>()
  for (const nodeId of [1, 2]) {
    const grant = await ask(tail, nodeId, 1)
    if (nodeId === 1)
      await ask(tail, 1, 2, [request({ leaseId: grant?.leaseId ?? 0, wantMicros: 0 })])
    held.set(nodeId, { leaseId: grant?.leaseId ?? 0, spentMicros: 0 })
  }
  for (const [nodeId, lease] of held) {
    assert.equal((await ask(tail, nodeId, 3, [request(lease)]))?.grantedMicros, 0)
  }
  // A waiting click gets its price wherever it arrives, until nothing is left.
  const isPaid: boolean[] = []
  for (const [index, nodeId] of [1, 2, 2, 1].entries()) {
    const { leaseId = 0, spentMicros = 0 } = held.get(nodeId) ?? {}
    const wantMicros = spentMicros + PRICE
    const amounts = { spentMicros, holdMicros: spentMicros, wantMicros, immediateMicros: PRICE }
    const grant = await ask(tail, nodeId, 4 + index, [request({ leaseId, ...amounts })])
    isPaid.push(grant?.grantedMicros === wantMicros)
    if (isPaid.at(-1)) held.set(nodeId, { leaseId, spentMicros: wantMicros })
  }
  assert.deepEqual(isPaid, [true, true, true, false])
})

test('reports the unleased rest and the estimated cost of others’ open results', async (t) => {
  const db = await makeWorld(t, [{ daily: 40 * PRICE, total: null }], 3)
  for (const nodeId of [1, 2, 3]) await ask(db, nodeId, 1, [request({ wantMicros: 0 })])
  const report = { spentMicros: 0, inFlightMicros: 50, wantMicros: 5 * PRICE }
  const two = await ask(db, 2, 2, [request(report)])
  const spent = { spentMicros: PRICE, holdMicros: 5 * PRICE }
  await ask(db, 2, 3, [request({ ...report, ...spent, leaseId: two?.leaseId ?? 0 })])
  await ask(db, 3, 2, [request({ wantMicros: 0, inFlightMicros: 7 })])
  const one = await ask(db, 1, 2, [request({ wantMicros: 3 * PRICE })])
  assert.deepEqual(
    [one?.refillableMicros, one?.inFlightElsewhereMicros],
    [32 * PRICE, 57], // 40 less the 5 of node 2, less its own 3.
  )
})

test('a silent node’s open results no longer count, but its money stays reserved', async (t) => {
  const db = await makeWorld(t, [{ daily: 40 * PRICE, total: null }], 2)
  const report = { wantMicros: 5 * PRICE, inFlightMicros: 50 }
  const two = await ask(db, 2, 1, [request(report)])
  assert.equal(two?.grantedMicros, 5 * PRICE)
  const heard = async (requestNo: number, nowMs: number) => {
    const batch = { requestNo, requests: [request({ wantMicros: 0 })], nowMs }
    const [one] = (await requestLeases(db, node(1), batch))?.grants ?? []
    return [one?.refillableMicros, one?.inFlightElsewhereMicros]
  }
  assert.deepEqual(await heard(1, NOON + LEASE_TTL_MS - 1), [35 * PRICE, 50])
  assert.deepEqual(await heard(2, NOON + LEASE_TTL_MS), [35 * PRICE, 0])
})

test('another node can lease returned money at once', async (t) => {
  const db = await makeWorld(t, [{ daily: 8 * PRICE, total: null }], 2)
  const grant = await ask(db, 1, 1)
  assert.equal(grant?.grantedMicros, 8 * PRICE)
  const leaseId = grant?.leaseId ?? 0
  const back = request({ leaseId, spentMicros: PRICE, holdMicros: PRICE, wantMicros: PRICE })
  assert.equal((await ask(db, 1, 2, [back]))?.grantedMicros, PRICE)
  assert.equal((await accounts(db))[DAY]?.escrow_micros, String(PRICE))
  assert.equal((await ask(db, 2, 1))?.grantedMicros, Math.floor((7 * PRICE) / 4))
})

test('a statement that runs twice, or after a newer one, changes nothing (P21)', async (t) => {
  const db = await makeWorld(t, [{ daily: 80 * PRICE, total: null }], 1)
  const first = await ask(db, 1, 5)
  const leaseId = first?.leaseId ?? 0
  const before = await accounts(db)
  assert.equal(await ask(db, 1, 5), null)
  assert.equal(await ask(db, 1, 4, [request({ leaseId, holdMicros: 0, wantMicros: 0 })]), null)
  assert.deepEqual(await accounts(db), before)
})

test('finds a lease whose grant was lost on the way, and creates no second one', async (t) => {
  const db = await makeWorld(t, [{ daily: 80 * PRICE, total: null }], 1)
  const lost = await ask(db, 1, 1)
  const again = await ask(db, 1, 2, [request({ wantMicros: 20 * PRICE })])
  assert.equal(again?.leaseId, lost?.leaseId)
  assert.equal((await accounts(db))[DAY]?.escrow_micros, String(20 * PRICE))
})

test('after a restore from a backup, no lease gets the number of one that clicks still name', async (t) => {
  const db = await makeWorld(t, [{ daily: 100 * PRICE, total: null }], 1)
  const backup = sql`
    select last_value, is_called from lease_id_seq`
  const before = await db.row<{ last_value: string; is_called: boolean }>(backup)
  const lost = await ask(db, 1, 1)
  await db.run(sql`delete from lease`)
  await db.run(sql`update budget_account set escrow_micros = 0`)
  await db.run(sql`
    select setval('lease_id_seq', ${before?.last_value}::bigint, ${before?.is_called}::boolean)`)
  const given = await ask(db, 1, 2)
  assert.ok(lost !== null && given !== null)
  assert.notEqual(given.leaseId, lost.leaseId)
})

test('a lease that its node no longer knows after a restore holds its waiting clicks’ price', async (t) => {
  const db = await makeWorld(t, [{ daily: 10 * PRICE, total: null }], 1)
  const grant = await ask(db, 1, 1)
  await db.transaction((tx) => bookSpend(tx, [click(grant?.leaseId ?? 0)]))
  assert.equal((await ask(db, 1, 2, [request({ wantMicros: 0 })]))?.grantedMicros, PRICE)
  assert.equal((await accounts(db))[DAY]?.escrow_micros, '0')
})

/** Sets a lease of ten clicks back to two, as a standby may know it; node 2 gets all but `rest`. */
async function loseGrants(db: Database, rest: number): Promise<LeaseRequest> {
  const leaseId = (await ask(db, 1, 1))?.leaseId ?? 0
  await db.run(sql`update lease set granted_micros = ${2 * PRICE} where lease_id = ${leaseId}`)
  await db.run(sql`
    update budget_account set escrow_micros = ${2 * PRICE} where campaign_id = 1`)
  const amounts = { wantMicros: 8 * PRICE - rest, immediateMicros: 8 * PRICE - rest }
  assert.equal((await ask(db, 2, 1, [request(amounts)]))?.grantedMicros, 8 * PRICE - rest)
  return request({ leaseId, spentMicros: 4 * PRICE, holdMicros: 10 * PRICE })
}

test('a lease with lost grants gets no more than there is, and its node’s others continue', async (t) => {
  const db = await makeWorld(
    t,
    [10, 40].map((clicks) => ({ daily: clicks * PRICE, total: null })),
  )
  const lost = await loseGrants(db, PRICE)
  const batch = { requestNo: 2, requests: [lost, request({ campaignId: 2 })], nowMs: NOON }
  const answer = await requestLeases(db, node(1), batch)
  const { [DAY]: day } = await accounts(db)
  assert.deepEqual(
    answer?.grants.map(({ campaignId, grantedMicros }) => [campaignId, grantedMicros]),
    [
      [1, 3 * PRICE], // Two that the database knew and the one that was left.
      [2, 10 * PRICE],
    ],
  )
  assert.equal(day?.escrow_micros, String(10 * PRICE))
})

test('an ended day’s lease with lost grants takes nothing from the next day', async (t) => {
  const db = await makeWorld(t, [{ daily: 10 * PRICE, total: 10 * PRICE }])
  const lost = await loseGrants(db, PRICE)
  const next = request({ day: '2026-04-14', immediateMicros: PRICE })
  await openAccounts(db, [next])
  const ended = { ...lost, holdMicros: 4 * PRICE, wantMicros: 4 * PRICE, isFinal: true }
  const batch = { requestNo: 2, requests: [ended, next], nowMs: NOON }
  const answer = await requestLeases(db, node(1), batch)
  assert.deepEqual(
    answer?.grants.map(({ day, grantedMicros }) => [day, grantedMicros]),
    [
      [DAY, 2 * PRICE],
      ['2026-04-14', PRICE],
    ],
  )
})

test('clicks move from escrow to settled; unpaid ones only leave escrow (P22)', async (t) => {
  const db = await makeWorld(t, [{ daily: 10 * PRICE, total: 10 * PRICE }], 1)
  const leaseId = (await ask(db, 1, 1))?.leaseId ?? 0
  await bookSpend(db, [click(leaseId), click(leaseId), click(leaseId, { merchantCostMicros: 0 })])
  for (const account of Object.values(await accounts(db))) {
    assert.equal(account.settled_micros, String(2 * PRICE))
    assert.equal(account.escrow_micros, String(7 * PRICE))
  }
})

test('a click without a lease counts, so that a cap set later includes it', async (t) => {
  const db = await makeWorld(t, [{ daily: null, total: null }], 1)
  const day = '2026-04-14' // Its account is not open yet.
  await bookSpend(db, [click(0, { day }), click(0, { day })])
  assert.equal((await accounts(db)).life?.settled_micros, String(2 * PRICE))
  assert.equal((await accounts(db))[day]?.settled_micros, String(2 * PRICE))

  await db.run(sql`update campaign set budget_micros = ${3 * PRICE}`)
  await applyBudgets(db, 1, day)
  assert.equal((await ask(db, 1, 1, [request({ day })]))?.grantedMicros, PRICE)
  // A click accepted before the cap was known arrives late: paid, and nothing more is granted.
  await bookSpend(db, [click(0, { day }), click(0, { day })])
  const { life } = await accounts(db)
  assert.equal(life?.settled_micros, String(4 * PRICE))
  assert.equal(life?.pending_cap_micros, String(3 * PRICE))
})

test('a node with a final record gets nothing more, and its unspent money is free', async (t) => {
  const db = await makeWorld(t, [{ daily: 10 * PRICE, total: null }], 2)
  const leaseId = (await ask(db, 1, 1))?.leaseId ?? 0
  await bookSpend(db, [click(leaseId)])
  for (let again = 0; again < 2; again++) {
    await db.transaction((tx) => closeLeases(tx, [{ body: leaseCloseBody(node(1)) }]))
    const { [DAY]: day } = await accounts(db)
    assert.deepEqual([day?.settled_micros, day?.escrow_micros], [String(PRICE), '0'])
  }
  const refused = await requestLeases(db, node(1), { requestNo: 9, requests: [request()] })
  assert.equal(refused, null)
  // A late click of that lease was judged unpaid; booking it takes nothing twice.
  await bookSpend(db, [click(leaseId, { merchantCostMicros: 0 })])
  assert.equal((await accounts(db))[DAY]?.escrow_micros, '0')
  assert.equal((await ask(db, 2, 1))?.grantedMicros, 9 * PRICE)
})

test('of two final records under one number the later one counts, in any reading order', async (t) => {
  const db = await makeWorld(t, [{ daily: 10 * PRICE, total: null }], 2)
  await db.run(sql`update node set incarnation = 3`)
  for (const [nodeId, incarnations] of [
    [1, ['2', '3']],
    [2, ['3', '2']],
  ] as const) {
    const words = incarnations.map((incarnation) => ({
      body: leaseCloseBody({ nodeId, incarnation }),
    }))
    await db.transaction((tx) => closeLeases(tx, words))
    const last = { nodeId, incarnation: '3' }
    assert.equal(await requestLeases(db, last, { requestNo: 1, requests: [request()] }), null)
  }
})

test('refuses a taken-over number under its old incarnation', async (t) => {
  const db = await makeWorld(t, [{ daily: 10 * PRICE, total: null }], 1)
  await db.run(sql`update node set incarnation = 2 where node_id = 1`)
  assert.equal(await requestLeases(db, node(1), { requestNo: 1, requests: [request()] }), null)
})

for (const kind of ['daily', 'total'] as const) {
  test(`a ${kind} cap lowered below the leased amount waits for the leases, a raised one applies at once`, async (t) => {
    const db = await makeWorld(t, [{ daily: null, total: null, [kind]: 40 * PRICE }], 1)
    const leaseId = (await ask(db, 1, 1))?.leaseId ?? 0
    const hold = (requestNo: number, clicks: number) =>
      ask(db, 1, requestNo, [request({ leaseId, spentMicros: PRICE, holdMicros: clicks * PRICE })])
    const caps = async () => {
      const account = (await accounts(db))[kind === 'daily' ? DAY : 'life']
      return [account?.cap_micros, account?.pending_cap_micros]
    }
    const setCap = async (micros: number | null) => {
      const column = kind === 'daily' ? sql`daily_budget_micros` : sql`budget_micros`
      await db.run(sql`update campaign set ${column} = ${micros}`)
      await applyBudgets(db, 1, DAY)
      return caps()
    }
    assert.deepEqual(await setCap(10 * PRICE), [String(40 * PRICE), String(10 * PRICE)])
    const held = await hold(2, 40)
    assert.deepEqual([held?.grantedMicros, held?.fairMicros], [40 * PRICE, 9 * PRICE])
    await hold(3, 9)
    assert.deepEqual(await caps(), [String(10 * PRICE), null])
    assert.deepEqual(await setCap(60 * PRICE), [String(60 * PRICE), null])
    assert.deepEqual(await setCap(null), [null, null])
  })
}

test('a changed budget applies to today and to open later days, not to past ones', async (t) => {
  const db = await makeWorld(t, [{ daily: 40 * PRICE, total: null }], 1)
  const next = '2026-04-14' // opened twenty seconds before it starts
  await openAccounts(db, [{ campaignId: 1, day: next }])
  const setDaily = async (micros: number, today: string) => {
    await db.run(sql`update campaign set daily_budget_micros = ${micros}`)
    await applyBudgets(db, 1, today)
    const { [DAY]: first, [next]: second } = await accounts(db)
    return [first?.cap_micros, second?.cap_micros]
  }
  assert.deepEqual(await setDaily(10 * PRICE, DAY), [String(10 * PRICE), String(10 * PRICE)])
  assert.deepEqual(await setDaily(5 * PRICE, next), [String(10 * PRICE), String(5 * PRICE)])
})

test('an ended day returns its lease; the days share the total (P26)', async (t) => {
  const db = await makeWorld(t, [{ daily: 10 * PRICE, total: 12 * PRICE }], 1)
  const next = '2026-04-14'
  await openAccounts(db, [{ campaignId: 1, day: next }])
  const leaseId = (await ask(db, 1, 1))?.leaseId ?? 0
  assert.equal((await ask(db, 1, 2, [request({ day: next })]))?.grantedMicros, 2 * PRICE)
  const spent = { spentMicros: 3 * PRICE, holdMicros: 3 * PRICE, wantMicros: 3 * PRICE }
  await ask(db, 1, 3, [request({ leaseId, ...spent, isFinal: true })])
  const { life, [DAY]: day } = await accounts(db)
  assert.equal(day?.escrow_micros, String(3 * PRICE))
  assert.equal(life?.escrow_micros, String(5 * PRICE))
  assert.equal(await ask(db, 1, 4, [request({ leaseId, ...spent, isFinal: true })]), null)
})

test('money of a reversed click returns to its own budgets, while their period lasts', async (t) => {
  const budget = { daily: 10 * PRICE, total: 10 * PRICE }
  const db = await makeWorld(t, [budget, budget], 1)
  const leaseId = (await ask(db, 1, 1))?.leaseId ?? 0
  await bookSpend(db, [click(leaseId), click(leaseId), click(0, { campaignId: 2 })])
  const ofOther = await accounts(db, 2)
  const reversed = { campaignId: 1, day: DAY, micros: PRICE }
  await returnToBudget(db, reversed, DAY)
  await returnToBudget(db, reversed, '2026-04-14')
  const { life, [DAY]: day } = await accounts(db)
  assert.deepEqual([life?.settled_micros, day?.settled_micros], ['0', String(PRICE)])
  assert.deepEqual(await accounts(db, 2), ofOther)
})

test('a CPA campaign’s accounts count and do not refuse', async (t) => {
  const db = await makeWorld(t, [{ daily: PRICE, total: PRICE }], 1)
  await db.run(sql`update campaign set model = 'cpa', rate_ppm = 1`)
  await applyBudgets(db, 1, DAY)
  await bookSpend(db, [click(0, { merchantCostMicros: 5 * PRICE })])
  const { life } = await accounts(db)
  assert.deepEqual([life?.cap_micros, life?.settled_micros], [null, String(5 * PRICE)])
})
