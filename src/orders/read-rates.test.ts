import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { kitPath } from '../../test/support/shared-data.ts'
import type { ApiError, Fault } from '../platform/errors/api-errors.ts'
import { readRates as readRatesBy } from './read-rates.ts'

const readRates = (text: string) => readRatesBy(text, Date.UTC(2026, 10, 24, 12))

function faultsOf(text: string): readonly Fault[] {
  try {
    readRates(text)
    return []
  } catch (error) {
    return (error as ApiError).data as Fault[]
  }
}

test('reads a central bank’s file: base euro, one rate per day and currency (data kit)', (t) => {
  const path = kitPath(t, 'oracles/fx-ecb-sample.csv')
  if (path === null) return
  const text = readFileSync(path, 'utf8')
  const rates = readRates(text)
  const days = text.trim().split('\n').length - 1
  assert.equal(rates.length, days * 13) // 13 columns: 12 foreign currencies, and the euro itself
  const yen = {
    day: '2026-04-13',
    currency: 'JPY',
    usdPerBase: '1.1684',
    currencyPerBase: '186.75',
  }
  assert.ok(rates.some((rate) => JSON.stringify(rate) === JSON.stringify(yen)))
})

test('refuses a file without a single rate', () => {
  assert.deepEqual(faultsOf('Date,USD,JPY,\n'), [
    { field: 'line 1', rule: 'rates of USD (base EUR) or of EUR (base USD) are needed' },
  ])
})

test('the base is named, or the one of euro and dollar that the file does not quote', () => {
  assert.deepEqual(readRates('Date,EUR,GBP,\n2026-01-02,0.9,0.8,\n'), [
    { day: '2026-01-02', currency: 'EUR', usdPerBase: '1', currencyPerBase: '0.9' },
    { day: '2026-01-02', currency: 'GBP', usdPerBase: '1', currencyPerBase: '0.8' },
  ])
  const unnamed = 'date,currency,rate\n2026-01-02,USD,1.1\n2026-01-02,GBP,0.8\n'
  assert.deepEqual(readRates(unnamed), readRates('date,USD,GBP\n2026-01-02,1.1,0.8\n'))
  const long = 'date,base,currency,rate\n2026-01-02,GBP,USD,1.25\n2026-01-02,GBP,JPY,190\n'
  assert.deepEqual(readRates(long), [
    { day: '2026-01-02', currency: 'GBP', usdPerBase: '1.25', currencyPerBase: '1' },
    { day: '2026-01-02', currency: 'JPY', usdPerBase: '1.25', currencyPerBase: '190' },
  ])
})

test('if a file quotes euro and dollar, the base is the one at 1, or must be named', () => {
  const own = readRates('date,USD,EUR,GBP\n2026-01-02,1,0.9,0.8\n2026-01-03,1.0000,0.9,\n')
  assert.deepEqual(own, readRates('date,EUR,GBP\n2026-01-02,0.9,0.8\n2026-01-03,0.9,\n'))
  const euro = readRates('date,EUR,USD,GBP\n2026-01-02,1,1.1,0.8\n')
  assert.deepEqual(euro, readRates('date,USD,GBP\n2026-01-02,1.1,0.8\n'))
  const parity = readRates('date,USD,GBP\n2026-01-02,1,0.8\n')
  assert.deepEqual(parity[0], { ...euro[0], usdPerBase: '1' }, 'what is not quoted goes first')
  for (const cells of ['10.1,11.8', '1,1']) {
    assert.deepEqual(faultsOf(`date,USD,EUR\n2026-01-02,${cells}\n`), [
      {
        field: 'line 1',
        rule: 'both USD and EUR are quoted: name their base, in columns date, currency, rate, base',
      },
    ])
  }
})

test('reads the European Central Bank’s own files, with days in words and past currencies', () => {
  const [dollar, yen] = readRates('Date, USD, JPY, \n21 November 2026, 1.1684, 186.75, \n')
  assert.deepEqual([dollar?.day, dollar?.currency], ['2026-11-21', 'EUR'])
  assert.deepEqual([yen?.day, yen?.currencyPerBase], ['2026-11-21', '186.75'])
  const history =
    'Date,USD,BGN,CYP,EEK,TRL,TRY,\n1999-01-04,1.1789,N/A,0.58231,15.6466,372274,N/A,\n'
  assert.deepEqual(
    readRates(history).map(({ currency }) => currency),
    ['EUR'],
  )
  for (const day of [
    '31 Brumaire 2026',
    '31 February 2026',
    '2 March 2026 at noon',
    '2026-03-02T12:00:00Z',
    'on 2026-03-02',
  ]) {
    assert.match(faultsOf(`date,USD\n${day},1.1\n`)[0]?.rule ?? '', /is no date/, day)
  }
})

test('a file with any fault gives no rates, and lists every fault with its line', () => {
  const file = 'date,USD,XYZ\n2026-01-02,1.1,2\n2026-02-30,1.1,\n2026-01-03,0,\n'
  assert.deepEqual(faultsOf(file), [
    { field: 'line 2', rule: 'ISO 4217 has no XYZ' },
    { field: 'line 3', rule: '"2026-02-30" is no date such as 2026-03-02' },
    { field: 'line 4', rule: '"0" is no rate: a decimal above 0' },
  ])
  assert.match(faultsOf('date,GBP\n2026-01-02,0.8\n')[0]?.rule ?? '', /USD \(base EUR\) or/)
  const long = 'date,base,currency,rate\n2026-01-02,GBP,USD,1.25\n2026-01-03,GBP,JPY,190\n'
  assert.deepEqual(faultsOf(long), [
    { field: 'line 3', rule: 'no rate of USD for GBP on 2026-01-03' },
  ])
  assert.deepEqual(faultsOf('date,base,currency,rate\n2026-01-02,QQQ,USD,1.25\n'), [
    { field: 'line 2', rule: 'ISO 4217 has no QQQ' },
  ])
  assert.match(faultsOf('day,USD\n2026-01-02,1.1\n')[0]?.rule ?? '', /column "date"/)
})

test('a currency that was not published on a day has no rate then', () => {
  assert.equal(readRates('date,USD,ISK\n2026-01-02,1.1,N/A\n2026-01-03,1.1,\n').length, 2)
})

test('refuses a day that has not started anywhere yet, as a typing error', () => {
  const file = 'date,USD\n2026-11-24,1.1\n2026-11-25,1.1\n2026-11-26,1.1\n2099-11-23,1.1\n'
  const rule = (day: string) => `"${day}" lies in the future`
  assert.deepEqual(faultsOf(file), [
    { field: 'line 4', rule: rule('2026-11-26') },
    { field: 'line 5', rule: rule('2099-11-23') },
  ])
})
