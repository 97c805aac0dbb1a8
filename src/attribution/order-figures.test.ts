import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MODEL } from '../events/event.ts'
import { micros } from '../platform/money.ts'
import { addReport, EMPTY_ACCOUNT, type Owner } from './order-account.ts'
import { figuresOf } from './order-figures.ts'
import type { OrderReport, ReportedLine } from './order-merge.ts'

const NOW_MS = Date.UTC(2026, 2, 2, 12)

function line(cents: number, quantity: number): ReportedLine {
  const price_minor = `${cents}`
  return { product_id: null, name: null, brand: null, price: null, price_minor, quantity }
}

/** The lines of an order of so many micros, of which this owner gets its part. */
function linesOf(
  order: { value_micros: number; lines: readonly ReportedLine[] },
  terms: Pick<Owner, 'model' | 'priceMicros' | 'sharePpm'>,
) {
  const click = { clickId: 'aa', clickAtMs: NOW_MS - 1000 }
  const owner = { ...click, pubId: 5, articleId: 9, campaignId: 1, ...terms }
  const report: OrderReport = {
    ...{ source: 's2s' as const, event_id: '1', updated_at_ms: NOW_MS, ordered_at_ms: NOW_MS },
    ...{ currency: 'USD', value: '0.00', rate_id: 'usd', is_new_customer: null },
    ...{ is_cancelled: false, hold: null, ...order },
  }
  const told = { report, attribution: { model: 'exact', owner }, atMs: NOW_MS } as const
  return figuresOf(addReport(EMPTY_ACCOUNT, told).account).lines
}

test('commission and earnings are divided by price × quantity, not by parts rounded before', () => {
  const lines = [line(6000, 1), line(1500, 2), line(1000, 1)]
  const epp = { model: MODEL.epp, priceMicros: micros(1_500_000), sharePpm: 600_000 }
  // A voucher paid for all but five cents, or for everything.
  for (const value_micros of [50_000, 0]) {
    const divided = linesOf({ value_micros, lines }, epp)
    assert.deepEqual(
      divided.map(({ commissionMicros }) => commissionMicros),
      [900_000, 450_000, 150_000],
    )
    assert.deepEqual(
      divided.map(({ earningsMicros }) => earningsMicros),
      [540_000, 270_000, 90_000],
    )
  }

  // 4.349995 over 23.00, 310.00 and 0.03: the revenue’s cents are 18.03, 242.95 and 0.02.
  const cpa = { model: MODEL.cpa, priceMicros: micros(50_000), sharePpm: 333_333 }
  const basket = [line(1150, 2), line(15_500, 2), line(1, 3)]
  const divided = linesOf({ value_micros: 261_000_000, lines: basket }, cpa)
  assert.deepEqual(
    divided.map(({ earningsMicros }) => earningsMicros),
    [300_423, 4_049_180, 392],
  )
})

test('a commission is rounded once to the micro-dollar, half to even; the publisher’s part down', () => {
  const half = { model: MODEL.cpa, priceMicros: micros(500_000), sharePpm: 500_000 }
  const told = [1, 3, 4, 5].map((value_micros) => linesOf({ value_micros, lines: [] }, half))
  assert.deepEqual(
    told.map(([line]) => [line?.commissionMicros, line?.earningsMicros]),
    [
      [0, 0],
      [2, 1],
      [2, 1],
      [2, 1],
    ],
  )
})
