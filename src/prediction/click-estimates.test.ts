import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClickEstimates } from './click-estimates.ts'
import { clickEvidence, type Evidence, noEvidence } from './evidence.ts'
import { UNFITTED_MODEL } from './prediction-model.ts'

const DAY = 86_400_000
const NOW = Date.parse('2026-04-13T12:00:00Z')

/** Counts as of now, all ripe. */
const seen = (counts: Partial<Evidence>): Evidence => ({ ...noEvidence(NOW), ...counts })

function bookOf(...pairs: [pubId: number, merchId: number, Evidence][]): ClickEstimates {
  const book = new ClickEstimates()
  const evidence = pairs.map(([pubId, merchId, of]) => ({ pubId, merchId, evidence: of }))
  book.take(UNFITTED_MODEL, evidence, NOW)
  return book
}

test('assumes that 97 of 100 clicks are valid until a pair has its own counts', () => {
  assert.equal(new ClickEstimates().of(1, 1).validShare, 0.97)
  const book = bookOf([1, 1, seen({ clicks: 300, invalid: 100 })])
  assert.equal(book.of(1, 1).validShare, (300 + 97) / (300 + 100 + 100))
  assert.equal(book.of(2, 1).validShare, 0.97)
})

test('shrinks a pair to its merchant’s orders at all publishers, and to no other merchant’s', () => {
  const good = seen({ clicks: 1_000, orders: 100 })
  const book = bookOf(
    [1, 1, good],
    [2, 1, seen({ clicks: 1_000 })],
    [1, 2, seen({ clicks: 1_000 })],
  )
  const rate = (pubId: number, merchId: number) => book.of(pubId, merchId).rate.rate
  assert.ok(rate(1, 1) > rate(3, 1), 'its own orders')
  assert.ok(rate(3, 1) > rate(3, 3), 'those of the merchant elsewhere')
  assert.ok(rate(2, 1) < rate(3, 1), 'its own clicks without any')
  assert.ok(rate(3, 3) > rate(3, 2), 'an unknown merchant equals the network')
  const alone = bookOf([1, 1, good])
  assert.ok(alone.of(3, 3).rate.rate > rate(3, 3), 'the network is all merchants together')
})

test('many orders of one click move other merchants’ values no more than one order', () => {
  const of = (orders: number) =>
    seen({
      ...{ clicks: 1, orders, value: orders * 9_999e6, logValue: orders * Math.log(9_999e6) },
      logValueSquare: orders * Math.log(9_999e6) ** 2,
    })
  const elsewhere = (orders: number) => {
    const { rate, value } = bookOf([1, 1, of(orders)], [1, 2, seen({ clicks: 9 })]).of(1, 3)
    return [rate.rate, value.meanMicros]
  }
  assert.deepEqual(elsewhere(60), elsewhere(1))
})

test('values an order by those of its pair, then by its merchant’s', () => {
  const of = (dollars: number) =>
    seen({
      ...{ clicks: 50, orders: 50, value: 50 * dollars * 1e6 },
      logValue: 50 * Math.log(dollars * 1e6),
      logValueSquare: 50 * Math.log(dollars * 1e6) ** 2,
    })
  const book = bookOf([1, 1, of(200)], [2, 1, of(20)], [1, 2, of(20)])
  const value = (pubId: number, merchId: number) => book.of(pubId, merchId).value.meanMicros
  assert.ok(value(1, 1) > value(3, 1) && value(3, 1) > value(2, 1))
  assert.ok(value(3, 1) > value(3, 2) && value(3, 3) === bookOf().of(3, 3).value.meanMicros)
})

test('reads evidence as of the refresh: halved in a half-life, its clicks ripe', () => {
  const { halfLife } = UNFITTED_MODEL
  const click = clickEvidence(NOW - halfLife * DAY, { isValid: true })
  const unripe = click.unripe.map((count) => 600 * count)
  const old = { ...click, clicks: 600, unripe, invalid: 0 }
  assert.equal(bookOf([1, 1, old]).of(1, 1).validShare, (300 + 97) / (300 + 100))
  const fresh = { ...old, atMs: NOW }
  const [known, open] = [bookOf([1, 1, old]), bookOf([1, 1, fresh])]
  // Clicks whose orders are still to come carry no evidence about the rate.
  assert.ok(known.of(1, 1).rate.nEff > open.of(1, 1).rate.nEff)
  assert.deepEqual(open.of(1, 1).rate, bookOf().of(1, 1).rate)
})
