/** Events of the money lane for tests, as edge and intake append them. */
import { createHash } from 'node:crypto'
import {
  EVENT_TYPE,
  MODEL,
  MONEY_LANE,
  newEvent,
  type StoredEvent,
} from '../../src/events/event.ts'
import type { OrderBody, ReturnBody } from '../../src/orders/read-order.ts'
import { utcDay } from '../../src/platform/time/timestamp.ts'

export const START_MS = Date.UTC(2026, 2, 2, 12)

/** Creates events with growing ids and positions, like those of one node. */
export class MoneyEvents {
  #last = 0n

  at(atMs: number, fields: Parameters<typeof newEvent>[0] extends infer F ? Partial<F> : never) {
    this.#last += 1n
    const id = this.#last.toString()
    const day = utcDay(atMs)
    const type = fields.type ?? EVENT_TYPE.click
    const event = newEvent({ lane: MONEY_LANE, ...fields, type, id, atMs })
    return { ...event, seq: id, day } satisfies StoredEvent
  }

  /** A CPA click of 10 %, all of it the publisher's, unless `fields` says otherwise. */
  click(name: string, atMs: number, fields: Partial<StoredEvent> = {}): StoredEvent {
    return this.at(atMs, {
      type: EVENT_TYPE.click,
      clickId: Buffer.from(clickId(name), 'hex'),
      resultNumber: Buffer.from(clickId(`result ${name}`), 'hex'),
      auctionId: '9007199254740993',
      pubId: 5,
      merchId: 3,
      campaignId: 1,
      model: MODEL.cpa,
      termsAmount: 100_000,
      sharePpm: 1_000_000,
      ...fields,
    })
  }

  order(
    orderId: string,
    atMs: number,
    fields: {
      click?: string
      postImpression?: OrderBody['post_impression']
      exact?: string
      merchId?: number
      report?: Partial<OrderBody['report']>
    },
  ) {
    const cents = 55_000
    const body: OrderBody = {
      order_id: orderId,
      exact_click_id: fields.exact === undefined ? null : clickId(fields.exact),
      remembered_click_ids: fields.click === undefined ? [] : [clickId(fields.click)],
      window_days: 30,
      ...(fields.postImpression === undefined ? {} : { post_impression: fields.postImpression }),
      report: {
        source: 's2s',
        updated_at_ms: atMs,
        ordered_at_ms: atMs,
        currency: 'USD',
        value: '550.00',
        value_micros: cents * 10_000,
        rate_id: 'usd',
        lines: [orderLine('A1', 10_000, 4), orderLine('B1', 15_000, 1)],
        is_new_customer: null,
        is_cancelled: false,
        hold: null,
        ...fields.report,
      },
    }
    const type = EVENT_TYPE.order
    return this.at(atMs, { type, merchId: fields.merchId ?? 3, body: JSON.stringify(body) })
  }

  goodsBack(orderId: string, atMs: number, fields: Partial<ReturnBody>): StoredEvent {
    const body: ReturnBody = {
      order_id: orderId,
      return_id: 'r1',
      line: null,
      product_id: 'A1',
      quantity: 1,
      returned_at_ms: atMs,
      ...fields,
    }
    const type = EVENT_TYPE.orderReturn
    return this.at(atMs, { type, merchId: 3, body: JSON.stringify(body) })
  }

  /** A merchant's payment, each with its own reference. */
  payment(atMs: number, dollars: number, fields: Partial<StoredEvent> = {}): StoredEvent {
    const reference = `r${atMs}`
    const body = { reference, paid_on: utcDay(atMs), amount_micros: dollars * 1_000_000 }
    return this.at(atMs, { type: EVENT_TYPE.payment, body: JSON.stringify(body), ...fields })
  }

  decision(orderId: string, atMs: number, decision: object): StoredEvent {
    const body = JSON.stringify({ order_id: orderId, ...decision })
    return this.at(atMs, { type: EVENT_TYPE.orderDecision, merchId: 3, body })
  }
}

export function orderLine(product_id: string, cents: number, quantity: number) {
  return { product_id, name: null, brand: null, price: null, price_minor: `${cents}`, quantity }
}

/** A click id derived from a name: 32 hex characters. */
export function clickId(name: string): string {
  return createHash('md5').update(name).digest('hex')
}
