import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Payments } from './api.ts'
import {
  bestLinks,
  type LinkHealth,
  latePayments,
  lostLinks,
  setUpSteps,
} from './publisher-health.ts'

const link = (figures: Partial<LinkHealth>): LinkHealth => ({
  ...{ auction_id: '1', health: 'earning', money_at_risk: '0.00', clicks: 0, earnings: '0.00' },
  ...{ earnings_by_day: [], product: null, url: '', article_name: '' },
  ...figures,
})

test('the set-up ends with the first earning', () => {
  const seen = { datetime_last_page_view: '2026-03-02T10:00:00Z' }
  const done = (links: LinkHealth[]) =>
    setUpSteps(seen, links).filter(({ isDone }) => isDone).length
  assert.equal(done([]), 1)
  assert.equal(done([link({}), link({ clicks: 2 })]), 3)
  assert.equal(done([link({ clicks: 2, earnings: '0.004' })]), 4)
})

test('only links that earned before they stopped are at risk', () => {
  const links = [link({ money_at_risk: '1.50' }), link({ health: 'dead' }), link({ clicks: 9 })]
  assert.deepEqual(lostLinks(links), { count: 1, perDay: 1.5 })
})

test('yesterday’s best links are those with the highest earnings of the last whole day', () => {
  const on = (auction_id: string, ...earnings_by_day: string[]) =>
    link({ auction_id, earnings_by_day })
  const links = [
    on('big today', '0.00', '9.00'),
    on('third', '0.30', '0.00'),
    on('best', '2.00', '0.00'),
    on('fourth', '0.20', '0.00'),
    on('second', '1.10', '0.00'),
  ]
  assert.deepEqual(
    bestLinks(links).map(({ auction_id }) => auction_id),
    ['best', 'second', 'third'],
  )
})

test('a debt is late after 30 days', () => {
  const of = (due_since: string | null, due_usd: string) => ({ due_since, due_usd })
  const merchants = [of('2026-01-01', '3.00'), of('2026-02-20', '5.00'), of(null, '0.00')]
  const payments = { merchants } as Payments
  assert.deepEqual(latePayments(payments, Date.parse('2026-03-02')), { count: 1, usd: 3 })
})
