import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidates, request, resultNumber } from '../../test/support/auction-arbitraries.ts'
import {
  type CandidateSpec,
  hold,
  resultNumber as numberOf,
  type RequestSpec,
} from '../../test/support/auction-world.ts'
import fc from '../../test/support/fast-check.ts'
import type { CategoryFloor } from '../accounts/category-floor.ts'
import { micros } from '../platform/money/money.ts'
import { LOSS, type LossName } from './loss-code.ts'
import { NoFillRun } from './no-fill.ts'
import { packReceipt, unpackReceipt } from './receipt.ts'
import { replayStored } from './replay.ts'
import { type LoggedAuction, type WhatIfChange, WhatIfRun } from './what-if.ts'

const DOLLAR = 1_000_000

function logged(
  specs: readonly CandidateSpec[],
  asked: RequestSpec,
  { clicks = 1, number = numberOf(11) } = {},
): LoggedAuction {
  const held = hold(specs, asked, number)
  const auction = unpackReceipt(packReceipt({ ...held, resultNumber: number }))
  return { auction, clicks }
}

function whatIf(log: Iterable<LoggedAuction>, change: WhatIfChange) {
  const run = new WhatIfRun(change)
  for (const auction of log) run.add(auction)
  return run.report()
}

function rankNoFill(log: Iterable<LoggedAuction>) {
  const run = new NoFillRun()
  for (const auction of log) run.add({ ...auction, auctionId: '1' })
  return run.report()
}

const market: CandidateSpec[] = [
  { name: 'A', bidMicros: 600_000, priceMicros: 104 * DOLLAR },
  { name: 'B', bidMicros: 500_000, priceMicros: 100 * DOLLAR },
  { name: 'C', bidMicros: 100_000, priceMicros: 90 * DOLLAR },
]
const asked: RequestSpec = { originalPriceMicros: 100 * DOLLAR, beta: 0, sharePpm: 750_000 }

test('without a change nothing differs, whatever was logged', () => {
  const log = fc.array(fc.tuple(candidates, request, resultNumber, fc.nat({ max: 3 })), {
    maxLength: 5,
  })
  fc.assert(
    fc.property(log, (rows) => {
      const auctions = rows.map(([specs, some, number, clicks]) =>
        logged(specs, some, { clicks, number }),
      )
      const found = whatIf(auctions, {})
      assert.deepEqual(found.after, found.before)
      assert.equal(found.winner_changed, 0)
      assert.equal(found.auctions, rows.length)
    }),
    { numRuns: 200 },
  )
})

test('a higher floor raises the price it sets and loses the bids below it', () => {
  const log = [logged(market, asked, { clicks: 2 }), logged(market.slice(2), asked, { clicks: 1 })]
  const found = whatIf(log, { floorMicros: 550_000 })
  // The first sells at $0.55 instead of $0.50, the second no longer sells at its $0.01.
  assert.equal(found.before.earnings_micros, 2 * 375_000 + 7_500)
  assert.equal(found.after.earnings_micros, 2 * 412_500)
  assert.equal(found.difference.earnings_micros, 67_500)
  assert.equal(found.difference.won, -1)
  assert.equal(found.winner_changed, 1)
  // Alone in its auction, C is the first merchant of that one.
  assert.deepEqual(found.winners, [
    { merch_id: 0, before: 0, after: 1 },
    { merch_id: 1, before: 2, after: 1 },
  ])
})

test("a block gives the click to the next merchant, at that merchant's price", () => {
  const found = whatIf([logged(market, asked)], { blockMerchants: [1] })
  assert.equal(found.before.earnings_micros, 375_000)
  assert.equal(found.after.earnings_micros, 75_000)
  assert.equal(found.difference.reader_price_micros, -4 * DOLLAR)
  assert.deepEqual(found.winners, [
    { merch_id: 2, before: 0, after: 1 },
    { merch_id: 1, before: 1, after: 0 },
  ])
})

test('a removed block lets a merchant back in', () => {
  const log = [logged(market, { ...asked, blockMerchants: [1] })]
  assert.equal(whatIf(log, {}).winner_changed, 0)
  const found = whatIf(log, { blockMerchants: [] })
  assert.equal(found.winner_changed, 1)
  assert.equal(found.after.earnings_micros, 375_000)
})

test('tolerance, beta and the price rule have their effect', () => {
  const log = [logged(market, asked)]
  assert.equal(whatIf(log, { tolerancePpm: 30_000 }).after.earnings_micros, 75_000)
  assert.equal(whatIf(log, { isFirstPrice: true }).after.earnings_micros, 450_000)
  assert.equal(whatIf(log, { beta: 3 }).winner_changed, 0)
  const withoutCategory = [logged([{ name: 'D', bidMicros: 700_000 }, ...market], asked)]
  assert.equal(whatIf(withoutCategory, { isPriceRequired: true }).after.earnings_micros, 375_000)
  const close = [{ ...market[0], bidMicros: 510_000 } as CandidateSpec, ...market.slice(1)]
  assert.equal(whatIf([logged(close, asked)], { beta: 3 }).winner_changed, 1)
})

test("category floors apply to their category, a country's before the general one", () => {
  const held = [
    { ...market[0], name: 'A', category: 222 }, // Bids $0.60.
    { ...market[1], name: 'B', category: 333, floorMicros: { '*': 400_000 } }, // Bids $0.50.
  ]
  const log = [logged(held, asked), logged(held, { ...asked, country: 'GB' })]
  const floor = (category_id: number, floor_micros: number, country: string | null = null) => {
    return { category_id, country, floor_micros: micros(floor_micros) }
  }
  const paid = (...categoryFloors: CategoryFloor[]) =>
    whatIf(log, { categoryFloors }).after.earnings_micros / 0.75
  assert.equal(paid(), 1_000_000)
  assert.equal(paid(floor(222, 550_000)), 1_100_000)
  assert.equal(paid(floor(222, 550_000), floor(222, 580_000, 'GB')), 1_130_000)
  assert.equal(paid(floor(333, 500_001)), 20_000, 'B is out, and A alone pays the platform’s')
  assert.equal(paid(floor(222, 600_001)), 20_000, 'A is out, and the floor of the day is replaced')
})

test('a receipt of the first format runs again, but not under other category floors', () => {
  const { auction } = logged(market, asked)
  const packed = packReceipt(auction)
  const old = { auction: unpackReceipt(asFirstFormat(packed, market.length)), clicks: 1 }
  assert.deepEqual(replayStored(old.auction), { kind: 'equal' })
  assert.equal(whatIf([old], { floorMicros: 550_000 }).after.earnings_micros, 412_500)
  const found = whatIf([old], { categoryFloors: [] })
  assert.deepEqual([found.auctions, found.skipped], [0, 1])
})

/** Its candidates ended before the category. */
function asFirstFormat(packed: Buffer, candidates: number): Buffer {
  const headBytes = packed.length - candidates * 84
  const rows = Array.from({ length: candidates }, (_, i) =>
    packed.subarray(headBytes + i * 84, headBytes + i * 84 + 80),
  )
  const old = Buffer.concat([packed.subarray(0, headBytes), ...rows])
  old[0] = 1
  return old
}

test('a commission counts with its mean, its rate and the share, also without a known price', () => {
  const cpa = {
    name: 'S',
    model: 'cpa',
    orders: 20,
    clicks: 1000,
    valuePerOrderMicros: 10 * DOLLAR,
    hasSecondRate: true,
  }
  const rival = { name: 'R', bidMicros: 100_000 }
  const log = [
    logged([cpa as CandidateSpec, rival], { sharePpm: 500_000 }),
    logged([], {}, { clicks: 7 }),
  ]
  const found = whatIf(log, { blockMerchants: [1] })
  // $0.20 a click; half of its rate still wins; half of that is the publisher's.
  assert.equal(found.before.earnings_micros, 50_000)
  assert.equal(found.before.earnings_per_click_micros, 25_000)
  assert.equal(found.difference.earnings_per_click_micros, 2_500 - 25_000)
  assert.equal(found.before.reader_price_micros, null)
  assert.equal(found.difference.reader_price_micros, null)
  assert.equal(found.clicks, 8)
  const empty = whatIf([], {})
  assert.equal(empty.before.earnings_per_click_micros, 0)
})

test('a reader price that is known on one side only gives no difference', () => {
  const specs = [
    { name: 'A', bidMicros: 600_000 },
    { name: 'B', priceMicros: 100 * DOLLAR },
  ]
  const found = whatIf([logged(specs, asked)], { blockMerchants: [1] })
  assert.equal(found.before.reader_price_micros, null)
  assert.equal(found.after.reader_price_micros, 100 * DOLLAR)
  assert.equal(found.difference.reader_price_micros, null)
})

test("the readers' price is the mean of the winners with a known price", () => {
  const [first, second] = [{ name: 'A', priceMicros: 100 * DOLLAR }, { name: 'A' }]
  const third = { name: 'A', priceMicros: 50 * DOLLAR }
  const found = whatIf(
    [first, second, third].map((spec) => logged([spec], {})),
    {},
  )
  assert.equal(found.before.won, 3)
  assert.equal(found.before.reader_price_micros, 75 * DOLLAR)
})

test('auctions under other rules are counted apart and in no figure', () => {
  const { auction } = logged(market, asked)
  const found = whatIf([{ auction: { ...auction, ruleVersion: 99 }, clicks: 1 }], {})
  assert.equal(found.skipped, 1)
  assert.equal(found.auctions, 0)
  assert.equal(found.before.earnings_micros, 0)
})

test('reasons without a winner are ranked by the money that each alone cost', () => {
  const paused = { name: 'P', bidMicros: 900_000, flight: { isActive: false } }
  const unfunded = { name: 'U', bidMicros: 400_000, budgetOk: false }
  const both = { name: 'X', bidMicros: 2_000_000, isInStock: false, budgetOk: false }
  const log = [
    // More per click than the next, and less in all.
    logged([paused], { ...asked, isFirstPrice: true }, { clicks: 1 }),
    logged([unfunded, both], { ...asked, isFirstPrice: true }, { clicks: 10 }),
    logged([], asked, { clicks: 4 }),
    logged(market, asked, { clicks: 99 }), // It was won, so it does not count.
  ]
  const ranked = rankNoFill(log)
  assert.deepEqual(
    ranked.map(({ word, auctions, clicks, missed_micros }) => [
      word,
      auctions,
      clicks,
      missed_micros,
    ]),
    [
      ['unfunded', 1, 10, 3_000_000],
      ['inactive', 1, 1, 675_000],
      ['out_of_stock', 1, 10, 0], // That offer is unfunded as well, so stock alone cost nothing.
      ['no_candidates', 1, 4, 0],
    ],
  )
  assert.equal(ranked[1]?.missed_if_clicked_micros, 675_000)
  for (const { sentence } of ranked) assert.match(sentence, /\.$/)
})

test('each reason names its most expensive auction, and all auctions are counted', () => {
  const firstPrice = { ...asked, isFirstPrice: true }
  const paused = (bidMicros: number, number: number, clicks: number) =>
    logged([{ name: 'P', bidMicros, flight: { isActive: false } }], firstPrice, {
      clicks,
      number: numberOf(number),
    })
  const run = new NoFillRun()
  const log = [paused(300_000, 1, 9), paused(900_000, 2, 0), paused(600_000, 3, 1)]
  for (const [at, auction] of [...log, logged(market, asked)].entries()) {
    run.add({ ...auction, auctionId: `link ${at}` })
  }
  const [reason] = run.report()
  assert.deepEqual(
    reason?.links.map(({ auction_id: id }) => id),
    ['link 1', 'link 2', 'link 0'],
    'the links that missed most come first',
  )
  assert.equal(reason?.auction_result_number, numberOf(2).toString('hex'))
  assert.deepEqual(run.totals(), { auctions: 4, unfilled: 3, unfilled_clicks: 10 })
})

test("missed money is rounded to the nearest micro, and other rules' auctions count without any", () => {
  const asked = { sharePpm: 333_333, isFirstPrice: true } // 1/3 of a micro is lost on each click.
  const cpa = {
    name: 'C',
    model: 'cpa',
    valuePerOrderMicros: 1_000_001,
    orders: 50,
    clicks: 50,
  } as const
  const [reason] = rankNoFill([logged([{ ...cpa, budgetOk: false }], asked, { clicks: 5 })])
  // 333333.33 a click: five of them are 1,666,666.67.
  assert.equal(reason?.missed_if_clicked_micros, 333_333)
  assert.equal(reason?.missed_micros, 1_666_667)
  const { auction } = logged([{ name: 'U', budgetOk: false }], asked)
  const [other] = rankNoFill([{ auction: { ...auction, ruleVersion: 99 }, clicks: 7 }])
  assert.deepEqual([other?.auctions, other?.clicks, other?.missed_micros], [1, 7, 0])
})

test('a required but unknown price is waived like one that is too high', () => {
  const [reason] = rankNoFill([logged([{ name: 'N' }], { isPriceRequired: true }, { clicks: 1 })])
  assert.equal(reason?.word, 'price')
  assert.ok((reason?.missed_micros ?? 0) > 0)
})

test('reasons with equal cost are ranked by possible cost, count and code', () => {
  const unclicked = { clicks: 0 }
  const away: CandidateSpec = { name: 'D', devices: ['mobile'] }
  const over = { startsAtMs: Number.MAX_SAFE_INTEGER }
  const hidden = { name: 'H', flight: { isActive: false }, bidMicros: 9_000 }
  const log = [
    logged([{ ...away, bidMicros: 900_000 }], { isFirstPrice: true }, unclicked),
    logged([{ name: 'U', budgetOk: false }], { isFirstPrice: true }, unclicked),
    logged([hidden], {}, unclicked),
    logged([{ ...hidden, isInStock: false, flight: {} }], {}, unclicked),
    logged([{ ...hidden, flight: over }], {}, unclicked),
    logged([{ ...hidden, flight: over }], {}, unclicked),
  ]
  const words = ['device', 'unfunded', 'out_of_flight', 'inactive', 'out_of_stock']
  const order = (some: readonly LoggedAuction[]) => rankNoFill(some).map(({ word }) => word)
  assert.deepEqual(order(log), words)
  assert.deepEqual(order(log.toReversed()), words)
})

test('waiving the only reason of a lone candidate always lets it win', () => {
  const bid = { bidMicros: 800_000 }
  type Waivable = Exclude<LossName, 'none' | 'noCandidates' | 'outbid'>
  const lone: Record<Waivable, { spec: CandidateSpec; asked?: RequestSpec }> = {
    inactive: { spec: { name: 'A', flight: { isActive: false } } },
    outOfFlight: { spec: { name: 'A', flight: { startsAtMs: Number.MAX_SAFE_INTEGER } } },
    outOfStock: { spec: { name: 'A', isInStock: false } },
    staleFeed: { spec: { name: 'A', priceMicros: DOLLAR, flight: { feedImportedAtMs: 0 } } },
    device: { spec: { name: 'A', devices: ['mobile'] } },
    country: { spec: { name: 'A', countries: ['GB'] } },
    blocked: { spec: { name: 'A', blockPublishers: [1] }, asked: { blockMerchants: [1] } },
    exclusive: { spec: { name: 'A' }, asked: { isExclusive: true, originalMerchant: 9 } },
    confidence: { spec: { name: 'A', confidencePpm: 900_000 } },
    price: { spec: { name: 'A', priceMicros: 2 * DOLLAR }, asked: { originalPriceMicros: DOLLAR } },
    paced: { spec: { name: 'A', paceFactor: 0 } },
    unfunded: { spec: { name: 'A', budgetOk: false } },
    belowFloor: { spec: { name: 'A' }, asked: { floorMicros: DOLLAR } },
  }
  for (const key of Object.keys(lone) as Waivable[]) {
    const { spec, asked: some = {} } = lone[key]
    const ranked = rankNoFill([logged([{ ...spec, ...bid }], some)])
    assert.deepEqual(
      ranked.map(({ code }) => code),
      [LOSS[key]],
      key,
    )
    assert.ok((ranked[0]?.missed_micros ?? 0) > 0, `${key} misses nothing`)
  }
})
