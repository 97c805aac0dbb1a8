import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { foldBusyLog } from '../../test/support/busy-log.ts'
import { startDashboard } from '../../test/support/dashboard-session.ts'
import { testDatabase } from '../../test/support/database.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { REASON, reasonName } from '../events/reason.ts'
import { insertRefusal } from '../orders/intake-store.ts'
import { micros } from '../platform/money/money.ts'
import { sql } from '../platform/postgres/sql.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { listLedgerRows, readAccountPage } from './merchant-ledger-store.ts'
import { merchantOverviewRoutes } from './merchant-overview-routes.ts'
import type { AccountEntry, AccountPage, MerchantOverview } from './merchant-overview-schema.ts'
import { merchantRoutes } from './merchant-routes.ts'

/** All days of the busy log. */
const DAYS = { dayFrom: '2026-03-01', dayTo: '2026-07-31' }
const RANGE = `date_from=${DAYS.dayFrom}&date_to=${DAYS.dayTo}`
const microsOf = (dollars: string) => Math.round(Number(dollars) * 1_000_000)
const sum = (amounts: readonly string[]) =>
  amounts.reduce((total, amount) => total + microsOf(amount), 0)

const db = await testDatabase()
const { one, other } = await foldBusyLog({ after }, db)
const clock = { now: new Date('2026-08-01T00:00:00Z') }
const overCap = new Set<number>()
const now = () => clock.now
const dashboard = await startDashboard(
  { after },
  {
    db,
    routes: (keys) => [
      merchantOverviewRoutes({ db, keys, overCap: () => overCap, now }),
      merchantRoutes({ db, keys, now }),
    ],
  },
)
const { merch_id: merchId } = one.merchant
await updateMerchant(db, { merchId, changes: { uid: one.publisher.uid } })
const own = await dashboard.logIn('gazette@example.com')

async function overview(range = RANGE): Promise<MerchantOverview> {
  const path = `merchants/${merchId}/overview/?${range}`
  const { status, json } = await own.call<MerchantOverview>(path)
  assert.equal(status, 200, JSON.stringify(json))
  return json.data[0]
}

test("a merchant's costs are the same by day, by publisher and in its account", async () => {
  const { totals, days, publishers } = await overview()
  const ledger = await db.row<{ micros: string }>(sql`
    select -sum(amount_micros)::bigint as micros from ledger_line
    where account = 'merchant' and merch_id = ${merchId} and pub_id <> 0`)
  assert.equal(microsOf(totals.cost), Number(ledger?.micros))
  for (const rows of [days, publishers]) {
    assert.equal(sum(rows.map(({ cost }) => cost)), microsOf(totals.cost))
    assert.equal(sum(rows.map(({ revenue }) => revenue)), microsOf(totals.revenue))
    for (const name of ['clicks', 'sales'] as const) {
      assert.equal(
        rows.reduce((total, row) => total + row[name], 0),
        totals[name],
      )
    }
  }
  assert.ok(totals.clicks > 0 && totals.sales > 0 && microsOf(totals.revenue) > 0)
  assert.deepEqual([days.length, days[0]?.event_date], [153, DAYS.dayFrom])
  assert.deepEqual(
    new Set(publishers.map((row) => row.publisher_name)),
    new Set(['gazette', 'other']),
  )
})

test("a merchant's clicks are shown by result, including unpaid ones", async () => {
  for (const [dayFrom, dayTo] of [
    [DAYS.dayFrom, DAYS.dayTo],
    ['2026-03-02', '2026-03-03'],
  ]) {
    const { clicks } = await overview(`date_from=${dayFrom}&date_to=${dayTo}`)
    const rows = await db.rows<{ reason: number; is_reversed: boolean }>(sql`
      select reason, reversed_at is not null as is_reversed from click
      where merch_id = ${merchId} and day between ${dayFrom} and ${dayTo}`)
    const verdicts = rows.map((row) => reasonName(row.is_reversed ? REASON.reversed : row.reason))
    const expected = new Map<string, number>()
    for (const name of verdicts) expected.set(name, (expected.get(name) ?? 0) + 1)
    assert.deepEqual(new Map(clicks.map((row) => [row.reason, row.clicks])), expected)
    assert.ok(expected.size > 1)
  }
})

test("a day's cost is the sum of its entries, without payments", async () => {
  for (const day of ['2026-03-02', '2026-03-03', '2026-03-07']) {
    const { totals } = await overview(`date_from=${day}&date_to=${day}`)
    const days = { dayFrom: day, dayTo: day, cursor: null, limitRows: 1_000 }
    const { rows } = await listLedgerRows(db, { merchId, ...days })
    const costs = rows.filter(({ pub_id }) => pub_id !== null)
    assert.equal(microsOf(totals.cost) + sum(costs.map((row) => String(row.amount_usd))), 0)
  }
})

test('owed, pending and prepaid amounts add up to the account at any time', async () => {
  const row = await db.row<{ micros: string }>(sql`
    select -sum(amount_micros)::bigint as micros from ledger_line
    where account = 'merchant' and merch_id = ${merchId}`)
  const latest = new Date('2026-08-01T00:00:00Z')
  for (const now of [latest, new Date('2030-01-01T00:00:00Z')]) {
    clock.now = now
    const { owed_usd, not_due_usd, credit_usd } = await overview()
    const account = microsOf(owed_usd) + microsOf(not_due_usd) - microsOf(credit_usd)
    assert.equal(account, Number(row?.micros))
  }
  clock.now = latest
})

test("a merchant's account lists the latest entry first, each one once", async () => {
  const { rows } = await listLedgerRows(db, { merchId, ...DAYS, cursor: null, limitRows: 1_000 })
  const asked = { merchId, ...DAYS, limitRows: 7, isNewestFirst: true }
  const read: AccountEntry[] = []
  for (let cursor: string | null = null; read.length === 0 || cursor !== null; ) {
    const { entries, next }: AccountPage = await readAccountPage(db, { ...asked, cursor })
    read.push(...entries)
    cursor = next
  }
  const page = await own.call<AccountPage>(`merchants/${merchId}/entries/?${RANGE}`)
  assert.deepEqual(page.json.data[0].entries, read)
  const keyOf = ({ entry }: (typeof rows)[number]) =>
    typeof entry === 'object' && entry !== null ? entry.text : null
  assert.deepEqual(
    read.map(({ entry }) => entry),
    rows.map(keyOf).toReversed(),
  )
  assert.equal(
    sum(read.map(({ amount_usd }) => amount_usd)),
    sum(rows.map((row) => String(row.amount_usd))),
  )
  for (const { kind, publisher_name: name } of read) {
    assert.equal(name === null, kind === 'payment' || kind === 'payment_reversal')
  }
})

test('campaigns show their spend and why they do not run', async () => {
  const spent = await one.addCampaign({
    model: 'cpc',
    rate_ppm: null,
    bid_micros: micros(500_000),
    budget_micros: micros(600_000),
  })
  await db.run(sql`
    insert into budget_account (campaign_id, day, cap_micros, settled_micros, escrow_micros)
    values (${spent}, null, 600000, 200000, 0)`)
  const ended = await one.addCampaign({ ends_at: new Date('2026-07-01T00:00:00Z') })
  const awaiting = await one.addCampaign({ budget_micros: micros(600_000) })
  overCap.add(awaiting)
  const { campaigns } = await overview()
  const standings = new Map(campaigns.map((row) => [row.campaign_id, row]))
  assert.equal(standings.get(ended)?.standing, 'ended')
  assert.equal(standings.get(awaiting)?.standing, 'orders_awaited')
  const { standing, spent: amount, budget, bid } = standings.get(spent) ?? {}
  assert.deepEqual([standing, amount, budget, bid], ['budget_spent', '0.20', '0.60', '0.50'])
  const rivals = await db.rows(sql`select from campaign where merch_id <> ${merchId}`)
  const all = await db.rows(sql`select from campaign`)
  assert.ok(rivals.length > 0)
  assert.equal(campaigns.length, all.length - rivals.length, 'none of another merchant’s')
})

test('an expired feed is shown with the reason why it was not fetched again', async () => {
  assert.deepEqual((await overview()).feed, {
    ...{ imported_at: null, is_stale: true, url: null, error: null },
  })
  const at = new Date(clock.now.getTime() - 60_000)
  await db.run(sql`update merchant set feed_imported_at = ${at} where merch_id = ${merchId}`)
  const url = 'https://shop:secret@gazette-shop.example/feed.csv'
  await db.run(sql`
    insert into feed_source (merch_id, url, format, tried_at, error)
    values (${merchId}, ${url}, 'auto', ${at}, 'answered 503')`)
  const { feed } = await overview()
  assert.deepEqual(feed, {
    imported_at: formatTimestamp(at),
    is_stale: false,
    url: feed.url,
    error: 'answered 503',
  })
  assert.ok(!feed.url?.includes('secret'))
})

test("a merchant's refused reports are shown with the reason", async () => {
  const faults = [{ field: 'orders[0].order.value', rule: 'must be a decimal' }]
  const report = { at: clock.now, merchId, endpoint: 'orders', reason: 'bad_request', faults }
  const refusal = { ...report, body: '{}', origin: null, isProven: true }
  await insertRefusal(db, refusal, { kind: 'refused_signed_orders', bytes: 100, bytesMax: 200 })
  const { json } = await own.call<{ reason: string; faults: object[] }>(
    `merchants/${merchId}/refused_reports/`,
  )
  assert.deepEqual(
    json.data.map((entry) => [entry.reason, entry.faults]),
    [['bad_request', faults]],
  )
})

test("only the merchant's user can open its page", async () => {
  const stranger = await dashboard.logIn('other@example.com')
  const nobody = await dashboard.logIn(null)
  for (const page of [`overview/?${RANGE}`, `entries/?${RANGE}`, 'refused_reports/']) {
    const path = `merchants/${merchId}/${page}`
    assert.equal((await stranger.call(path)).status, 403)
    assert.equal((await nobody.call(path)).status, 401)
    assert.equal((await own.call(`merchants/${other.merchant.merch_id}/${page}`)).status, 403)
    assert.equal((await own.call(`merchants/999999/${page}`)).status, 403)
  }
})

test('an invalid range is refused with the wrong field', async () => {
  for (const [query, field] of [
    ['date_from=2026-03-01', 'date_to'],
    ['date_from=2026-03-02&date_to=2026-03-01', 'date_to'],
    ['date_from=2024-01-01&date_to=2026-03-01', 'date_to'],
    [`${RANGE}&cursor=elsewhere`, 'cursor'],
  ] as const) {
    const { status, json } = await own.call(`merchants/${merchId}/entries/?${query}`)
    assert.deepEqual([status, json.error.data.map((fault) => fault.field)], [400, [field]], query)
  }
})
