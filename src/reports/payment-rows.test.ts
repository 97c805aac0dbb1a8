import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MerchantRelease } from '../ledger/publisher-releases.ts'
import { micros } from '../platform/money/money.ts'
import { paymentRows } from './payment-rows.ts'
import { plainRow } from './report.ts'

const NAMES = new Map([[3, 'Kettles']])
const REQUEST = {
  ...{ pubId: 5, dayFrom: '2026-03-01', dayTo: '2026-03-31', cursor: null, limitRows: 100 },
  now: new Date('2026-06-01T00:00:00Z'),
}

function release(at: string, changes: Partial<MerchantRelease> = {}): MerchantRelease {
  return {
    ...{ key: 'op:3:o1:0', pubId: 5, merchId: 3, atMs: Date.parse(at), paymentId: '77' },
    ...{ earningsMicros: micros(1_234_567), isWhole: true, ...changes },
  }
}

function rowsOf(releases: readonly MerchantRelease[], changes: Partial<typeof REQUEST> = {}) {
  return paymentRows(releases, NAMES, { ...REQUEST, ...changes }).rows.map(plainRow)
}

test('a row shows which payment released how much of what, and its statement', () => {
  assert.deepEqual(rowsOf([release('2026-03-12T10:00:00Z')]), [
    {
      ...{ payment_id: '77', paid_at: '2026-03-12 10:00:00', merchant: 'Kettles' },
      ...{ order_product_id: 'op:3:o1:0', amount_usd: '1.234567', statement_id: 'S5-202603' },
      state: 'PAID',
    },
  ])
  const [day, part, back] = rowsOf([
    release('2026-03-12T10:00:00Z', { key: 'clicks:5:2026-03-11', merchId: 9 }),
    release('2026-03-12T10:00:00Z', { isWhole: false }),
    release('2026-03-12T10:00:00Z', {
      ...{ key: 'op:3:o1:0 r1', earningsMicros: micros(-40_000_000), paymentId: null },
    }),
  ])
  assert.deepEqual([day?.order_product_id, day?.merchant], ['2026-03-11', null])
  assert.equal(part?.state, 'PART_PAID')
  assert.deepEqual(
    [back?.order_product_id, back?.amount_usd, back?.state, back?.payment_id],
    ['op:3:o1:0', '-40.00', 'TAKEN_BACK', null],
  )
})

test('both requested days are in the report, to the millisecond', () => {
  const times = [
    ...['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00Z'],
    ...['2026-03-31T23:59:59.999Z', '2026-04-01T00:00:00Z'],
  ]
  const releases = times.map((at, index) => release(at, { paymentId: String(index) }))
  const ids = rowsOf(releases).map((row) => row.payment_id)
  assert.deepEqual(ids, ['1', '2'])
})

test('pages continue where the last one ended, and the last page says so', () => {
  const releases = ['10', '11', '12', '13'].map((day) => release(`2026-03-${day}T00:00:00Z`))
  const page = (cursor: string | null, limitRows: number) => {
    const { rows, next } = paymentRows(releases, NAMES, { ...REQUEST, cursor, limitRows })
    return [rows.map((row) => String(row.paid_at).slice(8, 10)), next]
  }
  assert.deepEqual(page(null, 3), [['10', '11', '12'], '3'])
  assert.deepEqual(page('3', 3), [['13'], null])
  assert.deepEqual(page(null, 2), [['10', '11'], '2'])
  assert.deepEqual(page('2', 2), [['12', '13'], null])
  for (const cursor of ['x', '-1', '1.5', '1 ', ' 1', '1234567890']) {
    assert.throws(() => page(cursor, 2), /cursor/, cursor)
  }
})
