/** The life of an order: the effect of each event in each state. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accountOf,
  attribution,
  EPP,
  goodsBack,
  NOW_MS,
  report,
} from '../../test/support/order-account.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import {
  addDecision,
  addReport,
  addReturn,
  addReversal,
  datesOf,
  type OrderAccount,
  type OrderAttribution,
} from './order-account.ts'
import { orderFigures } from './order-figures.ts'
import type { OrderReport } from './order-merge.ts'
import { orderState } from './order-states.ts'

/**
 * An order of $550 and an event: its state after that, its revenue in dollars, and its publisher's
 * earnings. It pays a commission of 10 %, or $1.50 per order, which returns do not reduce. LOCKED
 * becomes PAID once money covers it. An order rejected by a person stays rejected.
 */
const LIFE = `
              ten days old    held            cancelled       of a purchase   90 days old
  nothing     PENDING 550 55  PENDING 0 0     REJECTED 0 0    LOCKED 550 1.5  LOCKED 550 55
  $100        PENDING 100 10  PENDING 100 10  PENDING 100 10  LOCKED 100 1.5  LOCKED 550 55
  cancelled   REJECTED 0 0    REJECTED 0 0    REJECTED 0 0    LOCKED 0 1.5    LOCKED 550 55
  doubtful    PENDING 0 0     PENDING 0 0     PENDING 0 0     LOCKED 550 1.5  LOCKED 550 55
  named 20 %  PENDING 550 110 PENDING 550 110 PENDING 550 110 LOCKED 550 1.5  LOCKED 550 55
  $100 back   PENDING 450 45  PENDING 0 0     REJECTED 0 0    LOCKED 450 1.5  LOCKED 450 45
  approved    PENDING 550 55  PENDING 550 55  REJECTED 0 0    LOCKED 550 1.5  LOCKED 550 55
  rejected    REJECTED 0 0    REJECTED 0 0    REJECTED 0 0    LOCKED 550 1.5  LOCKED 550 55
  invalid     REJECTED 0 0    REJECTED 0 0    REJECTED 0 0    LOCKED 550 1.5  LOCKED 550 55
`
const NAME_COLUMNS = 14
const CELL_COLUMNS = 16

const sold = (changes: Partial<OrderReport> = {}, owner = attribution()) =>
  accountOf([{ report: report(changes), attribution: owner }])

const ORDERS: readonly { readonly order: OrderAccount; readonly days: number }[] = [
  { order: sold(), days: 10 },
  { order: sold({ hold: 'review' }), days: 10 },
  { order: hear({ is_cancelled: true })(sold(), NOW_MS), days: 10 },
  { order: sold({}, EPP), days: 10 },
  { order: sold(), days: 90 },
]

type Hear = (order: OrderAccount, atMs: number) => OrderAccount

const HEARD: Readonly<Record<string, Hear>> = {
  nothing: (order) => order,
  $100: hear({ value: '100.00', value_micros: 100_000_000 }),
  cancelled: hear({ is_cancelled: true }),
  doubtful: hear({ value: '9000.00', value_micros: 9_000_000_000, hold: 'review' }),
  'named 20 %': hear(
    {},
    { ...attribution({ terms: { model: 'cpa', ratePpm: 200_000 } }), model: 'exact' },
  ),
  '$100 back': (order) => addReturn(order, goodsBack()),
  approved: (order, atMs) => addDecision(order, { kind: 'approve' }, atMs),
  rejected: (order, atMs) => addDecision(order, { kind: 'reject', reason: 'fraud' }, atMs),
  invalid: addReversal, // the order's click
}

function hear(changes: Partial<OrderReport>, found: OrderAttribution | null = null): Hear {
  return (order, atMs) => {
    const news = report({ event_id: '2', updated_at_ms: atMs, ...changes })
    return addReport(order, { report: news, attribution: found, atMs }).account
  }
}

test('each event has the effect that the order’s state allows', () => {
  for (const row of LIFE.trimEnd().split('\n').slice(2)) {
    const name = row.slice(0, NAME_COLUMNS).trim()
    for (const [index, { order, days }] of ORDERS.entries()) {
      const atMs = NOW_MS + days * DAY_MS
      const after = HEARD[name]?.(order, atMs) ?? assert.fail(`nobody says ${name}`)
      const state = orderState({ ...datesOf(after), paidAtMs: null }, atMs)
      const { revenueMicros, earningsMicros } = orderFigures(after).net
      const start = NAME_COLUMNS + index * CELL_COLUMNS
      const wanted = row.slice(start, start + CELL_COLUMNS).trim()
      const became = `${state} ${revenueMicros / 1e6} ${earningsMicros / 1e6}`
      assert.equal(became, wanted, `${name}, of order ${index + 1}`)
    }
  }
})
