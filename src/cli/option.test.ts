import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  readAuctionResult,
  readCategoryFloor,
  readDay,
  readDollars,
  readFraction,
  readHexId,
  readInstant,
  readInteger,
  readList,
  readLongId,
  readNumber,
  readRepeated,
  readWord,
} from './option.ts'

test("a whole number beyond its column's range is refused with the range", () => {
  assert.deepEqual(['0', '2147483647'].map(readInteger), [0, 2_147_483_647])
  for (const wrong of ['2147483648', '-1', '1.5', '1e3', '', ' 1', '99999999999999999999']) {
    assert.throws(() => readInteger(wrong), /from 0 to 2147483647/, wrong)
  }
})

test('an invalid id is a usage error that shows what an id looks like', () => {
  assert.equal(readLongId('9223372036854775807'), '9223372036854775807')
  for (const wrong of ['9223372036854775808', '0', '05', '5x', '-5', '', ' 5']) {
    assert.throws(() => readLongId(wrong), /must be a positive 64-bit integer/, wrong)
  }
  assert.equal(readHexId('AB'.repeat(16)), 'ab'.repeat(16))
  assert.equal(readAuctionResult('AB'.repeat(16)).toString('hex'), 'ab'.repeat(16))
  for (const wrong of ['ab'.repeat(15), 'ag'.repeat(16), 'ab'.repeat(17), '']) {
    assert.throws(() => readHexId(wrong), /must be 32 hexadecimal/, wrong)
    assert.throws(() => readAuctionResult(wrong), /or 32 hexadecimal/, wrong)
  }
})

test('a fraction may omit the zero before the point', () => {
  assert.deepEqual(['0.75', '.75', '-.5', '1', ''].map(readFraction), [
    750_000,
    750_000,
    -500_000,
    1_000_000,
    null,
  ])
  for (const wrong of ['.', '-', '1.', '1e3', '0x1', ' 1', 'half', '1.2.3']) {
    assert.throws(() => readNumber(wrong), /must be a number/, wrong)
  }
  assert.deepEqual(['2147.483647', '0.123456'].map(readFraction), [2_147_483_647, 123_456])
  for (const wrong of ['2147.483648', '-2147.483648', '99999999999', '0.1234567']) {
    assert.throws(() => readFraction(wrong), /must be a fraction/, wrong)
  }
})

test('dollars may omit the zero before the point', () => {
  const amounts = ['.60', '0.60', '12', '12.60']
  assert.deepEqual(amounts.map(readDollars), [600_000, 600_000, 12_000_000, 12_600_000])
  for (const wrong of ['', '.', '-.5', '1.', '$1', '1,20', '.0000001']) {
    assert.throws(() => readDollars(wrong), /US dollars, such as 0.60/, wrong)
  }
})

test('a day is an existing plain date, an instant may have a time and an offset', () => {
  assert.equal(readDay('2028-02-29'), '2028-02-29')
  assert.equal(readInstant('2028-02-29T01:00:00+01:00')?.toISOString(), '2028-02-29T00:00:00.000Z')
  const wrong = ['2026-02-29', '2026-3-2', '2026-03-02x', 'x2026-03-02', 'today']
  for (const text of [...wrong, '2026-03-02T00:00:00Z', '']) {
    assert.throws(() => readDay(text), /must be a date, such as 2026-03-02/, text)
  }
  for (const text of [...wrong, '2026-03-02T00:00:00']) {
    assert.throws(() => readInstant(text), /ISO 8601/, text)
  }
})

test('a word is case-insensitive, and an unknown one is refused with the list', () => {
  const read = readWord('cpc', 'cpa')
  assert.deepEqual(['cpa', 'CPC'].map(read), ['cpa', 'cpc'])
  for (const wrong of ['', 'cp', 'epp']) assert.throws(() => read(wrong), /one of cpc, cpa/, wrong)
  assert.throws(() => readCategoryFloor('222'), /must be CATEGORY=DOLLARS/)
})

test('a list grows by commas and by repeating, or only by repeating if its values hold commas', () => {
  const read = readList(readInteger)
  assert.deepEqual(read('3', read('1, 2,', undefined)), [1, 2, 3])
  assert.deepEqual(read('', undefined), [])
  const url = 'https://t.example/?a=1,2'
  assert.deepEqual(readRepeated(url, readRepeated('x', undefined)), ['x', url])
  assert.deepEqual(readRepeated('', undefined), [])
})
