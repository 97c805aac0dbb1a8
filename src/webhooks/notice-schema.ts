/** The `data` of each event, as make-notices.ts and key-notices.ts fill it, for its receivers. */
import Type, { type TProperties } from 'typebox'
import { orNull } from '../platform/http/field-types.ts'
import type { WebhookEvent } from './webhook.ts'

const text = (example: string, description = '') =>
  Type.String({ examples: [example], ...(description === '' ? {} : { description }) })
const number = (example: number) => Type.Integer({ examples: [example] })

const ORDER = {
  order_id: text('1001', 'Of Souk'),
  checkout_id: text('A-1001', 'The merchant’s own'),
  merch_id: number(2),
  pub_id: number(1),
  article_id: number(7),
  click_id: text('9f86d081884c7d659a2feaa0c55ad015'),
  locks_at: orNull(
    Type.String({ examples: ['2026-05-31T10:00:00Z'] }),
    'When the amounts become final',
  ),
}
const CHANGE = {
  event_id: text('5003'),
  revenue_usd: text('49.99', 'The change of the order’s revenue; negative for a return'),
}
const EARNINGS = { earnings_usd: text('2.40', 'The change of your earnings') }
const COMMISSION = { commission_usd: text('3.00', 'The change of the commission that you owe') }
const LOCK = {
  locked_at: text('2026-05-31T10:00:00Z'),
  net_revenue_usd: text('49.99', 'Less all returns so far'),
}

export interface NoticeDescription {
  readonly summary: string
  readonly publisher: TProperties
  /** Null: merchants do not receive the event. */
  readonly merchant: TProperties | null
}

export const NOTICES: Readonly<Record<WebhookEvent, NoticeDescription>> = {
  'order.attributed': {
    summary: 'An order was attributed to a click.',
    publisher: { ...ORDER, ...CHANGE, ...EARNINGS },
    merchant: { ...ORDER, ...CHANGE, ...COMMISSION },
  },
  'order.locked': {
    summary: 'The amounts of an order became final.',
    publisher: {
      ...{ ...ORDER, ...LOCK },
      net_earnings_usd: text('2.40', 'Your earnings, less all returns so far'),
    },
    merchant: {
      ...{ ...ORDER, ...LOCK },
      net_commission_usd: text('3.00', 'The commission that you owe, less all returns so far'),
    },
  },
  'order.returned': {
    summary: 'Goods of an order were returned.',
    publisher: { ...ORDER, ...CHANGE, ...EARNINGS },
    merchant: { ...ORDER, ...CHANGE, ...COMMISSION },
  },
  'payout.ready': {
    summary: 'A monthly statement with a payout was issued.',
    publisher: {
      statement_id: text('S1-202611'),
      month: text('2026-11'),
      amount_usd: text('312.40'),
    },
    merchant: null,
  },
  'key.used_from_new_place': {
    summary: 'An API key was used from a network that is new for it (IPv4 /24, IPv6 /48).',
    publisher: keyFields(),
    merchant: keyFields(),
  },
}

function keyFields() {
  return {
    token_id: number(12),
    description: text('Reports', 'The label of the key'),
    used_at: text('2026-03-02T10:00:00Z'),
  }
}
