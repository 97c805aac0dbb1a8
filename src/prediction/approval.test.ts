import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { APPROVAL_STEPS, fitApprovals, type OrderAges } from './approval.ts'
import { UNFITTED_MODEL } from './prediction-model.ts'

/** A merchant with this many orders at risk in each week and these shares of rejections. */
function merchant(
  merchId: number,
  orders: number,
  rejectedAt: Readonly<Record<number, number>>,
  activeAt: Readonly<Record<number, number>> = { 0: orders },
): OrderAges[] {
  return Array.from({ length: APPROVAL_STEPS + 1 }, (_, step) => ({
    ...{ merch_id: merchId, step },
    exposed: step < APPROVAL_STEPS ? orders : 0,
    rejected: step < APPROVAL_STEPS ? orders * (rejectedAt[step] ?? 0) : 0,
    active: activeAt[step] ?? 0,
  }))
}

const shareOf = (rows: readonly OrderAges[], merchId: number): number =>
  fitApprovals(rows).approvedShareByMerchant[merchId] ?? Number.NaN

test('without orders the whole commission lasts', () => {
  const { approvedShare, approvedShareByMerchant } = fitApprovals([])
  assert.equal(approvedShare, UNFITTED_MODEL.approvedShare)
  assert.deepEqual(approvedShareByMerchant, {})
})

test('a merchant that rejects half of its orders after sixty days is valued at half', () => {
  for (const week of [0, 8, APPROVAL_STEPS - 1]) {
    const rows = merchant(1, 1_000, { [week]: 0.5 })
    const share = shareOf(rows, 1)
    assert(share > 0.46 && share < 0.52, `${share} with rejections in week ${week}`)
  }
})

test('orders past the age of a merchant’s rejections are worth their full commission', () => {
  const rejectedAt = { 2: 0.5 }
  const old = shareOf(merchant(1, 1_000, rejectedAt, { 5: 10 }), 1)
  const young = shareOf(merchant(1, 1_000, rejectedAt, { 1: 10 }), 1)
  const mixed = shareOf(merchant(1, 1_000, rejectedAt, { 1: 10, 5: 10 }), 1)
  assert(old > 0.95 && young < 0.52, `${old} and ${young}`)
  assert(Math.abs(mixed - (old + young) / 2) < 1e-9)
  assert(shareOf(merchant(1, 1_000, rejectedAt, { [APPROVAL_STEPS]: 9 }), 1) === 1, 'locked')
})

test('a merchant that rejects everything just before the lock is worth almost nothing', () => {
  const last = APPROVAL_STEPS - 1
  const found = [5, 20, 100].map((orders) => shareOf(merchant(1, orders, { [last]: 1 }), 1))
  assert((found[0] ?? 1) < 0.7 && (found[1] ?? 1) < 0.4 && (found[2] ?? 1) < 0.1, String(found))
})

test('no merchant moves the network’s share by more than one merchant of many would', () => {
  const honest = [1, 2, 3].flatMap((merchId) => merchant(merchId, 50, { 1: 0.02 }))
  const without = fitApprovals(honest).approvedShare
  const orders = fc.double({ min: 0.1, max: 1e6, noNaN: true })
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(orders, share, fc.nat(APPROVAL_STEPS - 1), (count, rejected, week) => {
      const rows = [...honest, ...merchant(4, count, { [week]: rejected })]
      const { approvedShare, approvedShareByMerchant: of } = fitApprovals(rows)
      // Beside two usual merchants and three honest ones.
      assert(approvedShare > without * (1 - 1 / 5) && approvedShare < without + 0.02)
      // A merchant with enough orders is valued by them.
      assert((of[1] ?? 0) > 0.93 * without, String(of[1]))
    }),
  )
})

test('a share is never below 0 or above 1', () => {
  const row = fc.record({
    merch_id: fc.integer({ min: 1, max: 3 }),
    step: fc.nat(APPROVAL_STEPS),
    exposed: fc.double({ min: 0, max: 1e3, noNaN: true }),
    rejected: fc.double({ min: 0, max: 1e3, noNaN: true }),
    active: fc.double({ min: 0, max: 1e3, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
      const { approvedShare, approvedShareByMerchant } = fitApprovals(rows)
      for (const share of [approvedShare, ...Object.values(approvedShareByMerchant)]) {
        assert(share >= 0 && share <= 1 + 1e-12, String(share))
      }
    }),
  )
})
