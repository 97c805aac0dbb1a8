import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatResult, formatWhole } from './print.ts'

test('a long value in a table keeps its beginning and its end, so a path shows its file', () => {
  const path = `/srv/${'long/'.repeat(20)}souk_log_files_orders_20261120.csv`
  const [, line = ''] = formatResult([{ path, rows: 3 }]).split('\n')
  assert.match(line, /^\/srv\/long\/.*….*souk_log_files_orders_20261120\.csv {2}3$/)
  assert.equal(line.length, 63)
  assert.ok(formatResult({ path }).endsWith(path), 'a record shows it whole')
})

test('a value in a table is cut between characters', () => {
  for (const before of ['', 'x']) {
    const text = formatResult([{ name: `${before}${'🫖'.repeat(70)}` }])
    assert.ok(text.includes('…') && text.isWellFormed(), text)
  }
})

test('a table wider than the terminal becomes records', () => {
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

test('columns are aligned in any script', () => {
  const rows = ['上海厨房用品', 'スーク（株）', '수크', 'Mu\u0308ller', 'سُوق', '🫖'].map((name) => {
    return { name, owed: '1.50' }
  })
  const drawn = [
    'name          owed',
    '上海厨房用品  1.50',
    'スーク（株）  1.50',
    '수크          1.50',
    'Mu\u0308ller        1.50',
    'سُوق           1.50',
    '🫖            1.50',
  ]
  assert.deepEqual(formatResult(rows, 18).split('\n'), drawn)
  assert.notEqual(formatResult(rows, 17).split('\n')[0], drawn[0])
})

test("a table inside a table's row is shown whole below that row", () => {
  const lines = ['merchant', 'publisher', 'platform'].map((account, at) => {
    return { account, article_id: 4, amount_usd: `-${at}.40` }
  })
  const result = { clicks: ['a'], entries: [{ kind: 'reversal', lines }] }
  assert.deepEqual(formatResult(result).split('\n'), [
    'clicks  a',
    '',
    'entries:',
    'kind  reversal',
    '',
    'lines:',
    'account    article_id  amount_usd',
    'merchant   4           -0.40',
    'publisher  4           -1.40',
    'platform   4           -2.40',
  ])
})

test('values that must be read whole are never cut, at any depth', () => {
  const rule = 'must be a decimal such as "105.00", not negative; USD has 2 decimals'
  const result = { rejects: [{ line: 5, faults: [{ field: 'order.value', rule }] }] }
  assert.ok(formatWhole(result).endsWith(`order.value  ${rule}`))
  assert.ok(!formatResult(result).includes(rule))
})

test('a result that is only a list starts with its name, not with an empty line', () => {
  assert.equal(formatResult({ files: [{ rows: 3 }] }), 'files:\nrows\n3')
})

test('empty values are shown: a dash for a value, a word for an empty list', () => {
  assert.equal(formatResult([]), '(none)')
  assert.equal(formatResult({ at: null, of: undefined, ids: [] }), 'at   -\nof   -\nids  -')
  assert.equal(formatResult([{ at: null, name: 'a' }, { at: 1 }]), 'at  name\n-   a\n1   -')
})

test('a line break inside a value does not look like another field', () => {
  const row = { url: 'https://shop.example/\nkeyless  false\n\nurl', keyless: true }
  for (const result of [row, [row], { links: [row] }]) {
    for (const columns of [10, 200]) {
      const lines = formatResult(result, columns).split('\n')
      assert.deepEqual(
        lines.filter((line) => line.startsWith('keyless  false')),
        [],
      )
    }
  }
  assert.match(formatResult(row), /^url {6}https:\/\/shop\.example\/\\u000akeyless {2}false\\u000a/)
})
