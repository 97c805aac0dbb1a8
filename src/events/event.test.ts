import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONSENT } from './consent.ts'
import { EVENT_TYPE, MODEL } from './event.ts'
import { REASON, reasonName } from './reason.ts'
import { DEVICE } from './user-agent.ts'

test('the meaning of a number in the log never changes, because logs outlive versions', () => {
  assert.deepEqual(EVENT_TYPE, {
    pageImpression: 1,
    linkImpression: 2,
    linkViewable: 3,
    placement: 4,
    shopView: 5,
    click: 10,
    leaseClose: 11,
    order: 12,
    orderReturn: 13,
    reversal: 14,
    networkRow: 15,
    payment: 16,
    orderDecision: 17,
    paymentReversal: 18,
  })
  assert.deepEqual(MODEL, { none: 0, cpc: 1, cpa: 2, epp: 3 })
  assert.deepEqual(CONSENT, { unknown: 0, full: 1, contextual: 2 })
  assert.deepEqual(DEVICE, { unknown: 0, desktop: 1, mobile: 2, tablet: 3 })
})

test('a reason keeps its number and its word, and an unknown one is shown as unknown', () => {
  const words = {
    ...{ ok: 0, seal_broken: 1, robot: 3, prefetch: 4, too_fast: 5, unfunded: 6 },
    ...{ blocked_address: 7, rate_limited: 8, unknown_link: 9, foreign_link: 10 },
    ...{ disabled_link: 11, spooled_late: 12, embedded: 13, suspended: 14 },
    ...{ duplicate_result: 20, duplicate_visitor: 21, visitor_limit: 22, reversed: 23 },
    ...{ scanner: 24, address_limit: 25 },
  }
  const codes = Object.values(REASON).map((code) => [reasonName(code), code])
  assert.deepEqual(Object.fromEntries(codes), words)
  assert.equal(reasonName(99), 'reason_99')
})
