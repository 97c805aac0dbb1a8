import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatResult } from './print.ts'

test('a long value in a table keeps its beginning and its end: a path shows which file it is', () => {
  const path = `/srv/${'long/'.repeat(20)}souk_log_files_orders_20261120.csv`
  const [, line = ''] = formatResult([{ path, rows: 3 }]).split('\n')
  assert.match(line, /^\/srv\/long\/.*….*souk_log_files_orders_20261120\.csv {2}3$/)
  assert.equal(line.length, 63)
  assert.ok(formatResult({ path }).endsWith(path), 'a record shows it whole')
})

test('a table that is wider than the terminal becomes records, one below the other', () => {
  const rows = [
    { pub_id: 1, name: 'Daily', domain: 'daily.example' },
    { pub_id: 2, name: 'Weekly', domain: 'weekly.example' },
  ]
  const lines = (columns?: number) => formatResult(rows, columns).split('\n')
  assert.deepEqual(lines(), lines(30))
  assert.equal(lines(30).length, 3)
  assert.deepEqual(lines(29).slice(0, 5), [
    'pub_id  1',
    'name    Daily',
    'domain  daily.example',
    '',
    'pub_id  2',
  ])
})
