/** The clicks that an order stores as evidence, report by report. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PayTerms } from '../events/pay-terms.ts'
import { micros } from '../platform/money/money.ts'
import type { TouchEvidence } from './attribute.ts'
import {
  addReport,
  addReversal,
  EMPTY_ACCOUNT,
  type OrderAccount,
  type OrderAttribution,
} from './order-account.ts'
import type { OrderReport } from './order-merge.ts'

const NOW_MS = Date.UTC(2026, 2, 2, 12)
const report: OrderReport = {
  ...{ source: 's2s', event_id: '1', updated_at_ms: NOW_MS, ordered_at_ms: NOW_MS, rate_id: 'usd' },
  ...{ currency: 'USD', value: '550.00', value_micros: 550_000_000, lines: [], hold: null },
  ...{ is_new_customer: null, is_cancelled: false },
}

const EPP: PayTerms = { model: 'epp', paymentMicros: micros(1_500_000) }

/** Locked at once by default, because returns do not reduce EPP. */
function owedTo(clickId: string, terms: PayTerms = EPP): OrderAttribution {
  const owner = { clickId, clickAtMs: NOW_MS - 1000, pubId: 5, articleId: 9, campaignId: 1 }
  return { model: 'visitor', owner: { ...owner, terms, sharePpm: 1_000_000 } }
}

test('evidence stays with its attribution, and without one the last report with clicks counts', () => {
  const seen = (id: string): TouchEvidence => ({ id, at_ms: null, verdict: 'unknown_click' })
  const after = (account: OrderAccount, owner: OrderAttribution | null, ...ids: string[]) =>
    addReport(account, { report, attribution: owner, evidence: ids.map(seen), atMs: NOW_MS })
      .account
  const ids = (account: OrderAccount) => account.evidence.map(({ id }) => id)
  const nobody = after(EMPTY_ACCOUNT, null, 'a')
  assert.deepEqual(ids(after(nobody, null)), ['a'], 'a report that names no click adds no evidence')
  assert.deepEqual(ids(after(nobody, null, 'b')), ['b'])
  const owed = after(nobody, owedTo('aa'), 'c')
  assert.deepEqual(ids(owed), ['c'])
  assert.deepEqual(ids(after(owed, null, 'd')), ['c'])
  assert.deepEqual(ids(after(owed, owedTo('bb'), 'd')), ['c'])
})

test('a repeated order is owed to a reversed click only if it was before', () => {
  const after = (account: OrderAccount, attribution: OrderAttribution | null) =>
    addReport(account, { report, attribution, atMs: NOW_MS }).account
  const locked = after(EMPTY_ACCOUNT, owedTo('aa'))
  assert.equal(after(locked, null).isClickReversed, false)
  const reversed = addReversal(locked, NOW_MS + 1)
  assert.deepEqual([reversed.isClickReversed, reversed.rejection], [true, null])
  assert.equal(after(reversed, null).isClickReversed, true)
})

test('an order locked at once keeps its click, also when another one is named', () => {
  const named = { ...owedTo('bb'), model: 'exact' } as const
  const reported = (account: OrderAccount, attribution: OrderAttribution, atMs: number) =>
    addReport(account, { report, attribution, atMs }).account
  const locked = reported(EMPTY_ACCOUNT, owedTo('aa'), NOW_MS)
  assert.equal(reported(locked, named, NOW_MS + 1).attribution?.owner.clickId, 'aa')
})

test('no later report restores a cancelled order whose click was reversed', () => {
  const reported = (account: OrderAccount, atMs: number, changes: Partial<OrderReport> = {}) => {
    const sent = { ...report, event_id: `${atMs}`, updated_at_ms: atMs, ...changes }
    return addReport(account, {
      report: sent,
      attribution: owedTo('aa', { model: 'cpa', ratePpm: 1_500_000 }),
      atMs,
    })
  }
  const cancelled = reported(EMPTY_ACCOUNT, NOW_MS, { is_cancelled: true }).account
  const reversed = addReversal(cancelled, NOW_MS + 1)
  assert.deepEqual(reversed.rejection, { reason: 'click_reversed', atMs: NOW_MS })
  assert.equal(reported(cancelled, NOW_MS + 2).ignored, null)
  assert.equal(reported(reversed, NOW_MS + 2).ignored, 'rejected')
})
