import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startDashboard } from '../../test/support/dashboard-session.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import type { KeyGuard } from '../accounts/require-key.ts'
import { MODEL } from '../events/event.ts'
import { issueStatements } from '../ledger/statement-store.ts'
import { DAY_MS, formatTimestamp } from '../platform/time/timestamp.ts'
import type { MerchantEarnings, Payments } from './payments-schema.ts'
import { reportRoutes } from './routes.ts'
import type { StatementDetail } from './schema.ts'

const CPC = { model: MODEL.cpc, termsAmount: 80_000_000, reservedMicros: 80_000_000 }

async function start(t: TestContext) {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const worlds = [await makePublisherWorld(db), await makePublisherWorld(db, 'rival')] as const
  const clock = { now: new Date(START_MS) }
  const now = () => clock.now
  const routes = (keys: KeyGuard) => [reportRoutes({ db, keys, now })]
  const dashboard = await startDashboard(t, { db, routes })
  const events = new MoneyEvents()
  const pubId = worlds[0].publisher.pub_id
  const [merchant, other] = worlds.map((world) => world.merchant.merch_id) as [number, number]
  const click = (name: string, atMs: number, merchId = merchant) =>
    events.click(name, atMs, { ...CPC, sharePpm: 750_000, pubId, merchId })
  const payment = (atMs: number, dollars: number) =>
    events.payment(atMs, dollars, { merchId: merchant })
  return {
    db,
    clock,
    dashboard,
    events,
    pubId,
    merchant,
    other,
    click,
    payment,
    record: log.record,
  }
}

test('earnings are pending, owed since a day, released or paid out, per merchant', async (t) => {
  const s = await start(t)
  const { call } = await s.dashboard.logIn('gazette@example.com')
  const read = async (at: number): Promise<Payments> => {
    s.clock.now = new Date(at)
    const { status, json } = await call<Payments>(`publishers/${s.pubId}/payments/`)
    assert.equal(status, 200)
    return json.data[0]
  }
  const stages = ({ open_usd, due_usd, balance_usd, paid_out_usd }: Payments) =>
    [open_usd, due_usd, balance_usd, paid_out_usd].join(' ')
  assert.deepEqual((await read(START_MS)).merchants, [])

  await s.record(
    ...[s.click('a', START_MS), s.click('b', START_MS + 1)],
    s.events.click('c', START_MS, { pubId: s.pubId, merchId: s.other }),
    { ...s.events.order('o1', START_MS, { click: 'c' }), merchId: s.other },
    s.payment(START_MS + 3 * DAY_MS, 90),
  )
  const midnight = Date.UTC(2026, 2, 3)
  assert.equal(stages(await read(midnight - 1)), '175.00 0.00 0.00 0.00')
  assert.equal(stages(await read(midnight)), '55.00 120.00 0.00 0.00')

  const part = await read(START_MS + 4 * DAY_MS)
  assert.equal(stages(part), '55.00 52.50 67.50 0.00')
  const amounts = (one: MerchantEarnings) => [one.open_usd, one.due_usd, one.released_usd].join(' ')
  assert.deepEqual(
    part.merchants.map((one) => [one.merch_id, amounts(one), one.due_since]),
    [
      [s.merchant, '0.00 52.50 67.50', formatTimestamp(new Date(midnight))],
      [s.other, '55.00 0.00 0.00', null],
    ],
  )

  await issueStatements(s.db, { now: new Date('2026-04-03T00:00:00Z') })
  const paid = await read(START_MS + 90 * DAY_MS)
  assert.equal(stages(paid), '0.00 107.50 0.00 67.50')
  assert.deepEqual(
    paid.statements.map(({ month, payout_usd }) => [month, payout_usd]),
    [['2026-03', '67.50']],
  )
})

test("a merchant's debt without earnings for the publisher has no due date for it", async (t) => {
  const s = await start(t)
  const { call } = await s.dashboard.logIn('gazette@example.com')
  const free = { ...CPC, sharePpm: 0, pubId: s.pubId, merchId: s.merchant }
  await s.record(s.events.click('a', START_MS, free), s.click('b', START_MS + 5 * DAY_MS))
  s.clock.now = new Date(START_MS + 9 * DAY_MS)
  const { json } = await call<Payments>(`publishers/${s.pubId}/payments/`)
  const [merchant] = json.data[0].merchants
  assert.equal(merchant?.due_usd, '60.00')
  assert.equal(merchant?.due_since, '2026-03-08T00:00:00Z')
})

test("a statement opens for its own publisher's user and for nobody else", async (t) => {
  const s = await start(t)
  await s.record(s.click('a', START_MS), s.payment(START_MS + 3 * DAY_MS, 80))
  await issueStatements(s.db, { now: new Date('2026-04-03T00:00:00Z') })
  const path = `publishers/${s.pubId}/statements/2026-03/`
  const { call, open } = await s.dashboard.logIn('gazette@example.com')
  assert.equal((await call<StatementDetail>(path)).json.data[0].payout_usd, '60.00')
  const page = await open(`${path}?format=html`)
  assert.match(String(page.headers['content-type']), /^text\/html/)
  assert.match(page.text, new RegExp(`Statement S${s.pubId}-202603`))
  const file = await open(`${path}?format=csv`)
  assert.equal(
    file.headers['content-disposition'],
    `attachment; filename="souk_statement_S${s.pubId}-202603.csv"`,
  )
  assert.match(file.text, /,payout,,,,60\.00\n/)
  assert.equal((await open(path.replace('03', '02'))).status, 404)

  const rival = await s.dashboard.logIn('rival@example.com')
  const nobody = await s.dashboard.logIn(null)
  for (const wanted of [path, `publishers/${s.pubId}/payments/`]) {
    assert.equal((await rival.open(wanted)).status, 403, wanted)
    assert.equal((await nobody.open(wanted)).status, 401, wanted)
  }
})
