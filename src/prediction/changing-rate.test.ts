/** The rate of counts that may change at any time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { poisson, seededRandom } from '../../test/support/seeded-random.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { estimateChangingRate, type Span } from './changing-rate.ts'

const PRIOR = { rate: 0.02, count: 3, changeChance: 1 / 40 }
const span = fc.record({ exposure: evenly(0, 1e6), count: evenly(0, 1e5) })
const isNear = (one: number, other: number, error: number) => Math.abs(one / other - 1) < error

test('returns the prior without spans, and without anything seen', () => {
  assert.equal(estimateChangingRate([], PRIOR).rate, PRIOR.rate)
  const empty = Array.from({ length: 56 }, () => ({ exposure: 0, count: 0 }))
  assert(isNear(estimateChangingRate(empty, PRIOR).rate, PRIOR.rate, 1e-9))
})

test('is the gamma-Poisson mean of all spans if the rate never changes', () => {
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 20 }), (spans) => {
      const { rate } = estimateChangingRate(spans, { ...PRIOR, changeChance: 1e-300 })
      const exposure = spans.reduce((sum, of) => sum + of.exposure, PRIOR.count / PRIOR.rate)
      const count = spans.reduce((sum, of) => sum + of.count, PRIOR.count)
      // A likelihood ratio beyond 1e300 is a change after all.
      const isPlain = spans.length === 1 || spans.every((of) => of.count < 20)
      if (isPlain) assert(isNear(rate, count / exposure, 1e-6), `${rate} ${count / exposure}`)
    }),
  )
})

test('lies between the lowest and the highest rate of any stretch, and is a number', () => {
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 30 }), (spans) => {
      const { rate, doubt } = estimateChangingRate(spans, PRIOR)
      const own = spans.map((_, from) => {
        const since = spans.slice(from)
        const count = since.reduce((sum, of) => sum + of.count, PRIOR.count)
        return count / since.reduce((sum, of) => sum + of.exposure, PRIOR.count / PRIOR.rate)
      })
      const [least, most] = [Math.min(...own), Math.max(...own)]
      assert(rate >= least * (1 - 1e-9) && rate <= most * (1 + 1e-9), `${least} ${rate} ${most}`)
      assert(doubt >= 0 && doubt <= most - least + 1e-9 * most)
    }),
  )
})

/** 14 days of spans of 6 hours, with `clicks` each; the last `changed` of them at half the rate. */
function spansOf(seed: number, { clicks, changed }: { clicks: number; changed: number }): Span[] {
  const random = seededRandom(seed)
  return Array.from({ length: 56 }, (_, at) => {
    const rate = at < 56 - changed ? 0.05 : 0.025
    return { exposure: clicks, count: poisson(random, clicks * rate) }
  })
}

test('is as precise as the mean of two weeks while nothing changes', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { rate, doubt } = estimateChangingRate(
      spansOf(seed, { clicks: 1_000, changed: 0 }),
      PRIOR,
    )
    // 2,800 orders: 1.9 % standard deviation, and some more because a change is never ruled out.
    assert(isNear(rate, 0.05, 0.07), `seed ${seed}: ${rate}`)
    assert(doubt < 0.1 * rate, `seed ${seed}: ${doubt}`)
  }
})

test('follows a halved rate within the 75 orders that the old one would have brought', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { rate } = estimateChangingRate(spansOf(seed, { clicks: 500, changed: 3 }), PRIOR)
    assert(isNear(rate, 0.025, 0.35), `seed ${seed}: ${rate}`)
  }
})

test('reports more doubt while a change is only suspected', () => {
  const doubtAfter = (changed: number) => {
    const even = Array.from({ length: 56 }, (_, at) => ({
      ...{ exposure: 200, count: at < 56 - changed ? 10 : 5 },
    }))
    const { doubt, rate } = estimateChangingRate(even, PRIOR)
    return doubt / rate
  }
  assert(doubtAfter(0) < 0.05)
  assert(doubtAfter(3) > 0.2)
  assert(doubtAfter(20) < 0.1)
})
