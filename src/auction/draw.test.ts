import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resultNumber } from '../../test/support/auction-world.ts'
import { gammaQuantile } from '../prediction/predict.ts'
import {
  createSeed,
  drawBits,
  isBelow,
  normalQuantile,
  PURPOSE,
  readSeed,
  uniform,
} from './draw.ts'

const DRAWS = 300_000
const seed = createSeed()

/** Draws over consecutive result numbers, the hardest input for a hash. */
function draws(campaignId: number, purpose: number, count = DRAWS): Float64Array {
  return Float64Array.from({ length: count }, (_, n) => {
    readSeed(resultNumber(n), seed)
    return uniform(drawBits(seed, campaignId, purpose))
  })
}

function chiSquare(values: Float64Array, cells: number): number {
  const counts = new Float64Array(cells)
  for (const value of values) {
    const cell = Math.floor(value * cells)
    counts[cell] = (counts[cell] ?? 0) + 1
  }
  const expected = values.length / cells
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

function correlation(a: Float64Array, b: Float64Array): number {
  let sum = 0
  a.forEach((value, i) => {
    sum += (value - 0.5) * ((b[i] ?? 0) - 0.5)
  })
  return (12 * sum) / a.length // The variance of a uniform distribution is 1/12.
}

test('P16: draws are uniform over result numbers, for every purpose', () => {
  for (const purpose of Object.values(PURPOSE)) {
    const found = chiSquare(draws(17, purpose), 20)
    assert.ok(found < 43.8, `chi-square ${found} on 19 degrees of freedom exceeds 99.9 %`)
  }
})

test('P16: draws are uniform over campaigns of one result', () => {
  readSeed(resultNumber(1), seed)
  const values = Float64Array.from({ length: DRAWS }, (_, campaign) =>
    uniform(drawBits(seed, campaign + 1, PURPOSE.tie)),
  )
  const found = chiSquare(values, 20)
  assert.ok(found < 43.8, `chi-square ${found}`)
})

test('no two campaigns of a result draw the same', () => {
  readSeed(resultNumber(1), seed)
  const seen = new Set<number>()
  for (let campaign = 1; campaign <= DRAWS; campaign++) {
    seen.add(drawBits(seed, campaign, PURPOSE.tie))
  }
  assert.equal(seen.size, DRAWS)
})

test('P16: draws of two purposes, and of two campaigns, are uncorrelated', () => {
  const one = draws(17, PURPOSE.pace)
  const bound = 4 / Math.sqrt(DRAWS)
  for (const [campaign, purpose] of [
    [17, PURPOSE.sample],
    [17, PURPOSE.tie],
    [18, PURPOSE.pace],
    [17 + 65536, PURPOSE.pace],
  ] as const) {
    const found = correlation(one, draws(campaign, purpose))
    assert.ok(Math.abs(found) < bound, `r = ${found} with campaign ${campaign}, ${purpose}`)
  }
})

test('every bit of a result number affects the draw', () => {
  const base = Buffer.alloc(16, 7)
  readSeed(base, seed)
  const before = drawBits(seed, 1, PURPOSE.tie)
  for (let at = 0; at < 128; at++) {
    const other = Buffer.from(base)
    other[at >> 3] = 7 ^ (1 << (at & 7))
    readSeed(other, seed)
    assert.notEqual(drawBits(seed, 1, PURPOSE.tie), before, `bit ${at}`)
  }
})

test('draws never change: a stored receipt must draw the same forever', () => {
  readSeed(Buffer.from('0123456789abcdeffedcba9876543210', 'hex'), seed)
  const { pace, gate, sample, tie } = PURPOSE
  assert.deepEqual(
    [pace, gate, sample, tie].map((purpose) => drawBits(seed, 7, purpose)),
    [134656771, -1500126610, -239765174, 1159234648],
  )
  assert.equal(drawBits(seed, 0, gate), 906185501)
  assert.equal(drawBits(seed, 2 ** 31 - 1, tie), -1405878399)
  assert.deepEqual(
    [0, 1, 2 ** 30, -(2 ** 31), -1].map(normalQuantile),
    [
      -3.6683286081370574, -3.6683286081370574, -0.674489799594482, 2.9180994182446615e-10,
      3.6683286081370574,
    ],
  )
  assert.equal(gammaQuantile(2.5, 0.7), 3.355972079948194)
  assert.equal(gammaQuantile(0.5, -1.3), 0.0022440988194001115)
})

test('a coin of one half passes half of the bits', () => {
  assert.equal(isBelow(0x7fffffff, 0.5), true)
  assert.equal(isBelow(-0x80000000, 0.5), false)
  assert.equal(uniform(0), 0.5 / 2 ** 32)
})

test('a coin always passes at probability 1 and never at 0', () => {
  for (const bits of [0, 1, -1, 0x7fffffff, -0x80000000]) {
    assert.equal(isBelow(bits, 1), true)
    assert.equal(isBelow(bits, 0), false)
    assert.ok(uniform(bits) > 0 && uniform(bits) < 1)
  }
})

test('the normal quantile is symmetric, increasing, and matches known values', () => {
  const at = (p: number) => normalQuantile(Math.floor(p * 2 ** 32) | 0)
  const known = [
    [0.5, 0],
    [0.8413447460685429, 1],
    [0.975, 1.959963984540054],
    [0.995, 2.5758293035489004],
    [0.1, -1.2815515655446004],
  ] as const
  for (const [p, z] of known) assert.ok(Math.abs(at(p) - z) < 2e-5, `${p}: ${at(p)}`)
  for (let p = 0.001; p < 0.999; p += 0.001) {
    assert.ok(at(p + 0.001) > at(p))
    assert.ok(Math.abs(at(p) + at(1 - p)) < 1e-6)
  }
})

test('gamma draws have the specified moments', () => {
  const normals = draws(5, PURPOSE.sample).map((u) => normalQuantile(Math.floor(u * 2 ** 32) | 0))
  const known = [
    { alpha: 0.5, mean: 0.494, variance: 0.49 },
    { alpha: 1, mean: 0.9965, variance: 0.994 },
    { alpha: 20, mean: 19.99, variance: 19.98 },
  ]
  for (const { alpha, mean, variance } of known) {
    const values = normals.map((z) => gammaQuantile(alpha, z))
    const found = values.reduce((sum, value) => sum + value, 0) / DRAWS
    const spread = values.reduce((sum, value) => sum + (value - found) ** 2, 0) / DRAWS
    assert.ok(Math.abs(found / mean - 1) < 0.01, `alpha ${alpha}: mean ${found}`)
    assert.ok(Math.abs(spread / variance - 1) < 0.03, `alpha ${alpha}: variance ${spread}`)
  }
  assert.equal(gammaQuantile(0.5, -3.6), 0)
})
