import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { runCommand } from '../../test/support/commands.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { MODEL, type StoredEvent } from '../events/event.ts'
import { sql } from '../platform/postgres/sql.ts'

const CLICKED_MS = Date.UTC(2026, 3, 10, 12)
const NOW = new Date('2026-04-13T12:00:00Z')
const db = await testDatabase()
const log = openFoldedLog({ after }, db)
const world = await makePublisherWorld(db)
const merchId = world.merchant.merch_id
const pubId = world.publisher.pub_id
const { auctionId } = await world.addArticle('Ten mugs')
const events = new MoneyEvents()
const folder = await temporaryFolder({ after }, 'souk-payments-')

async function souk(...args: string[]) {
  const { code, out, err } = await runCommand([...args, '--json'], { db, now: NOW })
  return { code, err, json: out === '' ? null : JSON.parse(out) }
}

function record(merchant: number, amount: string, on: string, reference: string) {
  const payment = ['--amount', amount, '--on', on, '--reference', reference]
  return souk('payment', 'record', '--merchant', String(merchant), ...payment)
}

/** A click for forty cents, which fell due at the end of its day. */
async function recordClick(name: string, fields: Partial<StoredEvent>): Promise<void> {
  const paid = { model: MODEL.cpc, termsAmount: 400_000, reservedMicros: 400_000 }
  await log.record(events.click(name, CLICKED_MS, { pubId, auctionId, ...paid, ...fields }))
}

test('a payment is recorded once and shows what it releases per publisher', async () => {
  await recordClick('paid', { merchId })
  const { code, json } = await record(merchId, '120.50', '2026-04-12', 'march')
  assert.equal(code, 0)
  assert.deepEqual(json.releases, [{ pub_id: pubId, earnings_usd: '0.40', items: 1 }])
  assert.deepEqual([json.amount_usd, json.owed_usd, json.credit_usd], ['120.50', '0.00', '120.10'])
  for (const [amount, on, reference] of [
    ['1', '2026-04-12', 'march'],
    ['0', '2026-04-12', 'april'],
    ['1', '2026-05-01', 'april'],
    ['1', '2026-04-12', ' '],
  ] as const) {
    const refused = await record(merchId, amount, on, reference)
    assert.equal(refused.code, 1, `${amount} ${on} ${reference}`)
  }
})

test('a payment may have the date that has started in the far east', async () => {
  const made = await souk('merchant', 'create', '--name', 'Auckland', '--domain', 'kiwi.example')
  const { code, err, json } = await record(made.json.merch_id, '1', '2026-04-14', 'at noon UTC')
  assert.equal(code, 0, err)
  assert.equal(json.paid_on, '2026-04-14')
})

test("a payment's day, reference and reason are accepted up to their limits", async () => {
  const made = await souk('merchant', 'create', '--name', 'Border', '--domain', 'border.example')
  const shop: number = made.json.merch_id
  for (const [on, rule] of [
    ['2026-02-30', /must be a date/],
    ['2026-3-2', /must be a date/],
    ['x2026-03-02', /must be a date/],
    ['2026-03-02T00:00:00Z', /must be a date/],
    ['2026-04-15', /future/],
  ] as const) {
    assert.match((await record(shop, '1', on, 'r')).err, rule, on)
  }
  const long = 'r'.repeat(100)
  assert.match((await record(shop, '1', '2026-04-13', `${long}r`)).err, /reference/)
  assert.equal((await record(shop, '1', '2026-04-13', long)).code, 0, 'today')
  const reverse = (reason: string) =>
    souk(
      ...['payment', 'reverse', '--merchant', String(shop), '--reference', long],
      ...['--reason', reason],
    )
  assert.match((await reverse('b'.repeat(256))).err, /reason: 1 to 255/)
  assert.equal((await reverse('b'.repeat(255))).code, 0)
})

test("money meets a day's clicks only when the day is over", async () => {
  const made = await souk('merchant', 'create', '--name', 'Early', '--domain', 'early.example')
  const shop: number = made.json.merch_id
  await log.record(
    events.click('today', NOW.getTime() - 3_600_000, {
      ...{ pubId, auctionId, merchId: shop, model: MODEL.cpc },
      ...{ termsAmount: 400_000, reservedMicros: 400_000 },
    }),
  )
  const { releases, owed_usd, credit_usd } = (await record(shop, '5', '2026-04-12', 'ahead')).json
  assert.deepEqual([releases, owed_usd, credit_usd], [[], '0.00', '5.00'])
})

test('of two concurrent payments with one reference, one is recorded and the other refused', async () => {
  const twice = () => record(merchId, '5.00', '2026-04-12', 'twice')
  const both = await Promise.all([twice(), twice()])
  const [taken, other] = both.toSorted((a, b) => a.code - b.code)
  const rows = await db.rows(sql`
    select event_id::text as id from merchant_payment where reference = 'twice'`)
  assert.deepEqual([taken?.code, rows], [0, [{ id: taken?.json.payment_id }]])
  assert.match(other?.err ?? '', /recorded already/)
})

test('a payment is reversed once: it is owed again, and the earnings that it released stay released', async () => {
  const made = await souk('merchant', 'create', '--name', 'Owing', '--domain', 'owing.example')
  const shop: number = made.json.merch_id
  await recordClick('owed', { merchId: shop })
  const merchant = ['--merchant', String(shop)]
  const pay = (amount: string, reference: string) => record(shop, amount, '2026-04-12', reference)
  const reverse = (reference: string, reason: string) =>
    souk('payment', 'reverse', ...merchant, '--reference', reference, '--reason', reason)
  const paid = (await pay('500', 'direct debit')).json
  assert.deepEqual([paid.owed_usd, paid.credit_usd, paid.releases.length], ['0.00', '499.60', 1])
  assert.match((await reverse('unheard of', 'bounced')).err, /no payment unheard of/)
  assert.match((await reverse('direct debit', ' ')).err, /reason/)
  assert.deepEqual((await reverse(' direct debit ', 'bounced')).json, {
    ...{ payment_id: paid.payment_id, merch_id: shop, reference: 'direct debit' },
    ...{ amount_usd: '500.00', reason: 'bounced', owed_usd: '0.40', credit_usd: '0.00' },
  })
  assert.match((await reverse('direct debit', 'bounced')).err, /at most once/)
  assert.match((await pay('0.40', 'direct debit')).err, /recorded already/)
  const again = (await pay('0.40', 'transfer')).json
  assert.deepEqual([again.owed_usd, again.credit_usd, again.releases], ['0.00', '0.00', []])
  const listed = (await souk('payment', 'list', ...merchant)).json
  assert.deepEqual(
    listed.map((row: Record<string, unknown>) => [
      row.reference,
      row.amount_usd,
      row.reverse_reason,
    ]),
    [
      ['transfer', '0.40', null],
      ['direct debit', '500.00', 'bounced'],
    ],
  )
  const out = join(folder, 'account', 'owing.csv')
  const days = ['--from', '2026-04-01', '--to', '2026-04-30']
  const written = (await souk('merchant', 'ledger', '--id', String(shop), ...days, '--out', out))
    .json
  assert.deepEqual([written.rows, written.owed_usd, written.credit_usd], [4, '0.00', '0.00'])
  const lines: Record<string, string>[] = parse(await readFile(out), { columns: true })
  assert.deepEqual(
    lines.map(({ kind, amount_usd, payment_reference }) => [kind, amount_usd, payment_reference]),
    [
      ['click', '-0.40', ''],
      ['payment', '500.00', 'direct debit'],
      ['payment_reversal', '-500.00', 'direct debit'],
      ['payment', '0.40', 'transfer'],
    ],
  )
})

test("reversing a bounced payment does not affect the merchant's others", async () => {
  const made = await souk('merchant', 'create', '--name', 'Paying', '--domain', 'paying.example')
  const shop: number = made.json.merch_id
  for (const reference of ['one', 'two']) await record(shop, '5.00', '2026-04-12', reference)
  const merchant = ['--merchant', String(shop)]
  const reverse = (reference: string) =>
    souk('payment', 'reverse', ...merchant, '--reference', reference, '--reason', 'bounced')
  const { json } = await reverse('one')
  assert.deepEqual([json.reference, json.credit_usd], ['one', '5.00'])
  const listed: Record<string, unknown>[] = (await souk('payment', 'list', ...merchant)).json
  const reasons = listed.map(({ reference, reverse_reason }) => [reference, reverse_reason])
  assert.deepEqual(Object.fromEntries(reasons), { one: 'bounced', two: null })
  const both = await Promise.all([reverse('two'), reverse('two')])
  const [taken, other] = both.toSorted((a, b) => a.code - b.code)
  assert.deepEqual([taken?.json.credit_usd, other?.code], ['0.00', 1])
  assert.match(other?.err ?? '', /at most once/)
  assert.deepEqual(await db.rows(sql`select from unfolded_event`), [], 'the fold takes both')
})

test('the ledger is written whole: each entry sums to zero, and balances continue from day to day', async () => {
  const out = join(folder, 'ledger.csv')
  type Account = Record<'account' | 'opening_usd' | 'change_usd' | 'closing_usd', string>
  const ledger = async (from: string, to: string): Promise<{ rows: number; accounts: Account[] }> =>
    (await souk('ledger', '--from', from, '--to', to, '--out', out)).json
  const all = await ledger('2026-04-01', '2026-04-30')
  const lines: Record<string, string>[] = parse(await readFile(out), { columns: true })
  const stored = await db.rows(sql`select from ledger_line`)
  assert.deepEqual([all.rows, lines.length], [stored.length, stored.length])
  const sumsBy = (column: string) =>
    [...Map.groupBy(lines, (line) => line[column])].map(([key, own]) => {
      return [key, own.reduce((sum, line) => sum + microsOf(line.amount_usd), 0)] as const
    })
  assert.deepEqual([...new Set(sumsBy('entry').map(([, sum]) => sum))], [0])
  const closing = all.accounts.map((one) => [one.account, microsOf(one.closing_usd)] as const)
  const accounts = closing.map(([account]) => account)
  assert.deepEqual(accounts, ['merchant', 'publisher', 'platform', 'bank'])
  assert.deepEqual(new Map(closing), new Map(sumsBy('account')))
  const before = await ledger('2026-04-01', '2026-04-10')
  const since = await ledger('2026-04-11', '2026-04-30')
  assert.ok(before.rows > 0 && since.rows > 0)
  assert.equal(before.rows + since.rows, all.rows)
  for (const [at, { account, ...one }] of since.accounts.entries()) {
    assert.equal(one.opening_usd, before.accounts[at]?.closing_usd, account)
    assert.equal(one.closing_usd, all.accounts[at]?.closing_usd, account)
    const [opening, change] = [microsOf(one.opening_usd), microsOf(one.change_usd)]
    assert.equal(opening + change, microsOf(one.closing_usd), account)
  }
  const { accounts: none } = await ledger('2026-05-01', '2026-05-31')
  assert.deepEqual([...new Set(none.map(({ change_usd }) => change_usd))], ['0.00'])
})

function microsOf(dollars: string | undefined): number {
  return Math.round(Number(dollars) * 1_000_000)
}
