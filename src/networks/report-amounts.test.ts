import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../platform/errors/api-errors.ts'
import { decideAmountStyle, readReportAmount } from './report-amounts.ts'

const read = (text: string, decimal: '.' | ',' | null, usual: string | null = null) => {
  const amount = readReportAmount(text, { decimal }, usual)
  return 'reason' in amount ? amount.reason : amount.millionths
}

test('reads amounts to the millionth as networks write them, and nothing else', () => {
  for (const [text, millionths] of Object.entries({
    ...{ '20': 20_000_000n, '$20.00': 20_000_000n, '€0.5': 500_000n, '.25': 250_000n },
    ...{ '7.': 7_000_000n, '-1,295.658': -1_295_658_000n, '(3.10)': -3_100_000n },
    ...{ '12,345,678': 12_345_678_000_000n, '0.0000019': 1n, '-0.0000019': -1n },
    ...{ '1.123456789': 1_123_456n, '12 USD': 12_000_000n, '(€20.00)': -20_000_000n },
    ...{ '€(20.00)': -20_000_000n, '-$5': -5_000_000n, '$-5': -5_000_000n, '5.00-': -5_000_000n },
    ...{ '−5': -5_000_000n, '49.-': 49_000_000n, "CHF 1'234.50": 1_234_500_000n },
    ...{ '1 234.50': 1_234_500_000n, '1,23,456.78': 123_456_780_000n },
    ...{ '₹3499': 3_499_000_000n, '3.595E1': 35_950_000n },
  })) {
    assert.equal(read(text, '.'), millionths, text)
  }
  for (const text of ['', '.', '-', '$', '1,23', '1.234,56', '1 2', '1-2', '1.2.3']) {
    assert.equal(read(text, '.'), 'amount_unreadable', text)
  }
  assert.equal(read('1.295,97 €', ','), 1_295_970_000n)
  assert.equal(read('4,500', ','), 4_500_000n)
  assert.equal(read('4.500', ','), 4_500_000_000n)
  assert.equal(read('4.50', ','), 'amount_unreadable')
})

test('without proof in the file the currency decides what one separator means, or nothing does', () => {
  assert.equal(read('1.299', null, 'USD'), 1_299_000n)
  assert.equal(read('$1,299', null), 1_299_000_000n)
  assert.equal(read('1.299', null, 'EUR'), 'amount_ambiguous')
  assert.equal(read('€1,299', null, 'USD'), 'amount_ambiguous')
  assert.equal(read('1,29', null, 'EUR'), 1_290_000n)
})

test('one amount decides the decimal separator for the whole file', () => {
  const decide = (texts: string[], columnSeparator = ',', named?: '.' | ',') => {
    const cells = texts.map((text, index) => ({ line: index + 2, text }))
    return decideAmountStyle(cells, { columnSeparator, named }).decimal
  }
  assert.equal(decide(['12,959', '4,500', '0,045', '7']), ',')
  assert.equal(decide(['4,500', '1295,97 €']), ',')
  assert.equal(decide(['4,500', '1.50']), '.')
  assert.equal(decide(['1,234,567']), '.')
  assert.equal(decide(['1.234.567']), ',')
  assert.equal(decide(['1.234', 'call us 1,50', '1.2.3']), null)
  assert.equal(decide(['4,500'], ';'), ',')
  assert.equal(decide(['4,500', '4.500'], ';'), null)
  assert.equal(decide(['0,5', '0.5'], ';', '.'), '.')
  assert.throws(
    () => decide(['7', '0,045', '1,234.50']),
    (error) => error instanceof ApiError && /line 3 .*line 4 /.test(JSON.stringify(error.data)),
  )
})
