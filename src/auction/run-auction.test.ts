import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  type CandidateSpec,
  hold,
  lossWord,
  type RequestSpec,
  resultNumber,
} from '../../test/support/auction-world.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import { micros, publisherPart } from '../platform/money/money.ts'
import { createSeed, drawBits, PURPOSE, readSeed, uniform } from './draw.ts'
import { acceptedBy } from './run-auction.ts'
import { idList } from './targeting.ts'

interface Case {
  readonly rule: string
  readonly request?: RequestSpec
  readonly candidates: readonly CandidateSpec[]
  readonly expect: {
    readonly winner?: string | null
    readonly priceMicros?: number
    readonly ratePpm?: number
    readonly runnerUpScore?: number
    readonly reserveMicros?: number
    readonly explored?: boolean
    readonly reason?: string
    readonly losses?: Readonly<Record<string, string>>
  }
}

interface OracleRow {
  readonly campaign: string
  readonly model: 'CPC' | 'CPA'
  readonly value_micro: number
  readonly price: number
  readonly quality_times_confidence: number
  readonly score: number
}

const CASES = new URL('./cases/', import.meta.url)

for (const file of readdirSync(CASES).sort()) {
  const rule = JSON.parse(readFileSync(new URL(file, CASES), 'utf8')) as Case
  test(`${file}: ${rule.rule}`, () => {
    const { outcome, winner, losses } = hold(rule.candidates, rule.request)
    const known = { ...outcome, winner, losses, reason: lossWord(outcome.reason) }
    for (const [field, expected] of Object.entries(rule.expect)) {
      assert.ok(field in known, `"${field}" is no field of an outcome`)
      assert.deepEqual(known[field as keyof typeof known], expected, field)
    }
  })
}

test('of equal scores the cheaper offer wins, and of equal prices the higher draw', () => {
  const prices = [100_000_001, 100_000_000].map((priceMicros) => ({
    name: String(priceMicros),
    priceMicros,
  }))
  const seed = createSeed()
  for (let n = 0; n < 50; n++) {
    const number = resultNumber(n)
    const asked = { beta: 0, originalPriceMicros: 100_000_000 }
    assert.equal(hold(prices, asked, number).winner, '100000000')
    readSeed(number, seed)
    const draws = [1, 2, 3].map((campaign) => uniform(drawBits(seed, campaign, PURPOSE.tie)))
    const highest = draws.indexOf(Math.max(...draws)) + 1
    const equals = draws.map((_, at) => ({ name: String(at + 1), campaign: at + 1 }))
    assert.equal(hold(equals, {}, number).winner, String(highest))
    assert.equal(hold(equals.toReversed(), {}, number).winner, String(highest))
  }
})

test('a more expensive offer is penalized by its full price difference, within the tolerance', () => {
  const scoreAt = (percent: number) => {
    const specs = [{ name: 'a', priceMicros: percent * 1_000_000 }]
    const asked = { originalPriceMicros: 100_000_000, beta: 1, tolerancePpm: 200_000 }
    return hold(specs, asked).outcome.scores[0] ?? Number.NaN
  }
  for (const percent of [105, 110, 120]) {
    const benefit = scoreAt(percent) / scoreAt(100)
    assert.ok(Math.abs(benefit - Math.exp((100 - percent) / 100)) < 1e-9, `${percent} %`)
  }
})

test('the worked example gives the documented price to the micro-dollar (needs the test data)', (t) => {
  const path = kitPath(t, 'oracles/auction-example.json')
  if (path === null) return
  const { inputs, candidates, expected } = JSON.parse(readFileSync(path, 'utf8'))
  const specs: CandidateSpec[] = candidates.map((row: OracleRow) => ({
    name: row.campaign,
    model: row.model === 'CPC' ? 'cpc' : 'cpa',
    bidMicros: row.value_micro,
    orders: inputs.B.p_order * 1000,
    clicks: 1000,
    valuePerOrderMicros:
      inputs.B.order_value * 1_000_000 * inputs.B.commission * (1 - inputs.B.returns),
    priceMicros: row.price * 1_000_000,
    quality: row.quality_times_confidence,
  }))
  const request = {
    originalPriceMicros: inputs.original_price * 1_000_000,
    originalMerchant: 1,
    floorMicros: inputs.reserve_micro,
    beta: inputs.beta,
    tolerancePpm: inputs.tolerance * 1_000_000,
    sharePpm: inputs.publisher_share * 1_000_000,
  }
  const { outcome, winner } = hold(specs, request)
  candidates.forEach((row: OracleRow, i: number) => {
    assert.ok(Math.abs((outcome.scores[i] ?? 0) - row.score) < 0.01, `score of ${i}`)
  })
  assert.equal(winner, expected.winner)
  assert.equal(outcome.priceMicros, expected.price_micro)
  const share = publisherPart(micros(outcome.priceMicros), request.sharePpm)
  assert.equal(share, expected.publisher_micro)
  assert.equal(outcome.priceMicros - share, expected.platform_micro)
  const first = { ...request, isFirstPrice: true }
  const exclusive = { ...request, isExclusive: true }
  for (const posted of [first, exclusive]) {
    const held = hold(specs, posted)
    assert.equal(held.winner, 'A')
    assert.equal(held.outcome.priceMicros, expected.first_price_or_exclusive_micro)
  }
  const alone = hold(specs.slice(0, 1), request)
  assert.equal(alone.outcome.priceMicros, inputs.reserve_micro)
  const commission = hold(specs.slice(1, 2), request)
  assert.equal(commission.winner, 'B')
  assert.equal(commission.outcome.priceMicros, 0)
})

test('the cut prefers candidates that both lists admit, with a required price, within the tolerance', () => {
  type Asked = Parameters<typeof acceptedBy>[0]
  type Candidate = Parameters<ReturnType<typeof acceptedBy>>[0]
  const accepts = (
    publisher: Partial<Asked['publisher']>,
    { publishers = null, ...offer }: { publishers?: object | null; priceMicros?: number } = {},
  ): boolean => {
    const own = { pubId: 7, merchants: null, isPriceRequired: false, tolerancePpm: 50_000 }
    const asked = { publisher: { ...own, ...publisher }, originalPriceMicros: 0 } as Asked
    const candidate = { campaign: { publishers }, merchId: 3, priceMicros: 105, ...offer }
    return acceptedBy(asked)(candidate as Candidate, 100)
  }
  assert.ok(accepts({}), 'at exactly the tolerance')
  assert.ok(!accepts({}, { priceMicros: 106 }))
  assert.ok(accepts({}, { publishers: idList([7], []) }))
  assert.ok(!accepts({}, { publishers: idList([8], []) }))
  assert.ok(!accepts({}, { publishers: idList([], [7]) }))
  assert.ok(accepts({ merchants: idList([3], []) }))
  assert.ok(!accepts({ merchants: idList([4], []) }))
  assert.ok(!accepts({ merchants: idList([], [3]) }))
  assert.ok(accepts({}, { priceMicros: 0 }))
  assert.ok(!accepts({ isPriceRequired: true }, { priceMicros: 0 }))
  assert.ok(accepts({ isPriceRequired: true }, { priceMicros: 1 }))
})
