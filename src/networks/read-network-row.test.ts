import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../platform/errors/api-errors.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import type { NetworkMap } from './network-map.ts'
import { readNetworkReport } from './read-network-report.ts'

const MAP: NetworkMap = {
  ...{ date: ['date'], account: ['account'], advertiser: ['advertiser'], earnings: ['earnings'] },
  ...{ revenue: ['revenue'], clicks: ['clicks'], sales: ['sales'], currency: ['currency'] },
  ...{ sub_id: ['sub'], article_url: ['page'], publisher: ['slug'], order_id: ['order'] },
}

/** What a file with this one row is read as; it earns 1 on 2 March unless it says otherwise. */
function report(own: Record<string, string>, map: NetworkMap = MAP) {
  const cells = { date: '2026-03-02', earnings: '1', ...own }
  const quoted = Object.values(cells).map((cell) => `"${cell}"`)
  return readNetworkReport(`${Object.keys(cells)}\n${quoted}\n`, map)
}

function read(own: Record<string, string>) {
  const { rows, rejected } = report(own)
  return rows[0]?.row ?? assert.fail(JSON.stringify(rejected))
}

const rejection = (own: Record<string, string>) => {
  const [rejected] = report(own).rejected
  return [rejected?.reason, rejected?.column, rejected?.value]
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

test('a row with a cell that cannot be read is left out with the column and the value', () => {
  assert.deepEqual(rejection({ date: 'soon' }), ['date_unreadable', 'date', 'soon'])
  assert.deepEqual(rejection({ earnings: 'much' }), ['amount_unreadable', 'earnings', 'much'])
  assert.deepEqual(rejection({ revenue: 'much' }), ['amount_unreadable', 'revenue', 'much'])
  const ambiguous = { revenue: '1.299', currency: 'EUR' }
  assert.deepEqual(rejection(ambiguous), ['amount_ambiguous', 'revenue', '1.299'])
  for (const count of ['1.5', 'x', '1234567890', '1,23', '1234,567', ',123', '1,234,567,890']) {
    assert.deepEqual(rejection({ clicks: count }), ['count_unreadable', 'clicks', count])
  }
  assert.deepEqual(rejection({ sales: 'x' }), ['count_unreadable', 'sales', 'x'])
  assert.deepEqual(rejection({ currency: 'XYZ' }), ['currency_unknown', 'currency', 'XYZ'])
  assert.deepEqual(rejection({ account: '\0' }).slice(0, 1), ['row_malformed'])
})

test('an empty cell is no count, no amount and dollars; a correction may be negative', () => {
  const known = { clicks: 0, sales: null, earnings: { millionths: 0n, currency: 'USD' } }
  assert.partialDeepStrictEqual(read({ earnings: '', clicks: '', order: 'NULL' }), {
    ...known,
    orderId: null,
  })
  const cells = { clicks: '7', sales: '-1,000', currency: 'eur', earnings: '-1.50' }
  assert.partialDeepStrictEqual(read(cells), {
    ...{ clicks: 7, sales: -1_000, earnings: { millionths: -1_500_000n, currency: 'EUR' } },
  })
})

test('an amount that shows its currency is of that one, and never against the column', () => {
  const of = (cells: Record<string, string>) => {
    const { revenue, earnings } = read(cells)
    return [revenue.currency, earnings.currency]
  }
  assert.deepEqual(of({ earnings: '£10.00' }), ['GBP', 'GBP'])
  assert.deepEqual(of({ earnings: '1', revenue: '(€20.00)' }), ['EUR', 'EUR'])
  assert.deepEqual(of({ earnings: '£10.00', revenue: '$100.00' }), ['USD', 'GBP'])
  assert.deepEqual(of({ earnings: '$10.00', currency: 'CAD' }), ['CAD', 'CAD'])
  assert.deepEqual(of({ earnings: '€10.00', currency: 'eur' }), ['EUR', 'EUR'])
  const against = { earnings: '£10.00', currency: 'USD' }
  assert.deepEqual(rejection(against), ['currency_unknown', 'earnings', '£10.00'])
})

test('a value that cannot be a click id, page or publisher is not read as one', () => {
  const named = (cells: Record<string, string>) => {
    const row = read(cells)
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

test('lines above the header are skipped, and a line that is no row costs itself only', () => {
  const text = [
    ...['\ufeffEarnings Report from 11-01-2026 to 11-05-2026', '', '# paid in euros', 'sep=;'],
    ...['date;earnings;order', '2026-03-02;1;a', '2026-03-02;1;b;c;d', '2026-03-02;2', '"x;y'],
  ]
  const { rows, rejected } = readNetworkReport(text.join('\r\n'), MAP)
  assert.deepEqual(
    rows.map(({ line, row }) => [line, row.earnings.millionths, row.orderId]),
    [
      [6, 1_000_000n, 'a'],
      [8, 2_000_000n, null],
    ],
  )
  assert.deepEqual(
    rejected.map(({ line, reason }) => [line, reason]),
    [
      [7, 'row_malformed'],
      [9, 'row_truncated'],
    ],
  )
  assert.equal(readNetworkReport('date,earnings\r2026-03-02,1\r', MAP).rows.length, 1)
})

test('a file without a header is refused by its first line and the columns that it lacks', () => {
  assert.throws(
    () => readNetworkReport('# report\n\nday,won\n2026-03-02,1\n', MAP),
    (error) =>
      error instanceof ApiError &&
      /line 3 does not look like a header: no column .* date.*"field":"earnings"/.test(
        JSON.stringify(error.data),
      ),
  )
})
