import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { poisson, seededRandom } from '../../test/support/seeded-random.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { FREE_READERS, OpenResults, Readers, reserveMicros } from './in-flight-reserve.ts'

const PRICE = 350_000
const SECOND = 1_000
const MINUTE = 60 * SECOND
const NOON = Date.parse('2026-04-13T12:00:00Z')

/** One node's view of a campaign with a fixed rest of its budget. */
class Campaign {
  readonly #readers = new Readers()
  readonly #results = new OpenResults(this.#readers, PRICE)
  restMicros: number
  isWinning = true

  constructor(restMicros: number) {
    this.restMicros = restMicros
  }

  /** Runs an auction for an address; returns whether the campaign wins it. */
  win(address: string, nowMs: number): boolean {
    this.#judge(nowMs)
    if (!this.isWinning) return false
    if (this.#readers.isAnother('win', address, nowMs)) this.#results.countReader()
    return true
  }

  click(nowMs: number, ageMs: number): boolean {
    this.#judge(nowMs)
    this.#results.countClick({ ageMs, priceMicros: PRICE, isOfAnother: true })
    if (this.restMicros < PRICE) return false
    this.restMicros -= PRICE
    return true
  }

  expectedMicros(nowMs: number): number {
    this.#judge(nowMs)
    return this.#results.expectedMicros
  }

  #judge(nowMs: number): void {
    this.#results.advance(nowMs, this.isWinning)
    const { expectedMicros, priceMicros } = this.#results
    this.isWinning = this.restMicros >= reserveMicros(expectedMicros, priceMicros) + PRICE
  }
}

test('the reserve is the expected cost and 2.33 of its standard deviations, less a quarter click', () => {
  // Six clicks of $0.35: $2.10, and 2.33 √6 of them more.
  assert.equal(reserveMicros(6 * PRICE, PRICE), Math.ceil(PRICE * (5.75 + 2.33 * Math.sqrt(6))))
  assert.equal(reserveMicros(0.01 * PRICE, PRICE), 0)
  assert.equal(reserveMicros(0, PRICE), 0)
})

test('twenty readers reserve nothing, further ones the campaign’s click rate', () => {
  const campaign = new Campaign(1e9)
  for (let reader = 0; reader < FREE_READERS; reader++) campaign.win(`${reader}`, NOON)
  assert.equal(campaign.expectedMicros(NOON), 0)
  for (let reader = 20; reader < 120; reader++) campaign.win(`${reader}`, NOON)
  // 120 readers without a click: (0 + 3) / (120 + 100) clicks for each beyond twenty.
  assert.equal(campaign.expectedMicros(NOON), Math.round((100 * 3 * PRICE) / 220))
})

test('an address counts once in half an hour', () => {
  const readers = new Readers()
  assert(readers.isAnother('1', 'a', NOON))
  assert(!readers.isAnother('1', 'a', NOON + 30 * MINUTE - 1))
  assert(readers.isAnother('2', 'a', NOON) && readers.isAnother('1', 'b', NOON))
  assert(readers.isAnother('1', 'a', NOON + 30 * MINUTE))
  assert(readers.isAnother('1', 'a', NOON - 30 * MINUTE), 'the clock was set back')
})

test('a click reserves at most one more click, by its age, for minutes', () => {
  for (const [ageMs, clicks] of [
    [-SECOND, 0],
    [MINUTE, 0.2],
    [5 * MINUTE, 1],
    [24 * 60 * MINUTE, 1],
  ] as const) {
    const campaign = new Campaign(1e9)
    campaign.click(NOON, ageMs)
    assert.equal(campaign.expectedMicros(NOON), clicks * PRICE)
    const faded = Math.round((clicks * PRICE) / Math.E)
    assert.equal(campaign.expectedMicros(NOON + 5 * MINUTE), faded)
  }
})

test('the estimate from clicks fades four times slower while the campaign wins nothing', () => {
  const campaign = new Campaign(PRICE)
  campaign.click(NOON, 5 * MINUTE)
  assert.equal(campaign.win('reader', NOON), false)
  assert.equal(campaign.expectedMicros(NOON + 20 * MINUTE), Math.round(PRICE / Math.E))
})

test('uses the price actually paid', () => {
  const results = new OpenResults(new Readers(), PRICE)
  for (let click = 0; click < 200; click++) {
    results.countClick({ ageMs: 0, priceMicros: 10_000, isOfAnother: false })
  }
  assert(results.priceMicros < 15_000, String(results.priceMicros))
})

/**
 * Two campaigns with the same budget get the same honest readers; one is flooded as well. Nobody
 * clicks, so the budget stays the same and only the reserve decides.
 */
test('k addresses take at most (k + 1)/20 of the auctions that others win, at any rest', () => {
  const worlds = fc.record({
    budgetDollars: evenly(5, 500),
    spentShare: evenly(0, 1),
    seed: fc.nat(),
    addresses: fc.integer({ min: 1, max: 10 }),
    readersPerMinute: evenly(0.1, 2_000),
    floodStartMinute: fc.nat(10),
  })
  fc.assert(
    fc.property(worlds, (world) => {
      const restMicros = world.budgetDollars * (1 - world.spentShare) * 1e6
      const [calm, flooded] = [new Campaign(restMicros), new Campaign(restMicros)]
      const random = seededRandom(world.seed)
      let [calmWins, floodedWins, reader] = [0, 0, 0]
      for (let nowMs = NOON; nowMs < NOON + 15 * MINUTE; nowMs += 2 * SECOND) {
        const isFlood = nowMs >= NOON + world.floodStartMinute * MINUTE
        for (let call = 0; isFlood && call < 30; call++) {
          flooded.win(`flood ${call % world.addresses}`, nowMs)
        }
        for (let count = poisson(random, world.readersPerMinute / 12); count > 0; count--) {
          reader += 1
          if (calm.win(`${reader}`, nowMs)) calmWins += 1
          if (flooded.win(`${reader}`, nowMs)) floodedWins += 1
        }
      }
      const bound = calmWins * (1 - (world.addresses + 1) / FREE_READERS) - 1
      assert(floodedWins >= bound, `${floodedWins} of ${calmWins}`)
    }),
    { numRuns: 25 },
  )
})

test('a day-long flood from one address leaves others nine of ten auctions or more', () => {
  for (const dollars of [5, 10, 30, 100, 500]) {
    for (const demand of [0.5, 3, 20]) {
      const wins = [false, true].map((isFlooded) => {
        const random = seededRandom(dollars)
        const campaign = new Campaign(dollars * 1e6)
        const coming: { atMs: number; wonAtMs: number }[] = []
        const perStep = (demand * dollars * 1e6) / PRICE / 0.03 / (24 * 60 * 6)
        let [won, reader] = [0, 0]
        for (let nowMs = NOON; nowMs < NOON + 24 * 60 * MINUTE; nowMs += 10 * SECOND) {
          if (isFlooded) campaign.win('flood', nowMs)
          while ((coming[0]?.atMs ?? nowMs) < nowMs) {
            const { atMs, wonAtMs } = coming.shift() ?? { atMs: 0, wonAtMs: 0 }
            campaign.click(nowMs, atMs - wonAtMs)
          }
          for (let count = poisson(random, perStep); count > 0; count--) {
            reader += 1
            if (!campaign.win(`${reader}`, nowMs)) continue
            won += 1
            // Every 33rd win is clicked, so that the two worlds differ by the flood only.
            if (won % 33 === 0) coming.push({ atMs: nowMs + MINUTE, wonAtMs: nowMs })
          }
        }
        return won
      })
      const [calm = 0, flooded = 0] = wins
      assert(flooded >= 0.9 * calm, `$${dollars}, demand ${demand}: ${flooded} of ${calm}`)
    }
  }
})

test('300 page views with 60 clicks do not switch off a $30 campaign', () => {
  for (const [betweenMs, ageMs] of [
    [10, 500],
    [100, 2_000],
    [SECOND, 5_000],
    [5 * SECOND, 20_000],
    [30 * SECOND, MINUTE],
  ] as const) {
    const campaign = new Campaign(30e6)
    const coming: number[] = []
    for (let view = 0; view < 300; view++) {
      const nowMs = NOON + view * betweenMs
      assert(campaign.win(`${view}`, nowMs), `view ${view}, one each ${betweenMs} ms`)
      if (view % 5 === 0) coming.push(nowMs)
      while ((coming[0] ?? nowMs) + ageMs < nowMs)
        campaign.click(nowMs, nowMs - (coming.shift() ?? 0))
    }
    const endMs = NOON + 300 * betweenMs + ageMs
    for (const wonAtMs of coming) campaign.click(endMs, endMs - wonAtMs)
    assert(campaign.win('the next reader', endMs), `one each ${betweenMs} ms`)
  }
})

test('almost no click is unfunded, and most of the budget is used, at any demand', () => {
  for (const [demand, unfundedMax] of [
    [2, 0.001],
    [10, 0.004],
  ] as const) {
    const random = seededRandom(20_260_413)
    let [paid, unfunded, budget] = [0, 0, 0]
    for (const clicks of [5, 10, 20, 50, 200, 200, 200]) {
      for (let world = 0; world < 5; world++) {
        budget += clicks
        const campaign = new Campaign(clicks * PRICE)
        let coming: { atMs: number; wonAtMs: number }[] = []
        let reader = 0
        for (let nowMs = NOON; nowMs < NOON + 60 * MINUTE; nowMs += SECOND) {
          const isDue = ({ atMs }: { atMs: number }) => atMs <= nowMs
          for (const { wonAtMs } of coming.filter(isDue)) {
            if (campaign.click(nowMs, nowMs - wonAtMs)) paid += 1
            else unfunded += 1
          }
          coming = coming.filter((click) => !isDue(click))
          for (let n = poisson(random, (demand * clicks) / 0.03 / 3_600); n > 0; n--) {
            reader += 1
            if (!campaign.win(`${reader}`, nowMs) || random() >= 0.03) continue
            coming.push({ wonAtMs: nowMs, atMs: nowMs - Math.log(1 - random()) * MINUTE })
          }
        }
      }
    }
    const share = unfunded / (paid + unfunded)
    assert(share <= unfundedMax, `demand ${demand}: ${unfunded} of ${paid + unfunded} unfunded`)
    assert(paid > 0.9 * budget, `demand ${demand}: ${paid} of ${budget} used`)
  }
})
