import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StatementDetail } from './schema.ts'
import { statementPage } from './statement-page.ts'

const STATEMENT: StatementDetail = {
  statement_id: '7-2026-03',
  pub_id: 7,
  month: '2026-03',
  opening_usd: '-0.0041',
  released_usd: '1234567.894235',
  taken_back_usd: '12.34',
  payout_usd: '1234555.55',
  closing_usd: '0.000135',
  issued_at: '2026-04-02T00:30:00Z',
  merchants: [
    { merch_id: 1, merchant: 'Mugs', released_usd: '1234567.894235', taken_back_usd: '12.34' },
  ],
}

test('the lines of a printed statement add up to the last one, to the micro-dollar', () => {
  const page = statementPage(STATEMENT, 'Daily')
  const sums = page.slice(page.indexOf('class="sums"'))
  const shown = [...sums.matchAll(/<td>([−\d,.]+)<\/td>/g)].map(([, text = '']) => text)
  assert.deepEqual(shown, [
    ...['−0.004100', '1,234,567.894235', '−12.340000', '−1,234,555.550000', '0.000135'],
  ])
  const exact = shown.map((text) => BigInt(text.replace('−', '-').replace(/[,.]/g, '')))
  const closing = exact.pop()
  assert.equal(
    exact.reduce((total, amount) => total + amount),
    closing,
  )
})

test('a reversal that arrived too late for this month lowers what was released', () => {
  const late = { merch_id: 0, merchant: 'Late', released_usd: '-5.00', taken_back_usd: '-2.00' }
  const page = statementPage({ ...STATEMENT, merchants: [late] }, 'Daily')
  assert.match(page, /<td>−5\.000000<\/td>\s*<td>2\.000000<\/td>/)
})

test('whole cents are printed as cents', () => {
  const cents = { ...STATEMENT, opening_usd: '0.00', released_usd: '9.50', closing_usd: '0.00' }
  const page = statementPage({ ...cents, merchants: [] }, 'Daily')
  assert.match(page, /Released this month<\/th><td>9\.50<\/td>/)
})

test('a printed statement says why a balance is paid out or carried over, and where its amounts are listed', () => {
  const page = statementPage(STATEMENT, 'Daily')
  assert.match(page, /A balance of\s\$50\.00 or more is paid out in whole cents/)
  assert.match(page, /payments report lists each amount/)
})

test("a month without a merchant's payment says so", () => {
  const page = statementPage({ ...STATEMENT, merchants: [] }, 'Daily')
  assert.match(page, /No merchant’s payment released or took back anything this month/)
  assert.doesNotMatch(page, /<thead>/)
})

test('right-to-left names do not turn the text beside them', () => {
  const [mugs] = STATEMENT.merchants
  const merchants = mugs === undefined ? [] : [{ ...mugs, merchant: 'متجر 5' }]
  const page = statementPage({ ...STATEMENT, merchants }, 'صحيفة 7')
  assert.match(page, /<bdi>صحيفة 7<\/bdi> · March/)
  assert.match(page, /<th scope="row"><bdi>متجر 5<\/bdi><\/th><td>/)
})

test('a statement writes its month and time for people, in UTC', () => {
  const page = statementPage(STATEMENT, 'Daily')
  assert.match(page, /<main>\s*<h1>.*Daily<\/bdi> · March 2026 · issued 2 April 2026 at 00:30 UTC/s)
})
