import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CandidateSpec,
  hold,
  makeSet,
  type RequestSpec,
} from '../../test/support/auction-world.ts'
import { MODEL } from '../events/event.ts'
import { CANDIDATES_MAX, offerIdOf, pairCandidates } from './candidate-set.ts'
import { ANY_DEVICE } from './targeting.ts'

const crowd = (count: number): CandidateSpec[] =>
  Array.from({ length: count }, (_, i) => ({ name: `C${i}`, bidMicros: 100_000 + i * 1000 }))

test('of more than 64 candidates, those with the highest possible score stay', () => {
  const set = makeSet(crowd(100))
  assert.equal(set.n, CANDIDATES_MAX)
  assert.equal(Math.min(...set.value), 136_000)
  assert.equal(hold(crowd(100)).winner, 'C99')
})

test('the cut considers quality, match and price, not only the bid', () => {
  const weak = { name: 'weak', bidMicros: 900_000, quality: 0.01 }
  const cheap = { name: 'cheap', bidMicros: 60_000, priceMicros: 70_000_000 }
  const priced = crowd(100).map((spec) => ({ ...spec, priceMicros: 100_000_000 }))
  const names = (specs: readonly CandidateSpec[]) =>
    Array.from(makeSet(specs).offer, (index) => specs[index]?.name)
  const kept = names([weak, cheap, ...priced])
  assert.ok(!kept.includes('weak'))
  assert.ok(kept.includes('cheap'), 'a bid of 6 cents counts 2.46-fold at 30 % below the median')
  const dear = { ...cheap, priceMicros: 104_000_000 }
  assert.ok(!names([weak, dear, ...priced]).includes('cheap'))
})

test("at equal bounds the cut does not depend on the candidates' order", () => {
  const twins = Array.from({ length: 70 }, (_, i) => ({ name: `T${i}`, campaign: i + 1 }))
  const ids = (specs: readonly CandidateSpec[]) => [...makeSet(specs).campaignId].sort()
  assert.deepEqual(ids(twins.toReversed()), ids(twins))
  assert.ok(!ids(twins).includes(65))
})

test("the cut uses the higher of a campaign's two bids", () => {
  const own = { name: 'own', bidMicros: 10_000, exclusiveBidMicros: 900_000 }
  const specs = [own, ...crowd(100)]
  assert.ok([...makeSet(specs).offer].includes(0))
})

test('the cut limits a bid by its ROAS ceiling', () => {
  const goal = { name: 'goal', bidMicros: 900_000, ceilingMicros: 135_999 }
  assert.ok(![...makeSet([goal, ...crowd(100)]).offer].includes(0))
  const borne = { ...goal, ceilingMicros: 136_001 }
  assert.ok([...makeSet([borne, ...crowd(100)]).offer].includes(0))
})

test('offers that the publisher would not accept never displace acceptable ones', () => {
  const good = { name: 'good', priceMicros: 100_000_000, bidMicros: 20_000 }
  const request = { pubId: 5, originalPriceMicros: 100_000_000 }
  const among = (unwelcome: Partial<CandidateSpec>, settings: RequestSpec = {}) => {
    const crowded = crowd(100).map((spec) => ({ ...good, ...spec, ...unwelcome }))
    return hold([...crowded, good], { ...request, ...settings }).winner
  }
  assert.equal(among({ priceMicros: 105_000_001 }), 'good')
  assert.equal(among({ priceMicros: 105_000_000 }), 'C99')
  assert.equal(among({ priceMicros: 0 }, { isPriceRequired: true }), 'good')
  assert.equal(among({ priceMicros: 0 }), 'C99')
  assert.equal(among({ blockPublishers: [5] }), 'good')
  assert.equal(among({ allowPublishers: [6] }), 'good')
  assert.equal(among({ merchant: 7 }, { blockMerchants: [7] }), 'good')
})

test('a merchant with many campaigns displaces no rival and pays what the rival bids', () => {
  const many = crowd(100).map((spec) => ({ ...spec, merchant: 500, bidMicros: 900_000 }))
  const rival = { name: 'rival', merchant: 600, bidMicros: 300_000 }
  for (const originalMerchant of [0, 500]) {
    const { outcome, set } = hold([...many, rival], { originalMerchant })
    assert.equal(set.merchId[outcome.winner], 500)
    assert.equal(outcome.priceMicros, 300_000)
    assert.equal(set.n, CANDIDATES_MAX, 'places that nobody needs stay the merchant’s')
  }
})

test('a merchant keeps its best eight candidates before others get more', () => {
  const many = crowd(100).map((spec, i) => ({ ...spec, merchant: 500, bidMicros: 500_000 - i }))
  const rivals = crowd(100).map((spec, i) => ({ ...spec, merchant: 600 + i, bidMicros: 100_000 }))
  const { merchId, value } = makeSet([...many, ...rivals])
  const own = [...value].filter((_, at) => merchId[at] === 500)
  assert.deepEqual(
    own,
    Array.from({ length: 8 }, (_, i) => 500_000 - i),
  )
})

test('expensive campaigns for some readers leave other readers theirs', () => {
  // Twelve shops, each with a campaign for some countries; those for the last country bid least.
  const many = ['US', 'GB', 'DE', 'FR', 'ES', 'PL'].flatMap((country, at) =>
    crowd(12).map((spec, shop) => ({
      ...spec,
      name: `${country} ${shop}`,
      merchant: 600 + shop,
      countries: [country],
      bidMicros: 900_000 - 100_000 * at - shop,
    })),
  )
  const places = Map.groupBy(makeSet(many).countries, (bits) => bits?.join())
  assert.deepEqual(
    [...places.values()].map(({ length }) => length),
    [11, 11, 11, 11, 10, 10],
  )
  const { winner, outcome } = hold(many, { country: 'PL' })
  assert.deepEqual([winner, outcome.priceMicros], ['PL 0', 399_999])

  // Many targets of one merchant do not get around its limit of eight.
  const greedy = ['AT', 'AU', 'BE', 'CA', 'CH', 'CZ', 'DK', 'FI', 'IE', 'IN'].map((country) => ({
    name: country,
    merchant: 500,
    bidMicros: 990_000,
    countries: [country],
  }))
  const { merchId } = makeSet([...greedy, ...many])
  assert.equal(merchId.filter((id) => id === 500).length, 8)
})

test('the median is the middle known price, the lower of two', () => {
  const median = (...prices: number[]) =>
    makeSet(prices.map((priceMicros) => ({ name: 'x', priceMicros }))).medianPriceMicros
  assert.equal(median(300, 100, 200), 200)
  assert.equal(median(9, 100, 80, 1000), 80)
  assert.equal(median(0, 0, 0, 700), 700)
  assert.equal(median(200, 0, 100), 100)
  assert.equal(median(0), 0)
  assert.equal(median(), 0)
})

test('a merchant counts once in the median with its cheapest price, however many listings it has', () => {
  const fair = { name: 'fair', merchant: 500, bidMicros: 300_000, priceMicros: 100_000_000 }
  const dear = { name: 'dear', merchant: 600, bidMicros: 900_000, priceMicros: 150_000_000 }
  const unpriced = { ...dear, name: 'unpriced', bidMicros: 20_000, priceMicros: 0 }
  const second = { ...dear, name: 'second', flight: { isActive: false } }
  for (const specs of [
    [fair, dear],
    [fair, dear, second, second],
    [fair, unpriced, dear, dear, { ...dear, priceMicros: 160_000_000 }],
  ]) {
    assert.equal(makeSet(specs).medianPriceMicros, 100_000_000)
    assert.equal(hold(specs).winner, 'fair')
  }
  const cheaper = { ...dear, priceMicros: 90_000_000 }
  assert.equal(makeSet([fair, dear, cheaper]).medianPriceMicros, 90_000_000)
})

test('quality and confidence are multiplied into one factor', () => {
  assert.equal(makeSet([{ name: 'A', quality: 0.5, confidencePpm: 980_000 }]).fit[0], 0.49)
})

test('the merchant of an exclusive link is never cut', () => {
  const own = { name: 'own', merchant: 500, bidMicros: 10_000 }
  const specs = [...crowd(100), own]
  const request = { isExclusive: true, originalMerchant: 500 }
  assert.equal(hold(specs, request).winner, 'own')
  const many = Array.from({ length: 70 }, (_, i) => ({ ...own, name: `own${i}`, campaign: i + 1 }))
  assert.equal(makeSet(many, request).n, CANDIDATES_MAX)
})

test('a 64-bit offer id survives its two words', () => {
  const ids = ['0', '1', '4294967296', '9007199254740993', '9223372036854775807']
  const set = makeSet(ids.map((offerId) => ({ name: offerId, offerId })))
  assert.deepEqual(
    ids.map((_, i) => offerIdOf(set, i)),
    ids,
  )
})

test('an estimate that would divide by zero is refused', () => {
  assert.throws(() => makeSet([{ name: 'A', quality: 0 }]), /quality 0 is not within/)
  assert.throws(() => makeSet([{ name: 'A', clicks: 0 }]), /needs clicks/)
})

test('each offer is paired with every campaign of its merchant, and no other', () => {
  const offer = (merchId: number, offerId: string) => ({
    merchId,
    offerId,
    priceMicros: 0,
    isInStock: true,
    confidencePpm: 1_000_000,
    floors: null,
    categoryId: 0,
  })
  const campaign = (campaignId: number, merchId: number) => ({
    index: campaignId,
    campaignId,
    merchId,
    model: MODEL.cpc,
    bidMicros: 1,
    exclusiveBidMicros: 1,
    deviceMask: ANY_DEVICE,
    countries: null,
    hasSecondRate: false,
    publishers: null,
  })
  const campaigns = [campaign(1, 10), campaign(2, 10), campaign(3, 20)]
  const paired = pairCandidates([offer(10, 'a'), offer(30, 'b'), offer(20, 'c')], {
    campaignsOf: (merchId) => campaigns.filter((item) => item.merchId === merchId),
    estimate: () => ({
      alpha: 1,
      nEff: 1,
      valuePerOrderMicros: 0,
      quality: 1,
      ceilingMicros: 1,
    }),
  })
  assert.deepEqual(
    paired.map((item) => [item.offerId, item.offer, item.campaign.campaignId]),
    [
      ['a', 0, 1],
      ['a', 0, 2],
      ['c', 2, 3],
    ],
  )
})

test('ended campaigns and offers out of stock do not displace those that can win', () => {
  const live = { name: 'live', merchant: 500, campaign: 900, bidMicros: 20_000 }
  const over = crowd(100).map((spec) => ({ ...spec, flight: { isActive: false } }))
  const sold = crowd(100).map((spec) => ({ ...spec, isInStock: false }))
  const own = { originalMerchant: 500 }
  for (const past of [over, sold]) {
    assert.equal(hold([...past, live]).winner, 'live')
    // Nor do those of the merchant whose page the link leads to.
    const ownPast = past.map((spec) => ({ ...spec, merchant: 500 }))
    assert.equal(hold([...ownPast, live], own).winner, 'live')
    assert.equal(hold([...ownPast, live], { ...own, isExclusive: true }).winner, 'live')
    const rival = { ...live, merchant: 600 }
    assert.equal(hold([...ownPast, rival], own).winner, 'live')
  }
})

test("of more than 64 campaigns of a link's own merchant the highest bids stay", () => {
  const own = crowd(100).map((spec) => ({ ...spec, merchant: 500 }))
  const request = { originalMerchant: 500, isExclusive: true }
  assert.equal(hold(own, request).winner, 'C99')
  assert.equal(Math.min(...makeSet(own, request).value), 136_000)
})
