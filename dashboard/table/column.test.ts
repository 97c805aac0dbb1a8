import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Column, csvOf, formatted, matcher, remembered, sortRows, sumOf } from './column.ts'

interface Row {
  readonly name: string
  readonly earned: string | null
  readonly clicks: number
}

const NAME: Column<Row> = { id: 'name', head: 'Name', value: ({ name }) => name }
const EARNED: Column<Row> = {
  ...{ id: 'earned', head: 'Earned', kind: 'money', isSum: true },
  value: ({ earned }) => earned,
}
const CLICKS: Column<Row> = {
  ...{ id: 'clicks', head: 'Clicks', kind: 'count' },
  value: ({ clicks }) => clicks,
}
const ROWS: readonly Row[] = [
  { name: 'Kettle, steel', earned: '0.1', clicks: 3 },
  { name: '=HYPERLINK("x")', earned: '-0.300001', clicks: 20 },
  { name: 'Pan', earned: null, clicks: 1 },
]

test('a sum of amounts is exact', () => {
  assert.equal(sumOf(ROWS, EARNED), '-0.200001')
  assert.equal(sumOf([], EARNED), '0')
  assert.equal(sumOf(ROWS, CLICKS), '24')
  const many = Array.from({ length: 10 }, () => ({ name: '', earned: '0.1', clicks: 0 }))
  assert.equal(sumOf(many, EARNED), '1')
})

test('a CSV file has the columns and rows as shown, with every digit and no formula', () => {
  assert.equal(
    csvOf(ROWS, [NAME, EARNED]),
    'Name,Earned\n"Kettle, steel",0.1\n"\'=HYPERLINK(""x"")",-0.300001\nPan,\n',
  )
})

test('texts sort by the size of their numbers, without accents', () => {
  const rows = ['Shop 10', 'shop 9', 'Zoo', 'École'].map((name) => ({
    name,
    earned: null,
    clicks: 0,
  }))
  const names = (isDescending: boolean) =>
    sortRows(rows, remembered(NAME), isDescending).map(({ name }) => name)
  assert.deepEqual(names(false), ['École', 'shop 9', 'Shop 10', 'Zoo'])
  assert.deepEqual(names(true), ['Zoo', 'Shop 10', 'shop 9', 'École'])
})

test('amounts sort by value, and unknown ones come last in both directions', () => {
  const names = (isDescending: boolean) =>
    sortRows(ROWS, remembered(EARNED), isDescending).map(({ name }) => name[0])
  assert.deepEqual(names(false), ['=', 'K', 'P'])
  assert.deepEqual(names(true), ['K', '=', 'P'])
})

test('a filter finds words in any order and case, in every column', () => {
  const isMatch = matcher([NAME, CLICKS])
  const found = ROWS.filter((row) => isMatch(row, 'steel kettle 3'))
  assert.deepEqual(found, [ROWS[0]])
})

test('tables show money in cents and unknown values as a dash', () => {
  assert.equal(formatted('12.345678', 'money'), '$12.35')
  assert.equal(formatted(null, 'money'), '–')
  assert.equal(formatted(0.5, 'share'), '50 %')
})
