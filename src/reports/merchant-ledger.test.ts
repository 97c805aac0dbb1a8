import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { foldBusyLog } from '../../test/support/busy-log.ts'
import { testDatabase, untilWaiting } from '../../test/support/database.ts'
import { startQuietHttp } from '../../test/support/quiet-http.ts'
import { shortenTimeouts } from '../../test/support/short-timeouts.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { matchMerchantDebts } from '../ledger/debt-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { listLedgerRows } from './merchant-ledger-store.ts'
import { merchantRoutes } from './merchant-routes.ts'

const NOW = new Date('2026-08-01T00:00:00Z')
/** The busy log's days, in ranges within the limit. */
const RANGES = [
  ['2026-03-01', '2026-05-31'],
  ['2026-06-01', '2026-07-31'],
] as const
const microsOf = (dollars: unknown) => Math.round(Number(dollars) * 1_000_000)
type Row = Readonly<Record<string, string | number | null>>

const db = await testDatabase()
const { one, other } = await foldBusyLog({ after }, db)
const http = await startQuietHttp({ after })
const keys = makeKeyGuard({
  db,
  brandWords: ['service'],
  limits: null,
  baseUrl: 'http://127.0.0.1',
  now: () => NOW,
})
await http.register(merchantRoutes({ db, keys, now: () => NOW }))
const { merch_id: merchId } = one.merchant
await updateMerchant(db, { merchId, changes: { uid: one.publisher.uid } })

function get(query: string, { id = merchId, headers = one.headers as object } = {}) {
  const url = `/api/v1/merchants/${id}/ledger/?${query}`
  return http.inject({ url, headers: { ...headers } })
}

async function everyRow(limit: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const [from, to] of RANGES) {
    let cursor = ''
    do {
      const page = await get(`date_from=${from}&date_to=${to}&limit=${limit}${cursor}`)
      assert.equal(page.statusCode, 200, page.body)
      const { next, rows: more } = page.json()
      rows.push(...more)
      cursor = next === null ? '' : `&cursor=${encodeURIComponent(next)}`
    } while (cursor !== '')
  }
  return rows
}

test("a merchant's account has every entry once, and their sum is its balance", async () => {
  const rows = await everyRow(1_000)
  const entries = await db.row(sql`
    select count(*)::int as count, sum(amount_micros)::text as micros from ledger_line
    where account = 'merchant' and merch_id = ${merchId}`)
  const micros = rows.reduce((sum, row) => sum + microsOf(row.amount_usd), 0)
  assert.deepEqual({ count: rows.length, micros: String(micros) }, entries)
  assert.deepEqual([...new Set(rows.map(({ kind }) => String(kind)))].sort(), [
    'click',
    'order',
    'payment',
    'payment_reversal',
    'return',
    'reversal',
    'revision',
  ])
  assert.deepEqual(await everyRow(7), rows, 'however it is cut into pages')
})

test("a line without its entry appears in the merchant's account and does not end it", async (t) => {
  const db = await testDatabase(t)
  await db.run(sql`
    insert into ledger_line
      (transaction_id, line, account, day, merch_id, pub_id, article_id, amount_micros)
    select n, 1, 'merchant', '2026-03-02', 3, 5, 0, n from generate_series(0, 5) as n`)
  await db.run(sql`
    insert into ledger_transaction (idempotency_key, kind, day, event_id, at)
    select 'payment:3:' || n, 'payment', '2026-03-02', n, ${NOW} from generate_series(1, 5) as n`)
  const days = { merchId: 3, dayFrom: '2026-03-01', dayTo: '2026-03-31' }
  const first = await listLedgerRows(db, { ...days, cursor: null, limitRows: 4 })
  const second = await listLedgerRows(db, { ...days, cursor: first.next, limitRows: 4 })
  const rows = [...first.rows, ...second.rows]
  assert.deepEqual(
    rows.map(({ entry }) => (entry as { text: string | null }).text),
    [null, ...[1, 2, 3, 4, 5].map((n) => `payment:3:${n}`)],
  )
  assert.deepEqual([rows[0]?.kind, rows[0]?.at, rows[0]?.click_id], [null, null, null])
})

test("a merchant's account has no entry of another merchant", async () => {
  const { merch_id: id } = other.merchant
  await updateMerchant(db, { merchId: id, changes: { uid: other.publisher.uid } })
  const [[date_from, date_to]] = RANGES
  const query = `date_from=${date_from}&date_to=${date_to}`
  const page = await get(query, { id, headers: other.headers })
  assert.deepEqual(page.json(), {
    ...{ merch_id: id, owed_usd: '0.00', credit_usd: '0.00', next: null, rows: [] },
  })
  await updateMerchant(db, { merchId: id, changes: { uid: null } })
})

test("every entry names its click with the auction's result, its order, or its payment", async () => {
  for (const row of await everyRow(1_000)) {
    const { kind, click_id, auction_result_number, campaign_id, order_id, payment_reference } = row
    const isClick = kind === 'click' || kind === 'reversal'
    const isPayment = kind === 'payment' || kind === 'payment_reversal'
    assert.equal(/^[0-9a-f]{32}$/.test(String(click_id)), isClick, JSON.stringify(row))
    assert.equal(/^[0-9a-f]{32}$/.test(String(auction_result_number)), isClick)
    assert.equal(typeof campaign_id === 'number', isClick)
    assert.equal(payment_reference !== null, isPayment)
    assert.equal(order_id !== null, !isClick && !isPayment)
  }
  const rows = await everyRow(1_000)
  assert.ok(rows.some(({ order_id }) => order_id === 'odd/ö'))
})

test('the account shows what is due and not covered, also as CSV', async () => {
  const [[from, to]] = RANGES
  const range = `date_from=${from}&date_to=${to}`
  const page = (await get(range)).json()
  const { open, creditMicros } = await matchMerchantDebts(db, { merchId, until: NOW })
  const owed = open.reduce((sum, { owedMicros }) => sum + owedMicros, 0)
  assert.deepEqual([microsOf(page.owed_usd), microsOf(page.credit_usd)], [owed, creditMicros])
  const file = await get(`${range}&format=csv`)
  assert.match(String(file.headers['content-type']), /^text\/csv/)
  const lines: Record<string, string>[] = parse(file.body, { columns: true })
  const asText = (row: Row) =>
    Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, String(cell ?? '')]))
  assert.deepEqual(lines, page.rows.map(asText))
})

test("a merchant's account is open only to its user's key, for a valid range", async () => {
  const march = 'date_from=2026-03-01&date_to=2026-03-31'
  assert.equal((await get(march, { headers: {} })).statusCode, 401)
  assert.equal((await get(march, { headers: other.headers })).statusCode, 403)
  assert.equal((await get(march, { id: other.merchant.merch_id })).statusCode, 403)
  assert.equal((await get(march, { id: 999_999 })).statusCode, 404)
  for (const query of [
    '',
    'date_from=2026-03-02&date_to=2026-03-01',
    'date_from=2026-01-01&date_to=2026-12-31',
    `${march}&cursor=tomorrow`,
    `${march}&limit=0`,
  ]) {
    assert.equal((await get(query)).statusCode, 400, query)
  }
})

test('a request that waited too long for an account gets Retry-After, and its query never runs', async (t) => {
  shortenTimeouts(t)
  const hasty = await startQuietHttp({ after })
  await hasty.register(merchantRoutes({ db, keys, now: () => NOW }))
  const [from, to] = RANGES[0]
  const url = `/api/v1/merchants/${merchId}/ledger/?date_from=${from}&date_to=${to}`
  const ask = (format: string) =>
    hasty.inject({ url: `${url}&format=${format}`, headers: { ...one.headers } })
  const first = await db.transaction(async (tx) => {
    await tx.run(sql`lock table ledger_line in access exclusive mode`)
    const asked = ask('json')
    await untilWaiting(db, asked)
    for (const format of ['json', 'csv']) assert.equal((await ask(format)).statusCode, 503)
    return { asked }
  })
  assert.equal((await first.asked).statusCode, 200)
})
