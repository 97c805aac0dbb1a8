/** Recomputes a receipt from the API reference's rules, sharing nothing with the core. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidates, request, resultNumber } from '../../test/support/auction-arbitraries.ts'
import { hold } from '../../test/support/auction-world.ts'
import fc from '../../test/support/fast-check.ts'
import { explainAuction } from './explain.ts'
import type { Explanation } from './explanation-schema.ts'
import { packReceipt, unpackReceipt } from './receipt.ts'

type Candidate = Explanation['candidates'][number]
type Scored = Candidate & { value_micros: number; weight: number; score_micros: number }

const microsOf = (dollars: string | null): number => Math.round(Number(dollars) * 1_000_000)
const isScored = (one: Candidate): one is Scored => one.value_micros !== null

function near(found: number, expected: number, what: string): void {
  const error = Math.abs(found - expected)
  assert.ok(error <= 1e-9 * Math.max(1, Math.abs(expected)), `${what}: ${found} for ${expected}`)
}

function checkCandidate(one: Scored, explained: Explanation): void {
  const { request: asked, publisher, outcome } = explained
  assert.ok(publisher)
  const reference = microsOf(asked.reference_price)
  const gain = one.price === null ? 0 : (reference - microsOf(one.price)) / reference
  const power = publisher.beta * Math.min(Math.max(gain, -publisher.tolerance), 0.3)
  near(one.reader_benefit ?? 0, Math.exp(power), 'reader_benefit')
  near(one.weight, one.quality * one.confidence * Math.exp(power), 'weight')
  near(one.score_micros, one.value_micros * one.weight, 'score_micros')
  if (one.model === 'cpc') {
    const typed = asked.exclusive_match_requested ? one.exclusive_bid : one.bid
    assert.equal(microsOf(one.paced_bid), Math.floor(microsOf(typed) * one.pace_factor))
    const most = one.roas_ceiling === null ? Number.POSITIVE_INFINITY : microsOf(one.roas_ceiling)
    assert.equal(one.value_micros, Math.min(microsOf(one.paced_bid), most))
  } else if (!outcome.explored) {
    // A value per order is shown in whole micros, so it may be half a micro off.
    const orders = one.orders_per_click ?? 0
    const off = Math.abs(
      one.value_micros - orders * microsOf(one.value_per_order) * one.pace_factor,
    )
    assert.ok(off <= orders * 0.5 + 1e-6, `value_micros: ${off} off`)
  }
}

function priceOf(winner: Scored, rivalScore: number, asked: Explanation['request']): number {
  if (winner.model !== 'cpc') return 0
  const isTyped = asked.exclusive_match_requested || asked.pricing === 'first_price'
  if (isTyped) return winner.value_micros
  const critical = Math.ceil((rivalScore / winner.weight) * (1 - 1e-12))
  return Math.min(Math.max(critical, microsOf(winner.reserve)), winner.value_micros)
}

test('the numbers of a receipt give its winner, price and shares by the rules of the reference', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(candidates, request, resultNumber, (specs, asked, number) => {
      const held = hold(specs, asked, number)
      const explained = explainAuction(
        unpackReceipt(packReceipt({ ...held, resultNumber: number })),
      )
      const { outcome, publisher } = explained
      const scored = explained.candidates.filter(isScored)
      for (const one of scored) checkCandidate(one, explained)
      const able = scored
        .filter((one) => one.value_micros >= microsOf(one.reserve))
        .sort((a, b) => b.score_micros - a.score_micros)
      assert.equal(outcome.won, able.length > 0)
      const winner = able.find(({ won }) => won)
      if (winner === undefined) return
      assert.equal(winner.score_micros, able[0]?.score_micros)
      const rival = able.find(({ merch_id }) => merch_id !== winner.merch_id)
      assert.equal(outcome.runner_up_score_micros ?? 0, rival?.score_micros ?? 0)
      const price = priceOf(winner, rival?.score_micros ?? 0, explained.request)
      assert.equal(microsOf(outcome.price), price)
      const share = BigInt(Math.round((publisher?.share ?? 0) * 1_000_000))
      const earned = Number((BigInt(price) * share) / 1_000_000n)
      assert.equal(microsOf(outcome.publisher_earns), earned)
      assert.equal(microsOf(outcome.platform_keeps), price - earned)
      seen.add(
        `${winner.model} ${explained.request.exclusive_match_requested} ${rival !== undefined}`,
      )
    }),
  )
  assert.ok(seen.size > 5, `too few cases: ${[...seen].join(', ')}`)
})
