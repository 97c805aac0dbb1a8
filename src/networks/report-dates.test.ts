import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../platform/errors/api-errors.ts'
import { type DateOrder, decideDateOrder, readReportDate } from './report-dates.ts'

const dayOf = (text: string, order: DateOrder = 'mdy') => readReportDate(text, order)?.day ?? null

test('reads days as networks write them, and nothing else', () => {
  for (const [text, day] of Object.entries({
    ...{ '2026-03-02': '2026-03-02', '2026-03-02 11:00': '2026-03-02', '3/2/26': '2026-03-02' },
    ...{ '12/31/2026': '2026-12-31', '03/02/2026 1:02 PM': '2026-03-02', '20260302': '2026-03-02' },
    ...{ '2026/03/02': '2026-03-02', '2026-02-29': null, '2/29/2026': null, '31/12/2026': null },
    ...{ '2026-03-021': null, '3/2/026': null, '0000-01-01': null, '1/1/0000': null },
    ...{ '': null, soon: null, 'on 2026-03-02': null, 'x3/2/26': null, '2026-13-01': null },
    ...{ '13:00 Uhr': null, '5 May': null, '5 May June 2026': null, '2026-03-02 25:00': null },
  })) {
    assert.equal(dayOf(text), day, text)
  }
  assert.equal(dayOf('4.3.2026', 'dmy'), '2026-03-04')
  assert.equal(dayOf('2026-03-04', 'dmy'), '2026-03-04')
  assert.equal(dayOf('26/03/04', 'ymd'), '2026-03-04')
})

test('reads month names of the large languages', () => {
  for (const text of [
    ...['13 Nov 2026', 'Nov 13, 2026', '13-Nov-26', '2026-Nov-13', 'November 13th, 2026'],
    ...['13. November 2026', '13 novembre 2026', '13 nov. 2026', '13 de noviembre de 2026'],
    ...['13 de nov. de 2026', '13 listopada 2026', '13 lis 2026', '13 november 2026'],
    ...['13 ноября 2026 г.', '13 Kasım 2026', '13. marraskuuta 2026', '13 Νοεμβρίου 2026'],
    ...['2026年11月13日', '2026년 11월 13일', 'Fri, 13 Nov 2026', 'Freitag, 13. November 2026'],
  ]) {
    assert.equal(dayOf(text), '2026-11-13', text)
  }
  assert.equal(dayOf('1er août 2026'), '2026-08-01')
  assert.equal(dayOf('4 FEVR. 2026'), '2026-02-04')
  assert.equal(dayOf('mar 3 nov 2026'), '2026-11-03')
})

test('a time with a zone belongs to its UTC day', () => {
  for (const [text, at] of Object.entries({
    '2026-11-02T23:59:59-08:00': '2026-11-03T07:59:59Z',
    '2026-11-03 00:30:00 +0100': '2026-11-02T23:30:00Z',
    '02-Nov-2026 22:11 PST': '2026-11-03T06:11:00Z',
    '2026-11-02 23:30 UTC-5': '2026-11-03T04:30:00Z',
    'Tue Nov 03 2026 00:10:00 GMT+0100 (CET)': '2026-11-02T23:10:00Z',
    '11/2/2026 11:05 PM EST': '2026-11-03T04:05:00Z',
    '2026-11-03T17:04:00.123Z': '2026-11-03T17:04:00Z',
    '2026-11-03 12:05:00 AM': '2026-11-03T00:05:00Z',
    '2026-11-03': '2026-11-03',
  })) {
    assert.equal(readReportDate(text, 'mdy')?.at, at, text)
  }
  assert.equal(dayOf('2026-11-03 10:00 XYZ'), null)
})

test('one date decides the order of day and month for the whole file', () => {
  const decide = (texts: string[], options = {}) => {
    const cells = texts.map((text, index) => ({ line: index + 2, text }))
    return decideDateOrder(cells, { hasDecimalComma: false, ...options })
  }
  assert.equal(decide(['04/11/2026', '13/11/2026 10:00']), 'dmy')
  assert.equal(decide(['04/11/2026', '2026-01-31', '11/13/2026']), 'mdy')
  assert.equal(decide(['04/11/2026']), 'mdy')
  assert.equal(decide(['04/11/2026'], { hasDecimalComma: true }), 'dmy')
  assert.equal(decide(['04.11.2026']), 'dmy')
  assert.equal(decide(['13/11/2026', '11/13/2026'], { named: 'mdy' }), 'mdy')
  assert.throws(
    () => decide(['1/1/2026', '13/11/2026', '11/14/2026']),
    (error) => error instanceof ApiError && /line 3 .*line 4 /.test(JSON.stringify(error.data)),
  )
})
