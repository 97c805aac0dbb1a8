import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { foldBusyLog } from '../../test/support/busy-log.ts'
import { testDatabase } from '../../test/support/database.ts'
import { startQuietHttp } from '../../test/support/quiet-http.ts'
import { operationRoutes } from '../accounts/operation-routes.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { readAccount, sumNotDue } from '../ledger/debt-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { invoiceOperations } from './invoice-operations.ts'
import type { InvoiceDetail } from './invoice-record.ts'

const NOW = new Date('2026-08-01T00:00:00Z')
const db = await testDatabase()
const { one } = await foldBusyLog({ after }, db)
const http = await startQuietHttp({ after })
const now = () => NOW
const guard = { db, brandWords: ['service'], limits: null, baseUrl: 'http://127.0.0.1', now }
await http.register(operationRoutes({ db, keys: makeKeyGuard(guard), now }, invoiceOperations))
const { merch_id: merchId } = one.merchant
await updateMerchant(db, { merchId, changes: { uid: one.publisher.uid } })

const get = (path = '', headers: object = {}) =>
  http.inject({
    url: `/api/v1/merchants/${merchId}/invoices/${path}`,
    headers: { ...one.headers, ...headers },
  })
const micros = (dollars: string): bigint => {
  const [whole = '0', fraction = ''] = dollars.replace('-', '').split('.')
  const amount = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
  return dollars.startsWith('-') ? -amount : amount
}
const sum = (amounts: readonly string[]) => amounts.reduce((total, one) => total + micros(one), 0n)

const { data: months } = (await get()).json<{ data: InvoiceDetail[] }>()
const invoices: InvoiceDetail[] = []
for (const { month } of months.toReversed()) {
  const answer = await get(`${month}/`)
  assert.equal(answer.statusCode, 200, answer.body)
  invoices.push(answer.json().data[0])
}

test('the months of a merchant are its ledger, to the micro-dollar', async () => {
  const row = await db.row<{ cost: string; paid: string; balance: string }>(sql`
    select (-sum(amount_micros) filter (where pub_id <> 0))::text as cost,
      sum(amount_micros) filter (where pub_id = 0)::text as paid,
      (-sum(amount_micros))::text as balance
    from ledger_line where account = 'merchant' and merch_id = ${merchId}`)
  assert.equal(sum(invoices.map(({ cost_usd }) => cost_usd)), BigInt(row?.cost ?? 0))
  assert.equal(sum(invoices.map(({ paid_usd }) => paid_usd)), BigInt(row?.paid ?? 0))
  assert.equal(micros(invoices.at(-1)?.closing_usd ?? ''), BigInt(row?.balance ?? 0))
  assert.ok(invoices.length >= 3 && BigInt(row?.paid ?? 0) !== 0n, 'there is something to add up')
})

test('each month begins with the closing balance of the one before, and its lines add up to its sums', () => {
  let closing = '0.00'
  for (const invoice of invoices) {
    const { month, lines } = invoice
    assert.equal(invoice.opening_usd, closing, month)
    closing = invoice.closing_usd
    for (const name of ['clicks_usd', 'orders_usd', 'returned_usd', 'cost_usd'] as const) {
      assert.equal(sum(lines.map((line) => line[name])), micros(invoice[name]), `${month} ${name}`)
    }
    const { opening_usd, cost_usd, paid_usd, due_usd, not_due_usd, credit_usd } = invoice
    const balance = micros(opening_usd) + micros(cost_usd) - micros(paid_usd)
    assert.equal(balance, micros(closing), month)
    assert.equal(micros(due_usd) + micros(not_due_usd) - micros(credit_usd), balance, month)
  }
  const campaigns = invoices.flatMap(({ lines }) => lines.map(({ campaign_id }) => campaign_id))
  assert.ok(campaigns.some((id) => id !== null))
})

test('the amount due of a month equals that of the account', async () => {
  const until = NOW
  const account = await readAccount(db, { merchId, until })
  const { costMicros } = await sumNotDue(db, { merchId, until })
  const [last] = invoices.slice(-1)
  assert.equal(
    micros(last?.closing_usd ?? ''),
    micros(account.owed_usd) + costMicros - micros(account.credit_usd),
  )
})

test('a month is a file and a page to print as well', async () => {
  const invoice = invoices.find(({ lines }) => lines.length > 1)
  assert.ok(invoice)
  const file = await get(`${invoice.month}/`, { accept: 'text/csv' })
  assert.match(String(file.headers['content-disposition']), /souk_invoice_I\d+-\d{6}\.csv/)
  const rows = parse<Record<string, string>>(file.body, { columns: true })
  const lines = rows.filter(({ item }) => item === 'line')
  assert.equal(lines.length, invoice.lines.length)
  assert.equal(sum(lines.map(({ amount_usd = '' }) => amount_usd)), micros(invoice.cost_usd))
  assert.equal(rows.find(({ item }) => item === 'closing')?.amount_usd, invoice.closing_usd)
  const page = await get(`${invoice.month}/`, { accept: 'text/html,application/xhtml+xml' })
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  assert.match(page.body, new RegExp(`<h1>Invoice ${invoice.invoice_id}</h1>`))
})

test('months are listed newest first by pages, and one without entries is a 404', async () => {
  const first = (await get('?limit=1')).json()
  assert.equal(first.data[0].month, months[0]?.month)
  const second = (await get(`?limit=1&cursor=${first.next_cursor}`)).json()
  assert.equal(second.data[0].month, months[1]?.month)
  assert.equal((await get('2020-01/')).statusCode, 404)
  assert.equal((await get('2020-13/')).statusCode, 400)
})
