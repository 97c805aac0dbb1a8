import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOON_MS, resultNumber } from '../../test/support/auction-world.ts'
import { PUBLISHER_DEFAULTS } from '../accounts/publisher.ts'
import { LeaseBook, UNCAPPED_LEASE } from '../budgets/lease.ts'
import { PacingBook } from '../budgets/pacing-book.ts'
import { HOURS_PER_WEEK } from '../budgets/traffic-curve.ts'
import { CONSENT } from '../events/consent.ts'
import { packTerms } from '../events/pay-terms.ts'
import { DEVICE } from '../events/user-agent.ts'
import { ClickEstimates } from '../prediction/click-estimates.ts'
import { auctionResult, NOBODY } from './auction-result.ts'
import { Decider, type DeciderOptions } from './decide.ts'
import type { LinkData, OfferRow } from './link-store.ts'
import { LOSS } from './loss-code.ts'
import { type Campaign, indexMarket, type Market, type Merchant, type Publisher } from './market.ts'
import { unpackReceipt } from './receipt.ts'

const DOLLAR = 1_000_000
/** Shared by every snapshot here. */
const FIRST = { version: 1, disabledLinks: [] }
const PUBLISHER: Publisher = {
  ...PUBLISHER_DEFAULTS,
  ...{ pub_id: 1, uid: 1, name: 'Daily', slug: 'daily', floor_micros: '0', epsilon_ppm: 0 },
}

const merchant = (merch_id: number): Merchant => ({
  ...{ merch_id, name: `M${merch_id}`, domains: [`m${merch_id}.example`], click_param: 'cid' },
  ...{ deep_link: null, feed_imported_at: null },
})

const campaign = (campaign_id: number, merch_id: number, dollars: number): Campaign => ({
  ...{ campaign_id, merch_id, model: 'cpc', bid_micros: String(dollars * DOLLAR) },
  ...{ exclusive_bid_micros: null, rate_ppm: null, payment_micros: null, roas: null },
  ...{ daily_budget_micros: null, budget_micros: null, starts_at: null, ends_at: null },
  ...{ countries: [], devices: [], allow_publishers: [], block_publishers: [] },
  ...{ tracker_impression: [], tracker_viewable: [], state: 'active', has_second_rate: false },
  ...{ clicks_per_address_hour: 10, clicks_per_address_day: 50 },
})

const offer = (merch_id: number, dollars: number): OfferRow => ({
  ...{ offer_id: String(merch_id), merch_id, product_id: '1', title: 'Kettle' },
  ...{ url: `https://m${merch_id}.example/p`, image_url: null },
  ...{ price_micros: String(dollars * DOLLAR), is_in_stock: true, category_id: null },
})

/** A link to the page of the first offer's merchant. */
function linkTo(offers: readonly OfferRow[], isExclusive: boolean): LinkData {
  const [original = offer(1, 100)] = offers
  return {
    link: {
      ...{ auction_id: '1', pub_id: 1, url: original.url, unwraps: false },
      ...{ article_url: 'https://daily.example/a', is_exclusive: isExclusive, is_keyless: false },
    },
    ...{ page: original.url, original, offers },
  }
}

function makeDecider(market: Market, some: Partial<DeciderOptions> = {}) {
  const options: DeciderOptions = {
    ...{ book: new LeaseBook(), estimates: new ClickEstimates(), pacing: new PacingBook() },
    ...{ pricing: 'second_price', now: () => NOON_MS },
  }
  return new Decider({ ...options, ...some }, market)
}

/** The winner of the link's auction, and the sealed terms. */
function outcomeOf(decider: Decider, data: LinkData, unfunded: readonly number[] = []) {
  const { winner, terms } = decided(decider, data, unfunded)
  return [winner?.merchant.merch_id, packTerms(terms).amount / DOLLAR] as const
}

const CONTEXT = {
  ...{ nowMs: NOON_MS, consent: CONSENT.full, device: DEVICE.desktop, country: null },
  isAtClick: false,
}

function decided(decider: Decider, data: LinkData, unfunded: readonly number[] = []) {
  return decider.decide(data, { context: CONTEXT, resultNumber: resultNumber(1), unfunded })
}

/** The receipt of a link's auction. */
function receiptOf(decider: Decider, data: LinkData, unfunded: readonly number[] = []) {
  return unpackReceipt(decided(decider, data, unfunded).receipt?.packed ?? Buffer.alloc(0))
}

function decide(
  campaigns: readonly Campaign[],
  data: LinkData,
  settings: Partial<Publisher> = {},
  pacing = new PacingBook(),
): readonly [number | undefined, number] {
  const publishers = [{ ...PUBLISHER, ...settings }]
  const merchants = campaigns.map(({ merch_id }) => merchant(merch_id))
  const market = indexMarket({ ...FIRST, publishers, merchants, campaigns })
  return outcomeOf(makeDecider(market, { pacing }), data)
}

test('a merchant of seventy campaigns pays what its rival bids, also on its own page', () => {
  const own = Array.from({ length: 70 }, (_, at) => campaign(100 + at, 1, 0.9))
  const campaigns = [...own, campaign(1, 2, 0.3)]
  for (const offers of [
    [offer(1, 100), offer(2, 100)],
    [offer(2, 100), offer(1, 100)],
  ]) {
    assert.deepEqual(decide(campaigns, linkTo(offers, false)), [1, 0.3])
  }
})

test('seventy offers that the publisher would not accept leave room for an acceptable one', () => {
  const others = Array.from({ length: 70 }, (_, at) => 10 + at)
  const campaigns = [...others.map((id) => campaign(id, id, 5)), campaign(1, 1, 0.3)]
  const linkAmong = (dollars: number, isExclusive: boolean) =>
    linkTo([offer(1, 100), ...others.map((id) => offer(id, dollars))], isExclusive)
  const among = (dollars: number, settings?: Partial<Publisher>) =>
    decide(campaigns, linkAmong(dollars, false), settings)
  assert.deepEqual(among(106), [1, 0.01])
  assert.deepEqual(among(100, { block_merchants: others }), [1, 0.01])
  assert.equal(among(100)[1], 5, 'they crowd out those that the publisher likes no better')
  assert.deepEqual(decide(campaigns, linkAmong(100, true)), [1, 0.3], 'an exclusive link has one')
})

// Before any evidence, one click in fifty brings an order of $60, of which a tenth is returned.
const PER_ORDER = { bid_micros: null, rate_ppm: null, payment_micros: null }

test('a merchant that pays per order competes by its expected value and seals its contract', () => {
  const both = linkTo([offer(1, 100), offer(2, 100)], false)
  const commission = { ...campaign(1, 1, 0), ...PER_ORDER, model: 'cpa', rate_ppm: 80_000 } as const
  assert.deepEqual(decide([commission, campaign(2, 2, 0.086)], both), [1, 0.08], 'a dollar')
  assert.deepEqual(decide([commission, campaign(2, 2, 0.087)], both), [2, 0.0864])
  const payment = { ...campaign(1, 1, 0), ...PER_ORDER, model: 'epp' } as const
  const fixed = { ...payment, payment_micros: '4800000' }
  assert.deepEqual(decide([fixed, campaign(2, 2, 0.095)], both), [1, 4.8], 'a purchase')
  assert.deepEqual(decide([fixed, campaign(2, 2, 0.097)], both), [2, 0.096], 'whatever returns')
})

test('a campaign with the second rate seals the lowest rate that still wins', () => {
  const both = linkTo([offer(1, 100), offer(2, 100)], false)
  const full = { ...campaign(1, 1, 0), ...PER_ORDER, model: 'cpa', rate_ppm: 80_000 } as const
  const second = { ...full, has_second_rate: true }
  // A click is worth $0.0864 to it at its full rate of 8 %.
  assert.deepEqual(decide([second, campaign(2, 2, 0.0432)], both), [1, 0.04])
  assert.deepEqual(decide([full, campaign(2, 2, 0.0432)], both), [1, 0.08])
  const locked = linkTo([offer(1, 100), offer(2, 100)], true)
  assert.deepEqual(decide([second, campaign(2, 2, 0.0432)], locked), [1, 0.08])
})

test("a ROAS goal lowers the bid to a click's expected value times the campaign's multiplier", () => {
  const goal = { ...campaign(1, 1, 0.9), roas: 4 }
  const posted = linkTo([offer(1, 100)], true)
  assert.deepEqual(decide([campaign(1, 1, 0.9)], posted), [1, 0.9])
  assert.deepEqual(decide([goal], posted), [1, 0.27], '.02 · $60 / 4, a tenth is returned')
  assert.deepEqual(decide([{ ...goal, bid_micros: '200000' }], posted), [1, 0.2])
  const pacing = new PacingBook()
  pacing.take({ traffic: new Map(), multipliers: new Map([[1, 0.5]]) })
  assert.deepEqual(decide([goal], posted, {}, pacing), [1, 0.135])
  assert.deepEqual(decide([campaign(1, 1, 0.9)], posted, {}, pacing), [1, 0.9], 'it has no goal')
  pacing.take({ traffic: new Map(), multipliers: new Map([[1, 2]]) })
  assert.deepEqual(decide([goal], posted, {}, pacing), [1, 0.27], 'a posted price has no rival')
  const contested = linkTo([offer(1, 100), offer(2, 100)], false)
  assert.deepEqual(decide([goal, campaign(2, 2, 0.5)], contested, {}, pacing), [1, 0.5])
})

test('flights start and end, and feeds expire, at the tick after their time', () => {
  let nowMs = NOON_MS
  const [starts_at, ends_at] = [new Date(NOON_MS + 1_000), new Date(NOON_MS + 90_000_000)]
  const fed = { ...merchant(1), feed_imported_at: new Date(NOON_MS) }
  const flown = { ...merchant(2), feed_imported_at: null }
  const market = indexMarket({
    ...{ ...FIRST, publishers: [PUBLISHER], merchants: [fed, flown] },
    campaigns: [campaign(1, 1, 0.3), { ...campaign(2, 2, 0.5), starts_at, ends_at }],
  })
  const data = linkTo([offer(1, 100), offer(2, 100)], false)
  const decider = makeDecider(market, { now: () => nowMs })
  const winnerAt = (afterMs: number) => {
    nowMs = NOON_MS + afterMs
    decider.tick()
    return outcomeOf(decider, data)[0]
  }
  assert.deepEqual([winnerAt(999), winnerAt(1_000)], [1, 2])
  assert.deepEqual([winnerAt(86_400_000), winnerAt(89_999_999)], [2, 2])
  assert.equal(winnerAt(90_000_000), undefined, 'one is over, the feed of the other a day old')
})

test('a link is laid out again for each snapshot, so a raised bid counts at once', () => {
  const data = linkTo([offer(1, 100), offer(2, 100)], false)
  const marketOf = (dollars: number) => {
    const campaigns = [campaign(1, 1, 0.3), campaign(2, 2, dollars)]
    const merchants = [merchant(1), merchant(2)]
    return indexMarket({ ...FIRST, publishers: [PUBLISHER], merchants, campaigns })
  }
  const decider = makeDecider(marketOf(0.2))
  assert.deepEqual(outcomeOf(decider, data), [1, 0.2])
  decider.setMarket(marketOf(0.4))
  assert.deepEqual(outcomeOf(decider, data), [2, 0.3])
})

test("if a merchant's feed lacks one of its own pages, its campaign bids for that page", () => {
  const page = { ...linkTo([], false), original: null }
  const silent = { ...page, link: { ...page.link, url: 'https://m3.example/p' } }
  const campaigns = [campaign(1, 1, 0.5), campaign(3, 3, 0.4)]
  assert.deepEqual(decide(campaigns, { ...silent, page: 'https://m3.example/p' }), [3, 0.01])
})

test('a daily budget is paced along the traffic of the publishers it may appear at', () => {
  const pacing = new PacingBook()
  const hours = (isBusy: (hour: number) => boolean) =>
    Float64Array.from({ length: HOURS_PER_WEEK }, (_, hour) => (isBusy(hour % 24) ? 1e6 : 0))
  const traffic = new Map([
    [1, hours((hour) => hour < 10)],
    [2, hours((hour) => hour >= 20)],
  ])
  pacing.take({ traffic, multipliers: new Map() })
  let nowMs = NOON_MS
  const daily = { daily_budget_micros: String(10 * DOLLAR) }
  const campaigns: Campaign[] = [
    { ...campaign(1, 1, 0.1), ...daily, allow_publishers: [2] }, // None of its readers has come.
    { ...campaign(2, 1, 0.1), ...daily, block_publishers: [1] },
    { ...campaign(3, 1, 0.1), ...daily }, // Half of them have.
    { ...campaign(4, 1, 0.1), ...daily, allow_publishers: [1, 2], block_publishers: [1] },
    { ...campaign(5, 1, 0.1), ...daily, exclusive_bid_micros: String(DOLLAR / 2) },
    { ...campaign(6, 1, 0.5), ...daily, exclusive_bid_micros: String(DOLLAR / 10) },
    { ...campaign(7, 1, 0.1), budget_micros: String(10 * DOLLAR) },
    { ...campaign(8, 1, 0), ...PER_ORDER, ...daily, model: 'cpa', rate_ppm: 80_000 },
  ]
  const publishers = [PUBLISHER, { ...PUBLISHER, pub_id: 2 }]
  const market = indexMarket({ ...FIRST, publishers, merchants: [merchant(1)], campaigns })
  const decider = makeDecider(market, { pacing, now: () => nowMs })
  decider.tick()
  const spent = { day: '2026-03-02', daySettledMicros: 7 * DOLLAR, leaseId: 1, grantedMicros: 0 }
  const elsewhere = { refillableMicros: 0, inFlightElsewhereMicros: 0, fairMicros: 0 }
  pacing.noteSpent(
    campaigns.map(({ campaign_id }) => ({ ...spent, ...elsewhere, campaignId: campaign_id })),
    NOON_MS,
  )
  nowMs += 60_000
  decider.tick()
  const { link, ...rest } = linkTo([offer(1, 100)], false)
  const data = { ...rest, link: { ...link, pub_id: 2 } }
  const { set, outcome } = receiptOf(decider, data)
  const idsOf = (isSuch: (at: number) => boolean) =>
    Array.from(set.campaignId, (id, at) => (isSuch(at) ? [id] : []))
      .flat()
      .toSorted()
  const lowered = idsOf((at) => (set.state.paceFactor[at] ?? 1) < 1)
  assert.deepEqual(lowered, [1, 2, 3, 4, 5, 6])
  const silent = idsOf((at) => outcome.losses[at] === LOSS.paced)
  assert.ok(silent.includes(1) && !silent.includes(3), `${silent}`)
})

test('leases are requested for campaigns with a click price and a budget that may run now', () => {
  const book = new LeaseBook()
  const daily = { daily_budget_micros: '90000000' }
  const [before, soon, after] = [-60_000, 20_000, 60_000].map((ms) => new Date(NOON_MS + ms))
  const campaigns: Campaign[] = [
    campaign(1, 1, 0.5),
    { ...campaign(2, 1, 0.5), ...daily },
    { ...campaign(3, 1, 0.5), budget_micros: '90000000' },
    { ...campaign(4, 1, 0), ...PER_ORDER, ...daily, model: 'cpa', rate_ppm: 80_000 },
    { ...campaign(5, 1, 0.5), ...daily, state: 'paused' },
    { ...campaign(6, 1, 0.5), ...daily, ends_at: before ?? null },
    { ...campaign(7, 1, 0.5), ...daily, starts_at: after ?? null },
    { ...campaign(8, 1, 0.5), ...daily, starts_at: soon ?? null, ends_at: after ?? null },
  ]
  const merchants = [merchant(1)]
  makeDecider(indexMarket({ ...FIRST, publishers: [PUBLISHER], merchants, campaigns }), { book })
  const asked = new Set(book.prepare(1, NOON_MS).map(({ campaignId }) => campaignId))
  assert.deepEqual([...asked], [2, 3, 8])
})

test('a campaign that changed to orders pays earlier clicks only if it has no budget', () => {
  const book = new LeaseBook()
  const ofOrders = { model: 'cpa', bid_micros: null, rate_ppm: 80_000 } as const
  const budgets = [{}, { budget_micros: '2000000' }, { daily_budget_micros: '2000000' }]
  const campaigns = budgets.map((budget, at) => ({
    ...{ ...campaign(at + 1, 1, 0.5), ...ofOrders },
    ...budget,
  }))
  const merchants = [merchant(1)]
  makeDecider(indexMarket({ ...FIRST, publishers: [PUBLISHER], merchants, campaigns }), { book })
  const reserved = [1, 2, 3].map((campaignId) => book.reserve(campaignId, DOLLAR / 2, NOON_MS))
  assert.deepEqual(reserved, [UNCAPPED_LEASE, null, null])
})

test("a campaign that cannot pay a click is unfunded in that click's auction only", () => {
  const campaigns = [campaign(1, 1, 0.5), campaign(2, 2, 0.4), campaign(3, 3, 0.3)]
  const merchants = [1, 2, 3].map(merchant)
  const market = indexMarket({ ...FIRST, publishers: [PUBLISHER], merchants, campaigns })
  const decider = makeDecider(market)
  const data = linkTo([offer(1, 100), offer(2, 100), offer(3, 100)], false)
  const lossOf = ({ set, outcome }: ReturnType<typeof receiptOf>, campaignId: number) =>
    outcome.losses[set.campaignId.indexOf(campaignId)]
  assert.deepEqual(outcomeOf(decider, data, [1]), [2, 0.3])
  assert.equal(lossOf(receiptOf(decider, data, [1]), 1), LOSS.unfunded)
  assert.deepEqual(outcomeOf(decider, data, [1, 2]), [3, 0.01])
  assert.deepEqual(outcomeOf(decider, data, [1, 2, 3]), [undefined, 0])
  assert.deepEqual(outcomeOf(decider, data), [1, 0.4])
  assert.notEqual(lossOf(receiptOf(decider, data), 2), LOSS.unfunded)
})

test("without a winner, the seal names the product of the link's own page", () => {
  const market = indexMarket({
    ...FIRST,
    ...{ publishers: [PUBLISHER], merchants: [merchant(1)], campaigns: [] },
  })
  const sealed = (data: LinkData) => {
    const auction = { context: CONTEXT, decision: NOBODY, resultNumber: resultNumber(1) }
    const { result } = auctionResult(market, data, auction)
    return [result.merchId, result.offerId, result.campaignId]
  }
  const listed = linkTo([offer(1, 100), offer(2, 90)], false)
  assert.deepEqual(sealed(listed), [1, '1', 0], 'reports show the same facts of it as of a winner')
  assert.deepEqual(sealed({ ...listed, original: null }), [1, '0', 0], 'a page that no feed names')
})
