import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/support/fast-check.ts'

import { type CsvRecord, csvReader, guessSeparator, ROW_CHARACTERS_MAX } from './csv-reader.ts'

function read(text: string, { separator = ',', pieces = [1 << 16] } = {}): CsvRecord[] {
  const reader = csvReader(separator)
  const records: CsvRecord[] = []
  let at = 0
  for (let index = 0; at < text.length; index++) {
    const size = pieces[index % pieces.length] ?? 1
    records.push(...reader.push(text.slice(at, at + size), false))
    at += size
  }
  return [...records, ...reader.push('', true)]
}

/** Rows as their cells, faults as `reason@line`. */
function summary(records: readonly CsvRecord[]): unknown[] {
  return records.map((record) =>
    record.kind === 'cells' ? record.cells : `${record.reason}@${record.line}`,
  )
}

const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\t', ' ', '\n', '\r\n', '日') })
const table = fc
  .integer({ min: 2, max: 5 })
  .chain((columns) =>
    fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1 }),
  )

test('any table survives a round trip, whatever the separator, line end, quoting and pieces', () => {
  const how = fc.record({
    separator: fc.constantFrom(',', '\t', ';', '|'),
    eol: fc.constantFrom('\n', '\r\n'),
    quoteAll: fc.boolean(),
    endsWithEol: fc.boolean(),
    pieces: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
  })
  fc.assert(
    fc.property(table, how, (rows, { separator, eol, quoteAll, endsWithEol, pieces }) => {
      const write = (text: string) =>
        quoteAll || /["\r\n]/.test(text) || text.includes(separator)
          ? `"${text.replaceAll('"', '""')}"`
          : text
      const body = rows.map((row) => row.map(write).join(separator)).join(eol)
      // A last row that ends in an empty cell looks the same without its line end.
      const records = read(body + (endsWithEol ? eol : ''), { separator, pieces })
      assert.deepEqual(summary(records), rows)
    }),
  )
})

test('any text at all is read to its end without an exception, in pieces as in one', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' '), maxLength: 60 })
  const pieces = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 })
  fc.assert(
    fc.property(text, pieces, (body, sizes) => {
      const whole = summary(read(`a,b\n${body}`))
      assert.deepEqual(summary(read(`a,b\n${body}`, { pieces: sizes })), whole)
    }),
    { numRuns: 2000 },
  )
})

test('a quote that is not doubled costs its row and no other', () => {
  const text = 'a,b\n1,x\n2,"The "best" of all"\n3,z\n4,"un"closed\n5,w\n'
  assert.deepEqual(summary(read(text)), [
    ['a', 'b'],
    ['1', 'x'],
    'row_malformed@3',
    ['3', 'z'],
    'row_malformed@5',
    ['5', 'w'],
  ])
})

test('a price with an unquoted thousands separator is never read as the digits before it', () => {
  const text = 'id,price,gtin\n1,9.50,\n2,1,234.50,\n3,8.00,\n'
  assert.deepEqual(summary(read(text)), [
    ['id', 'price', 'gtin'],
    ['1', '9.50', ''],
    'row_malformed@3',
    ['3', '8.00', ''],
  ])
  // Nor where it is the first product's.
  assert.deepEqual(summary(read('id,price,gtin\n1,1,234.50,\n2,9.50,\n3,2,345.00,\n')), [
    ['id', 'price', 'gtin'],
    'row_malformed@2',
    ['2', '9.50', ''],
    'row_malformed@4',
  ])
  // Every row of a spreadsheet may end in cells that the header does not have.
  const padded = 'id,price\n1,1,234.50,,\n2,9.50,,\n3,8.00,,\n'
  assert.deepEqual(summary(read(padded)), [
    ['id', 'price'],
    'row_malformed@2',
    ['2', '9.50'],
    ['3', '8.00'],
  ])
  const long = read(`id,price\n${'1,9.50,,\n'.repeat(1_000)}2,1,234.50,,\n`, { pieces: [100] })
  assert.deepEqual([long.length, summary(long).at(-1)], [1_002, 'row_malformed@1002'])
})

test('whether cells behind the header’s last are taken depends on the rows, not on the pieces', () => {
  const dear = `id,price,gtin\n${'1,1,234.50,\n'.repeat(1_000)}2,9.50,\n`
  for (const piece of [100, 1_000, 1 << 16]) {
    const [header, ...rows] = summary(read(dear, { pieces: [piece] }))
    assert.deepEqual(header, ['id', 'price', 'gtin'])
    assert.equal(rows.filter(Array.isArray).length, 1, 'one has the cells of the header')
  }
})

test('of long rows no more is held back than one row may hold', () => {
  const reader = csvReader(',')
  const row = `1,${'x'.repeat(ROW_CHARACTERS_MAX - 1_000)},,\n`
  const counts = ['id,title\n', row, row].map((text) => reader.push(text, false).length)
  assert.deepEqual(counts, [0, 0, 3])
})

test('of a feed of nothing but commas no more than some thousand rows are held back', () => {
  const reader = csvReader(',')
  const counts = ['id,title,link\n', ',\n'.repeat(10_000)].map((text) => reader.push(text, false))
  assert.deepEqual(
    counts.map(({ length }) => length),
    [0, 10_001],
  )
})

test('a quote that is never closed costs its row and no other', () => {
  assert.deepEqual(summary(read('a,b\n1,"x\n2,y\n3,z\n')), [
    ['a', 'b'],
    'row_malformed@2',
    ['2', 'y'],
    ['3', 'z'],
  ])
  // The same where other quotes follow, and where far more follows than a row may hold.
  assert.deepEqual(summary(read('a,b\n1,"x\n2,"y"\n')), [['a', 'b'], 'row_malformed@2', ['2', 'y']])
  const rows = 200_000
  const long = read(`a,b\n1,"x\n${'2,some words\n'.repeat(rows)}`)
  assert.equal(long.length, rows + 2)
  assert.deepEqual(summary(long.slice(1, 3)), ['row_malformed@2', ['2', 'some words']])
})

test('a row without end is given up at its limit, and the next line is read', () => {
  const long = `1,${'x'.repeat(3 * ROW_CHARACTERS_MAX)}`
  const records = read(`a,b\n${long}\n2,y\n`)
  assert.deepEqual(summary(records), [['a', 'b'], 'row_too_long@2', ['2', 'y']])
  const bad = records[1]
  assert.ok(bad?.kind === 'bad' && bad.text.length <= 2000)
})

test('a feed that ends inside a row says so, one that only lacks its last line end does not', () => {
  assert.deepEqual(summary(read('a,b\n1,x\n2,"in the midd')), [
    ['a', 'b'],
    ['1', 'x'],
    'row_truncated@3',
  ])
  assert.deepEqual(summary(read('a,b\n1,x\n2')), [['a', 'b'], ['1', 'x'], 'row_truncated@3'])
  assert.deepEqual(summary(read('a,b\n1,x\n2,y')), [
    ['a', 'b'],
    ['1', 'x'],
    ['2', 'y'],
  ])
})

test('rows with another number of cells than the header are refused, empty ones are passed over', () => {
  assert.deepEqual(summary(read('a,b\n\n1\n1,2,3\n \r\n1,2,,\n')), [
    ['a', 'b'],
    'row_malformed@3',
    'row_malformed@4',
    ['1', '2'],
  ])
})

test('lines are counted through quoted line ends', () => {
  const records = read('a,b\r\n1,"two\r\nlines"\r\n2,y,z\r\n')
  assert.deepEqual(summary(records).at(-1), 'row_malformed@4')
})

test('a header without separators is one column, and of two equally frequent ones the comma wins', () => {
  const headers = ['only', 'a,b;c', 'a;b,c', 'a|b,c|d', 'a;b|c;d', '"x;y;z",b']
  assert.deepEqual(headers.map(guessSeparator), [',', ',', ',', '|', ';', ','])
})

test('a quote that one byte has taken costs its row, whatever the next rows’ cells begin with', () => {
  const text = 'a,b,c\n1,"TeaX,x\n2,",foo",y\n3,z,z\n'
  assert.deepEqual(summary(read(text)), [
    ['a', 'b', 'c'],
    'row_malformed@2',
    ['2', ',foo', 'y'],
    ['3', 'z', 'z'],
  ])
  // Also where the cells that are read wrong have the right number.
  const four = 'a,b,c,d\n1,"TeaX,x,p\n2,",foo",y\n3,z,z,z\n'
  const [, first, second] = summary(read(four))
  assert.deepEqual([first, second], ['row_malformed@2', 'row_malformed@3'])
})

test('of a malformed row those cells are given that the fault cannot have touched', () => {
  const [, ...bad] = read('a,b,c,d\n1,"The "best" tea",x,y\n2,z,"x\n3,3,3,3\n4\n')
  assert.deepEqual(
    bad.map((record) => record.cells),
    [['1', 'The "best" tea', 'x', 'y'], ['2', 'z'], ['3', '3', '3', '3'], []],
  )
})
