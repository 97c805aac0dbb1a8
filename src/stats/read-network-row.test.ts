import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readNetworkRow } from './read-network-row.ts'

const COLUMNS = { date: 'date', account: 'account', advertiser: 'advertiser', earnings: 'earnings' }

function read(cells: Record<string, string>) {
  const row = readNetworkRow(
    { line: 2, cells: { date: '2026-03-02', earnings: '1', ...cells } },
    COLUMNS,
  )
  if (typeof row === 'string') throw new Error(row)
  return row
}

test('names too long for the database are cut, between two characters', () => {
  const { account, advertiser } = read({
    account: '鼎'.repeat(3_000),
    advertiser: `x${'😀'.repeat(3_000)}`,
  })
  assert.equal(account, '鼎'.repeat(255))
  assert.equal(advertiser?.isWellFormed(), true)
  assert.equal(advertiser?.length, 2_048)
})
