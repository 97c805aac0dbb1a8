import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../platform/errors.ts'
import { findColumns, type NetworkMap } from './network-map.ts'

/** What is said of the fields that no column of a file with these columns is found for. */
function refusal(map: NetworkMap, headers: string[]): unknown {
  try {
    return findColumns(map, { headers, rows: [] })
  } catch (error) {
    return error instanceof ApiError ? error.data : assert.fail(String(error))
  }
}

test('what a file lacks is told by the names looked for, what a map lacks as the map’s own', () => {
  const looked = 'no column of the file says it; looked for Day, Date'
  assert.deepEqual(refusal({ date: ['Day', 'Date'] }, ['when']), [
    { field: 'date', rule: looked },
    { field: 'earnings', rule: 'the map names no column for it' },
  ])
  assert.deepEqual(refusal({ date: ['Day'], earnings: ['Paid'] }, ['day', 'paid']), {
    date: 'day',
    earnings: 'paid',
  })
})
