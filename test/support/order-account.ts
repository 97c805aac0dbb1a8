/** An order's account, built by hand: a report, its click, returns. */

import {
  addReport,
  addReturn,
  EMPTY_ACCOUNT,
  type OrderAccount,
  type OrderAttribution,
  type ReportedReturn,
} from '../../src/orders/order-account.ts'
import type { OrderReport, ReportedLine } from '../../src/orders/order-merge.ts'
import { micros } from '../../src/platform/money/money.ts'
import { DAY_MS } from '../../src/platform/time/timestamp.ts'

export const NOW_MS = Date.UTC(2026, 2, 2, 12)

export function attribution(changes: Partial<OrderAttribution['owner']> = {}): OrderAttribution {
  return {
    model: 'visitor',
    owner: {
      clickId: 'aa',
      clickAtMs: NOW_MS - 1000,
      pubId: 5,
      articleId: 9,
      campaignId: 1,
      terms: { model: 'cpa', ratePpm: 100_000 },
      sharePpm: 1_000_000,
      ...changes,
    },
  }
}

export const EPP = attribution({ terms: { model: 'epp', paymentMicros: micros(1_500_000) } })

export function line(product_id: string, cents: number, quantity: number): ReportedLine {
  return { product_id, name: null, brand: null, price: null, price_minor: `${cents}`, quantity }
}

export function report(changes: Partial<OrderReport> = {}): OrderReport {
  return {
    source: 's2s',
    event_id: '1',
    updated_at_ms: NOW_MS,
    ordered_at_ms: NOW_MS,
    currency: 'USD',
    value: '550.00',
    value_micros: 550_000_000,
    rate_id: 'usd',
    lines: [line('A1', 10_000, 4), line('B1', 15_000, 1)],
    is_new_customer: null,
    is_cancelled: false,
    hold: null,
    ...changes,
  }
}

export function goodsBack(changes: Partial<ReportedReturn> = {}): ReportedReturn {
  return {
    return_id: 'r1',
    event_id: '50',
    accepted_at_ms: NOW_MS + DAY_MS,
    line: null,
    product_id: 'A1',
    quantity: 1,
    returned_at_ms: NOW_MS + DAY_MS,
    ...changes,
  }
}

/** One report about an order, in any order of arrival. */
export type Input =
  | { report: OrderReport; attribution: OrderAttribution | null }
  | { back: ReportedReturn }

export function accountOf(inputs: readonly Input[], atMs = NOW_MS): OrderAccount {
  return inputs.reduce<OrderAccount>(
    (account, item) =>
      'back' in item
        ? addReturn(account, item.back)
        : addReport(account, { ...item, atMs }).account,
    EMPTY_ACCOUNT,
  )
}
