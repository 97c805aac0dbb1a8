import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import {
  dollarRate,
  formatMinor,
  isRate,
  parseMinor,
  pickRate,
  type Rate,
  toMicros,
} from './currency.ts'

interface Case {
  minor: number
  currency: string
  exponent: number
  order_day: string
  rate_date?: string
  micro_usd?: number
  held?: boolean
}

interface Tie {
  minor: number
  exponent: number
  rate: string
  micro: number
}

/** The rates of one currency in the sample: units per euro, dollars among them. */
function readRates(path: string, currency: string): Rate[] {
  const [head = '', ...lines] = readFileSync(path, 'utf8').trim().split('\n')
  const column = head.split(',').indexOf(currency)
  return lines.map((line) => {
    const cells = line.split(',')
    const usdPerBase = cells[1] ?? ''
    const currencyPerBase = currency === 'EUR' ? '1' : (cells[column] ?? '')
    return { rateId: `ecb ${cells[0]}`, day: cells[0] ?? '', usdPerBase, currencyPerBase }
  })
}

test('converts orders as the golden table says, on weekends and with old rates too (data kit)', (t) => {
  const path = kitPath(t, 'oracles/currency-conversion.json')
  const ratesPath = kitPath(t, 'oracles/fx-ecb-sample.csv')
  if (path === null || ratesPath === null) return
  const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: Case[] }
  assert.equal(cases.length, 18)
  for (const { minor, currency, exponent, order_day, rate_date, micro_usd, held } of cases) {
    const rate = pickRate(readRates(ratesPath, currency), order_day)
    assert.equal(rate?.day, rate_date)
    const converted = rate === null ? undefined : toMicros(BigInt(minor), exponent, rate)
    assert.equal(converted, micro_usd, `${minor} ${currency} on ${order_day}`)
    assert.equal(rate === null, held === true)
  }
})

test('rounds a tie to the even micro-dollar, also below zero (data kit)', (t) => {
  const path = kitPath(t, 'oracles/currency-conversion.json')
  if (path === null) return
  const { ties_to_even } = JSON.parse(readFileSync(path, 'utf8')) as { ties_to_even: Tie[] }
  for (const { minor, exponent, rate, micro } of ties_to_even) {
    const pair = { usdPerBase: rate, currencyPerBase: '1' }
    assert.equal(toMicros(BigInt(minor), exponent, pair), micro)
  }
})

test('amounts survive writing and reading with 0, 2 and 3 decimals (P48)', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 14n }),
      fc.constantFrom(0, 2, 3),
      (minor, exponent) => {
        const written = formatMinor(minor, exponent)
        assert.match(written, /^(0|[1-9]\d*)(\.\d+)?$/)
        assert.equal(parseMinor(written, exponent), minor)
        const dollars = toMicros(minor, exponent, dollarRate('2026-01-01'))
        const exact = minor * 10n ** BigInt(6 - exponent)
        const isSafe = exact <= BigInt(Number.MAX_SAFE_INTEGER)
        assert.equal(dollars, isSafe ? Number(exact) : null)
      },
    ),
  )
})

test('refuses an amount with more decimals than its currency has, except zeros', () => {
  assert.equal(parseMinor('12800.00', 0), 12_800n)
  assert.equal(parseMinor('12.5', 0), null)
  assert.equal(parseMinor('1.234', 3), 1234n)
  assert.equal(parseMinor('1.234', 2), null)
  assert.equal(parseMinor('20.5', 2), 2050n)
  for (const wrong of ['', '-1', '1e3', ' 1', '1,00', '.5', '1.', 'NaN', '0x10', '1'.repeat(17)]) {
    assert.equal(parseMinor(wrong, 2), null, wrong)
  }
})

test('a published rate must be a plain decimal above zero', () => {
  assert.ok(isRate('1.1684'))
  for (const wrong of ['0', '0.000', '-1', '1e2', '', 'N/A', '1,2']) assert.ok(!isRate(wrong))
})
