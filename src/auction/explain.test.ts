import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { candidates, request, resultNumber } from '../../test/auction-arbitraries.ts'
import {
  type CandidateSpec,
  hold,
  resultNumber as numberOf,
  type RequestSpec,
} from '../../test/auction-world.ts'
import { explainAuction } from './explain.ts'
import { LADDER, LOSS } from './loss-code.ts'
import { lossReason } from './loss-reason.ts'
import { packReceipt, type StoredAuction, unpackReceipt } from './receipt.ts'

function stored(specs: readonly CandidateSpec[], asked: RequestSpec = {}): StoredAuction {
  return store(specs, asked, numberOf(3))
}

function store(specs: readonly CandidateSpec[], asked: RequestSpec, number: Buffer): StoredAuction {
  return unpackReceipt(packReceipt({ ...hold(specs, asked, number), resultNumber: number }))
}

const DOLLAR = 1_000_000
const market: CandidateSpec[] = [
  { name: 'A', bidMicros: 600_000, quality: 0.95, priceMicros: 100 * DOLLAR },
  { name: 'B', bidMicros: 500_000, quality: 0.98, priceMicros: 95 * DOLLAR },
  { name: 'C', bidMicros: 700_000, priceMicros: 107 * DOLLAR },
  { name: 'D', bidMicros: 800_000, countries: ['GB'] },
]
const asked: RequestSpec = { originalPriceMicros: 100 * DOLLAR, originalMerchant: 1 }

test('the publisher reads every candidate, its numbers, why it lost, the price and the shares', () => {
  const told = explainAuction(stored(market, asked))
  assert.deepEqual(told.replay, { kind: 'equal' })
  assert.equal(told.outcome.price, '0.542235')
  assert.equal(told.outcome.publisher_earns, '0.406676')
  assert.equal(told.outcome.platform_keeps, '0.135559')
  assert.equal(told.outcome.merch_id, 1)
  assert.equal(told.outcome.runner_up_campaign_id, 2)
  assert.equal(told.outcome.propensity, 1)
  assert.match(told.outcome.price_why ?? '', /least bid that still beats the runner-up/)
  assert.match(told.outcome.price_why ?? '', /\$0\.515123 over the winner's weight 0\.95/)
  assert.deepEqual(
    told.candidates.map(({ campaign_id, loss }) => [campaign_id, loss?.code ?? 0]),
    [
      [1, LOSS.none],
      [2, LOSS.outbid],
      [3, LOSS.price],
      [4, LOSS.country],
    ],
  )
  const [winner, second, dear, abroad] = told.candidates
  assert.equal(winner?.bid, '0.60')
  assert.ok(Math.abs((winner?.score_micros ?? 0) - 570_000) < 1e-6)
  assert.ok(Math.abs((second?.reader_benefit ?? 0) - 1.051271) < 1e-6)
  assert.match(second?.loss?.why ?? '', /\$0\.515123 against \$0\.57/)
  assert.match(dear?.loss?.why ?? '', /asks \$107\.00; the most is \$105\.00/)
  assert.equal(dear?.score_micros, null)
  assert.match(abroad?.loss?.why ?? '', /country: US/)
})

test('a merchant reads its own candidates and no number of a rival', () => {
  const auction = stored(market, asked)
  const rival = explainAuction(auction, { merchId: 2 })
  assert.deepEqual(
    rival.candidates.map(({ campaign_id }) => campaign_id),
    [2],
  )
  assert.equal(rival.outcome.campaign_id, null)
  assert.equal(rival.outcome.price, null)
  assert.equal(rival.publisher, null)
  const text = JSON.stringify(rival)
  for (const secret of ['0.60', '570000', '0.57', '542235', '0.542235']) {
    assert.ok(!text.includes(secret), `${secret} is the winner's`)
  }
  const winner = explainAuction(auction, { merchId: 1 })
  assert.equal(winner.outcome.price, '0.542235')
  assert.equal(winner.outcome.runner_up_score_micros, null)
  assert.ok(!JSON.stringify(winner).includes('515122'))
  assert.ok(!JSON.stringify(winner).includes('0.515123'))
})

test('the price is explained by the rule that made it', () => {
  const [a] = market as [CandidateSpec]
  const why = (specs: readonly CandidateSpec[], more: RequestSpec) =>
    explainAuction(stored(specs, { ...asked, ...more })).outcome.price_why ?? ''
  assert.match(why([a], {}), /Nobody else competed: the floor, \$0\.01, the platform's/)
  assert.match(why([a], { floorMicros: 30_000 }), /\$0\.03, the publisher's/)
  assert.match(why([{ ...a, floorMicros: { '*': 40_000 } }], {}), /\$0\.04, the category's/)
  const weak = { name: 'W', bidMicros: 560_000, quality: 0.5, priceMicros: 100 * DOLLAR }
  assert.match(why([a, weak], { floorMicros: 550_000 }), /less than the floor: \$0\.55, the publ/)
  assert.match(why(market, { isExclusive: true }), /^\$0\.60: .*posted price/)
  assert.match(why(market, { isFirstPrice: true }), /^\$0\.60: .*first-price/)
  const cpa = { name: 'S', model: 'cpa', valuePerOrderMicros: 60 * DOLLAR } as const
  assert.match(why([cpa], {}), /costs nothing; the merchant pays its commission/)
  assert.match(why([{ ...cpa, model: 'epp' }], {}), /fixed payment per purchase/)
  assert.match(why([cpa], { hasCpaSecondRate: true }), /pays 0\.\d+ % of its commission/)
})

test('an auction without a winner says why, and so does each candidate', () => {
  const specs = [
    { name: 'A', budgetOk: false },
    { name: 'B', bidMicros: 9_000, ptr: 0 },
  ]
  const told = explainAuction(stored(specs))
  assert.equal(told.outcome.won, false)
  assert.equal(told.outcome.reason?.word, 'unfunded')
  assert.match(told.outcome.reason?.why ?? '', /keeps its own destination/)
  assert.deepEqual(
    told.candidates.map(({ loss }) => loss?.word),
    ['unfunded', 'paced'],
  )
  assert.equal(explainAuction(stored([])).outcome.reason?.word, 'no_candidates')
})

test('every auction can be explained, to its publisher and to each merchant', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, (specs, some, number) => {
      const auction = store(specs, some, number)
      const told = explainAuction(auction)
      assert.equal(told.candidates.length, auction.set.n)
      assert.equal(told.candidates.filter(({ won }) => won).length, told.outcome.won ? 1 : 0)
      for (const merchId of new Set(auction.set.merchId)) {
        const own = explainAuction(auction, { merchId })
        assert.ok(own.candidates.every((candidate) => candidate.merch_id === merchId))
        assert.ok(own.candidates.length > 0)
      }
      JSON.parse(JSON.stringify(told))
    }),
    { numRuns: 100 },
  )
})

test('every loss code has its words, one word each, and OpenRTB names where it has them', () => {
  const reasons = Object.values(LOSS).map(lossReason)
  assert.equal(new Set(reasons.map(({ word }) => word)).size, reasons.length)
  assert.equal(new Set(reasons.map(({ code }) => code)).size, reasons.length)
  assert.equal(LADDER.length, reasons.length - 1) // all but "won"
  assert.equal(lossReason(100).name, 'Bid was Below Auction Floor')
  assert.equal(lossReason(102).name, 'Lost to Higher Bid')
  assert.equal(lossReason(104).name, 'Buyer Seat Blocked')
  assert.throws(() => lossReason(7), /no loss code/)
})
