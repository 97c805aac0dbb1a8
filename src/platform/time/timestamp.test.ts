import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/support/fast-check.ts'
import {
  dayOf,
  formatTimestamp,
  formatTimestampOrNull,
  parseTimestamp,
  utcDay,
} from './timestamp.ts'

const instants = fc.date({
  min: new Date('0001-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59Z'),
  noInvalidDate: true,
})

test('a written time is read back, to the second', () => {
  fc.assert(
    fc.property(instants, (instant) => {
      const text = formatTimestamp(instant)
      assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      const cut = Math.floor(instant.getTime() / 1000) * 1000
      assert.equal(parseTimestamp(text)?.getTime(), cut)
      assert.equal(utcDay(instant), text.slice(0, 10))
    }),
  )
})

test('offsets, fractions and plain dates are read as ISO 8601 defines', () => {
  const cases: [string, string][] = [
    ['2026-03-02', '2026-03-02T00:00:00.000Z'],
    ['2026-03-02T10:00Z', '2026-03-02T10:00:00.000Z'],
    ['2026-03-02 10:00:00Z', '2026-03-02T10:00:00.000Z'],
    ['2026-03-02T10:00:00.1239Z', '2026-03-02T10:00:00.123Z'],
    ['2026-03-02T01:30:00+02:00', '2026-03-01T23:30:00.000Z'],
    ['2026-03-02T10:00:00-0530', '2026-03-02T15:30:00.000Z'],
    ['2026-03-02T10:00:00+01', '2026-03-02T09:00:00.000Z'],
    ['2026-03-02t10:00:00z', '2026-03-02T10:00:00.000Z'],
    ['2026-03-02T10:00:00+23:59', '2026-03-01T10:01:00.000Z'],
  ]
  for (const [text, iso] of cases) assert.equal(parseTimestamp(text)?.toISOString(), iso, text)
})

test('a text that names no single instant is refused', () => {
  const wrong = ['', 'today', '2026-02-30', '2026-13-01', '2026-3-2', '20260302', '1772445600']
  const times = ['2026-03-02T10:00:00', '2026-03-02T25:00:00Z', '2026-03-02T10:00:00+99:00']
  times.push('2026-03-02T10:00:00+24:00', '2026-03-02T10:00:00+01:60')
  times.push('12026-03-02T10:00:00Z', '2026-03-02T10:00:00Zulu')
  const years = ['0000-01-01', '+012026-03-02', '9999-12-31T23:59:59-01:00']
  for (const text of [...wrong, ...times, ...years]) assert.equal(parseTimestamp(text), null, text)
})

test('a plus sign that a query turned into a space still starts the offset', () => {
  const eight = Date.UTC(2026, 2, 2, 8)
  assert.equal(parseTimestamp('2026-03-02T10:00:00 02:00')?.getTime(), eight)
  assert.equal(parseTimestamp('2026-03-02T08:00:00.25 00:00')?.getTime(), eight + 250)
  assert.equal(parseTimestamp('2026-03-02T10:00 02'), null, 'these could be seconds')
})

test('a text that is no instant has no day and no text', () => {
  const day = ['2026-03-02T23:30:00-01:00', '2026-03-02', 'today', null, 5].map(dayOf)
  assert.deepEqual(day, ['2026-03-03', '2026-03-02', null, null, null])
  const noon = '2026-03-02T12:00:00Z'
  assert.deepEqual([null, new Date(noon)].map(formatTimestampOrNull), [null, noon])
})
