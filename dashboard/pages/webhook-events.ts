/** The events of webhooks in words, each with an example of its data. */
import type { Organization } from '../../src/accounts/permission.ts'

export interface EventKind {
  readonly event: string
  readonly when: string
  readonly data: Readonly<Record<string, unknown>>
}

const ORDER = {
  order_id: '1788080000000042',
  checkout_id: 'A-1001',
  merch_id: 3,
  pub_id: 7,
  article_id: 11,
  click_id: '0f8f7f1a5b0c4d2e9a3b6c7d8e9f0a1b',
  locks_at: '2026-04-01T10:00:00Z',
} as const

/** The events that an organization can receive. Each side sees only its own money. */
export function eventsOf(kind: Organization['kind']): readonly EventKind[] {
  const isPublisher = kind === 'publisher'
  const own = (amount: string) =>
    isPublisher ? { earnings_usd: amount } : { commission_usd: amount }
  const net = isPublisher ? { net_earnings_usd: '4.50' } : { net_commission_usd: '6.00' }
  return [
    {
      event: 'order.attributed',
      when: 'An order counts for a click',
      data: { ...ORDER, event_id: '1788080000000041', revenue_usd: '89.90', ...own('4.50') },
    },
    {
      event: 'order.returned',
      when: 'An order or a part of it is returned',
      data: { ...ORDER, event_id: '1788080000000043', revenue_usd: '-89.90', ...own('-4.50') },
    },
    {
      event: 'order.locked',
      when: 'The amounts of an order are final',
      data: { ...ORDER, locked_at: '2026-04-01T10:00:00Z', net_revenue_usd: '89.90', ...net },
    },
    ...(isPublisher ? [PAYOUT] : []),
    {
      event: 'key.used_from_new_place',
      when: 'An API key is used from a new network',
      data: { token_id: 5, description: 'Nightly report', used_at: '2026-03-02T10:00:00Z' },
    },
  ]
}

const PAYOUT: EventKind = {
  event: 'payout.ready',
  when: 'The statement of a month has a payout',
  data: { statement_id: 'S7-202603', month: '2026-03', amount_usd: '150.56' },
}
