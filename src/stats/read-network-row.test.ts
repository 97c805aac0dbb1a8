import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOfUrl } from '../platform/url.ts'
import { readNetworkRow } from './read-network-row.ts'

const COLUMNS = { date: 'date', account: 'account', advertiser: 'advertiser', earnings: 'earnings' }

function read(cells: Record<string, string>) {
  const row = readNetworkRow(
    { line: 2, cells: { date: '2026-03-02', earnings: '1', ...cells } },
    COLUMNS,
  )
  if (typeof row === 'string') throw new Error(row)
  return row
}

test('names too long for the database are cut, between two characters', () => {
  const { account, advertiser } = read({
    account: '鼎'.repeat(3_000),
    advertiser: `x${'😀'.repeat(3_000)}`,
  })
  assert.equal(account, '鼎'.repeat(255))
  assert.equal(advertiser?.isWellFormed(), true)
  assert.equal(advertiser?.length, 2_048)
})

test('a row with a cell that cannot be read is left out, and says why', () => {
  const columns = { ...COLUMNS, revenue: 'revenue', clicks: 'clicks', sales: 'sales' }
  const reasonOf = (cells: Record<string, string>) =>
    readNetworkRow(
      { line: 2, cells: { date: '2026-03-02', earnings: '1', ...cells } },
      { ...columns, currency: 'currency' },
    )
  assert.equal(reasonOf({ date: 'soon' }), 'date_unreadable')
  assert.equal(reasonOf({ earnings: 'much' }), 'amount_unreadable')
  assert.equal(reasonOf({ revenue: 'much' }), 'amount_unreadable')
  for (const count of ['1.5', 'x', '1234567890']) {
    assert.equal(reasonOf({ clicks: count }), 'count_unreadable', count)
    assert.equal(reasonOf({ sales: count }), 'count_unreadable', count)
  }
  assert.equal(reasonOf({ currency: 'XYZ' }), 'currency_unknown')
})

test('an empty cell is no count, no amount and dollars; a correction may be negative', () => {
  const columns = { ...COLUMNS, clicks: 'clicks', sales: 'sales', currency: 'currency' }
  const row = (cells: Record<string, string>) =>
    readNetworkRow({ line: 2, cells: { date: '2026-03-02', ...cells } }, columns)
  const known = { clicks: 0, sales: null, currency: 'USD', earningsMillionths: 0n }
  assert.partialDeepStrictEqual(row({}), known)
  const told = { clicks: 7, sales: -1, currency: 'EUR', earningsMillionths: -1_500_000n }
  const cells = { clicks: '7', sales: '-1', currency: 'eur', earnings: '-1.50' }
  assert.partialDeepStrictEqual(row(cells), told)
})

test('a count is read with its thousands set apart, as an amount is', () => {
  const columns = { ...COLUMNS, clicks: 'clicks', sales: 'sales' }
  const row = (clicks: string, sales: string) =>
    readNetworkRow(
      { line: 2, cells: { date: '2026-03-02', earnings: '$1,295.66', clicks, sales } },
      columns,
    )
  assert.partialDeepStrictEqual(row('1,234', '-1,000'), { clicks: 1_234, sales: -1_000 })
  assert.partialDeepStrictEqual(row('123,456,789', ''), { clicks: 123_456_789, sales: null })
  for (const count of ['1,23', '1234,567', ',123', '1,234,567,890']) {
    assert.equal(row(count, ''), 'count_unreadable', count)
  }
})

test('an amount that shows its currency is of that one, and never against the column', () => {
  const columns = { ...COLUMNS, revenue: 'revenue', currency: 'currency' }
  const currencyOf = (cells: Record<string, string>) => {
    const row = readNetworkRow({ line: 2, cells: { date: '2026-03-02', ...cells } }, columns)
    return typeof row === 'string' ? row : row.currency
  }
  assert.equal(currencyOf({ earnings: '£10.00' }), 'GBP')
  assert.equal(currencyOf({ earnings: '1', revenue: '(€20.00)' }), 'EUR')
  assert.equal(currencyOf({ earnings: '$10.00' }), 'USD')
  assert.equal(currencyOf({ earnings: '$10.00', currency: 'CAD' }), 'CAD')
  assert.equal(currencyOf({ earnings: '€10.00', currency: 'eur' }), 'EUR')
  assert.equal(currencyOf({ earnings: '£10.00', currency: 'USD' }), 'currency_unknown')
  assert.equal(currencyOf({ earnings: '£10.00', revenue: '$100.00' }), 'currency_unknown')
})

test('a row names its click, its page and its publisher only by what can be one', () => {
  const columns = { ...COLUMNS, sub_id: 'sub', article_url: 'page', publisher: 'slug' }
  const named = (cells: Record<string, string>) => {
    const row = readNetworkRow({ line: 2, cells: { date: '2026-03-02', ...cells } }, columns)
    if (typeof row === 'string') throw new Error(row)
    return [row.clickId, row.urlKey?.toString('hex') ?? null, row.slug]
  }
  const clickId = '00c0ffee'.repeat(4)
  const page = 'https://gazette.example/a'
  const key = keyOfUrl(new URL(page)).toString('hex')
  assert.deepEqual(named({}), [null, null, null])
  assert.deepEqual(named({ sub: clickId.toUpperCase(), page, slug: 'Gazette' }), [
    ...[clickId, key, 'gazette'],
  ])
  for (const sub of [`${clickId}0`, `x${clickId}`, clickId.slice(1), 'home']) {
    assert.deepEqual(named({ sub, page: 'page 3' }), [null, null, null], sub)
  }
})
