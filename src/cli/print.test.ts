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
