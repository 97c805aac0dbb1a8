import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Check, Clean } from 'typebox/value'
import { candidates, request, resultNumber } from '../../test/support/auction-arbitraries.ts'
import {
  type CandidateSpec,
  hold,
  resultNumber as numberOf,
  type RequestSpec,
} from '../../test/support/auction-world.ts'
import fc from '../../test/support/fast-check.ts'
import { explainAuction } from './explain.ts'
import { Explanation } from './explanation-schema.ts'
import { LOSS } from './loss-code.ts'
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

const merchant = (...ids: number[]) => ({ kind: 'merchant' as const, merchIds: new Set(ids) })

test('the publisher reads every candidate, its numbers, why it lost, the price and the shares', () => {
  const explained = explainAuction(stored(market, asked))
  assert.deepEqual(explained.replay, { kind: 'equal' })
  assert.equal(explained.outcome.price, '0.542235')
  assert.equal(explained.outcome.publisher_earns, '0.406676')
  assert.equal(explained.outcome.platform_keeps, '0.135559')
  assert.equal(explained.outcome.merch_id, 1)
  assert.equal(explained.outcome.runner_up_campaign_id, 2)
  assert.equal(explained.outcome.propensity, 1)
  assert.match(explained.outcome.price_why ?? '', /least bid that still beats the runner-up/)
  assert.match(explained.outcome.price_why ?? '', /\$0\.515123 over the winner's weight 0\.95/)
  assert.deepEqual(
    explained.candidates.map(({ campaign_id, loss }) => [campaign_id, loss?.code ?? 0]),
    [
      [1, LOSS.none],
      [2, LOSS.outbid],
      [3, LOSS.price],
      [4, LOSS.country],
    ],
  )
  const [winner, second, dear, abroad] = explained.candidates
  assert.equal(winner?.bid, '0.60')
  assert.ok(Math.abs((winner?.score_micros ?? 0) - 570_000) < 1e-6)
  assert.ok(Math.abs((second?.reader_benefit ?? 0) - 1.051271) < 1e-6)
  assert.match(second?.loss?.why ?? '', /\$0\.515123 against \$0\.57/)
  assert.match(dear?.loss?.why ?? '', /asks \$107\.00; the most is \$105\.00/)
  assert.equal(dear?.score_micros, null)
  assert.match(abroad?.loss?.why ?? '', /country: US/)
})

test("without a winner, a merchant reads its own reason, not a rival's", () => {
  const auction = stored([
    { name: 'A', merchant: 1, flight: { isActive: false } },
    { name: 'B', merchant: 2, budgetOk: false },
  ])
  const wordFor = (merchId: number) =>
    explainAuction(auction, merchant(merchId)).outcome.reason?.word
  assert.deepEqual([1, 2].map(wordFor), ['inactive', 'unfunded'])
  assert.equal(explainAuction(auction).outcome.reason?.word, 'unfunded')
})

test('a candidate is shown with every number that counted', () => {
  const specs: CandidateSpec[] = [
    {
      name: 'A',
      merchant: 8,
      campaign: 12,
      offerId: '9007199254740993',
      category: 222,
      bidMicros: 600_000,
      exclusiveBidMicros: 450_000,
      ceilingMicros: 500_000.75,
      roasFactor: 0.5,
      quality: 0.8,
      confidencePpm: 980_000,
      paceFactor: 0.75,
      budgetOk: false,
    },
    { name: 'B', model: 'epp', orders: 20, clicks: 800, valuePerOrderMicros: 1_500_000.4 },
    { name: 'C', offerId: '0', isInStock: false, flight: { isActive: false } },
  ]
  const explained = explainAuction(store(specs, { device: 'tablet', country: null }, numberOf(1)))
  const [b, c, a] = explained.candidates
  assert.deepEqual(a, {
    campaign_id: 12,
    merch_id: 8,
    offer_id: '9007199254740993',
    category_id: 222,
    model: 'cpc',
    won: false,
    loss: a?.loss,
    bid: '0.60',
    exclusive_bid: '0.45',
    paced_bid: '0.45',
    roas_ceiling: '0.25',
    roas_factor: 0.5,
    orders_per_click: null,
    evidence_clicks: null,
    value_per_order: null,
    value_range: null,
    price: null,
    quality: 0.8,
    confidence: 0.98,
    pace_factor: 0.75,
    pass_through: 1,
    is_funded: false,
    is_in_stock: true,
    is_live: true,
    reserve: '0.01',
    value_micros: null,
    reader_benefit: null,
    weight: null,
    score_micros: null,
  })
  assert.equal(b?.model, 'epp')
  assert.equal(b?.orders_per_click, 0.025)
  assert.equal(b?.evidence_clicks, 800)
  assert.equal(b?.value_per_order, '1.50')
  assert.equal(b?.bid, null)
  assert.equal(b?.roas_ceiling, null)
  assert.equal(c?.offer_id, null)
  assert.equal(c?.category_id, null)
  assert.equal(c?.is_in_stock, false)
  assert.equal(c?.is_live, false)
  assert.deepEqual(explained.request, {
    country: null,
    device: 'tablet',
    original_merch_id: 0,
    original_price: null,
    original_is_in_stock: true,
    reference_price: null,
    exclusive_match_requested: false,
    pricing: 'second_price',
  })
  assert.equal(explained.outcome.runner_up_score_micros, null)
})

test("a draw below the floor is shown as a draw, beside a click's mean value", () => {
  const drawn: CandidateSpec = { name: 'A', model: 'cpa', orders: 1, clicks: 100 }
  const specs = [
    { ...drawn, valuePerOrderMicros: 13 * DOLLAR },
    { name: 'B', bidMicros: 5_000 },
  ]
  const asked: RequestSpec = { epsilonPpm: 1_000_000, floorMicros: 120_000 }
  const held = Array.from({ length: 9 }, (_, at) => store(specs, asked, numberOf(at)))
  const auction = held.find(({ outcome }) => outcome.winner < 0)
  assert.ok(auction, 'one of them has drawn less than the floor')
  for (const reader of [undefined, merchant(1, 2)]) {
    const [a, b] = explainAuction(auction, reader).candidates.map(({ loss }) => loss?.why ?? '')
    const floor = "the floor is \\$0\\.12, the publisher's\\.$"
    const mean = '\\$0\\.13 on average'
    assert.match(
      a ?? '',
      new RegExp(`explored: it drew \\$0\\.\\d+ for a click .* ${mean}; ${floor}`),
    )
    assert.match(b ?? '', new RegExp(`A click is worth \\$0\\.005 to it; ${floor}`))
  }
})

test('an offer compared with the median says whose price that was', () => {
  const specs = [90, 100, 120].map((price) => ({ name: 'x', priceMicros: price * DOLLAR }))
  const explained = explainAuction(stored(specs, { tolerancePpm: 25_000 }))
  const dear = explained.candidates.find(({ price }) => price === '120.00')
  assert.match(dear?.loss?.why ?? '', /most is \$102\.50, the offers' median \$100\.00 and 2\.5 %/)
})

test('a campaign outbid by its own merchant says so', () => {
  const explained = explainAuction(
    stored([
      { name: 'A', merchant: 4, bidMicros: 600_000 },
      { name: 'B', merchant: 4, bidMicros: 500_000 },
      { name: 'C', bidMicros: 400_000 },
    ]),
  )
  const whys = explained.candidates.map(({ loss }) => loss?.why ?? '')
  assert.match(whys[1] ?? '', /another campaign of the same merchant/)
  assert.match(whys[2] ?? '', /of the winner/)
})

test('a merchant reads its own candidates and no number of a rival', () => {
  const auction = stored(market, asked)
  const rival = explainAuction(auction, merchant(2))
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
  const winner = explainAuction(auction, merchant(1, 9))
  assert.equal(winner.outcome.price, '0.542235')
  assert.equal(winner.outcome.runner_up_score_micros, null)
  assert.ok(!JSON.stringify(winner).includes('515122'))
  assert.ok(!JSON.stringify(winner).includes('0.515123'))
})

test('a manipulated receipt shows its publisher where, and a merchant only that it was', () => {
  const auction = stored(market, asked)
  const { outcome } = auction
  for (const altered of [
    { priceMicros: 542_236 },
    { score: 570_001 },
    { runnerUpScore: 515_124 },
  ]) {
    const found = { ...auction, outcome: { ...outcome, ...altered } }
    const [field] = Object.keys(altered)
    const { replay } = explainAuction(found)
    assert.equal(replay.kind === 'different' && replay.field, field)
    const own = explainAuction(found, merchant(2)).replay
    const { engine } = auction
    assert.deepEqual(own, {
      ...{ kind: 'different', field: null, stored: null, replayed: null },
      engine,
    })
  }
})

test('an auction under other rules is explained with stored numbers only', () => {
  const low = { name: 'L', bidMicros: 9_000 }
  const explained = explainAuction({ ...stored([...market, low], asked), ruleVersion: 9999 })
  assert.deepEqual(explained.replay, { kind: 'other_rules', ruleVersion: 9999 })
  assert.equal(explained.outcome.price, '0.542235')
  assert.equal(explained.outcome.price_why, '$0.542235, by rules that this program does not have.')
  assert.equal(explained.outcome.propensity, null)
  assert.deepEqual(
    explained.candidates.map(({ campaign_id, won, bid, loss }) => [
      campaign_id,
      won,
      bid,
      loss?.why,
    ]),
    [
      [1, true, '0.60', undefined],
      ...[2, 3, 4, 5].map((id) => {
        const { won, bid, loss } = explained.candidates.find((of) => of.campaign_id === id) ?? {}
        return [id, won, bid, lossReason(loss?.code ?? 0).publisher]
      }),
    ],
  )
  for (const {
    reserve,
    value_micros,
    reader_benefit,
    weight,
    score_micros,
  } of explained.candidates) {
    const worked = { reserve, value_micros, reader_benefit, weight, score_micros }
    assert.deepEqual(Object.values(worked), [null, null, null, null, null])
  }
})

test('the price is explained by the rule that set it', () => {
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
  assert.match(why([{ ...cpa, hasSecondRate: true }], {}), /pays 0\.\d+ % of its commission/)
})

test('an auction without a winner says why, and so does each candidate', () => {
  const specs = [
    { name: 'A', budgetOk: false },
    { name: 'B', bidMicros: 90_000, paceFactor: 0 },
  ]
  const explained = explainAuction(stored(specs))
  assert.equal(explained.outcome.won, false)
  assert.equal(explained.outcome.reason?.word, 'unfunded')
  assert.match(explained.outcome.reason?.why ?? '', /keeps its own destination/)
  assert.deepEqual(
    explained.candidates.map(({ loss }) => loss?.word),
    ['unfunded', 'paced'],
  )
  assert.equal(explainAuction(stored([])).outcome.reason?.word, 'no_candidates')
})

/** The API's description covers every field of an explanation and is true. */
function assertDescribed(explained: object): void {
  const sent = JSON.parse(JSON.stringify(explained))
  assert.ok(Check(Explanation, sent), JSON.stringify(sent))
  assert.deepEqual(Clean(Explanation, structuredClone(sent)), sent)
}

test('every auction can be explained, as described, to its publisher and each merchant', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, (specs, some, number) => {
      const auction = store(specs, some, number)
      const explained = explainAuction(auction)
      assert.equal(explained.candidates.length, auction.set.n)
      assert.equal(
        explained.candidates.filter(({ won }) => won).length,
        explained.outcome.won ? 1 : 0,
      )
      for (const merchId of new Set(auction.set.merchId)) {
        const own = explainAuction(auction, merchant(merchId))
        assert.ok(own.candidates.every((candidate) => candidate.merch_id === merchId))
        assert.ok(own.candidates.length > 0)
        assertDescribed(own)
      }
      assertDescribed(explained)
    }),
    { numRuns: 100 },
  )
})

test("every loss code has its own word and sentences, and OpenRTB's name where one exists", () => {
  const reasons = Object.values(LOSS).map(lossReason)
  assert.equal(new Set(reasons.map(({ word }) => word)).size, reasons.length)
  assert.equal(new Set(reasons.map(({ code }) => code)).size, reasons.length)
  assert.equal(lossReason(100).name, 'Bid was Below Auction Floor')
  assert.equal(lossReason(102).name, 'Lost to Higher Bid')
  assert.equal(lossReason(104).name, 'Buyer Seat Blocked')
  assert.throws(() => lossReason(7), /no loss code/)
})

test('a bid that its ROAS goal lowered is not shown as the cost of the click', () => {
  const goal = { name: 'A', bidMicros: 600_000, exclusiveBidMicros: 800_000, roasFactor: 0.5 }
  const why = (asks: RequestSpec, ceilingMicros: number) => {
    const held = stored([{ ...goal, ceilingMicros }], { ...asked, ...asks })
    return explainAuction(held).outcome.price_why ?? ''
  }
  const [exclusive, firstPrice] = [{ isExclusive: true }, { isFirstPrice: true }]
  const lowered = 'lowered to the maximum that its ROAS goal allows'
  const posted = "an exclusive link costs the campaign's posted price"
  assert.equal(why(exclusive, 300_000), `$0.15: ${posted}, $0.80, ${lowered}.`)
  assert.equal(why(exclusive, 1_600_000), `$0.80: ${posted}.`)
  const bid = 'in a first-price market the winner pays its bid'
  assert.equal(why(firstPrice, 300_000), `$0.15: ${bid}, $0.60, ${lowered}.`)
  assert.equal(why(firstPrice, 1_600_000), `$0.60: ${bid}.`)
})
