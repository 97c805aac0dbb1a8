import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { ALWAYS, type BudgetedCampaign, LeaseBook, UNCAPPED_LEASE } from './lease.ts'
import type { LeaseGrant } from './lease-terms.ts'

const NOON = Date.parse('2026-04-13T12:00:00Z')
const PRICE = 500_000
const CAMPAIGN: BudgetedCampaign = {
  campaignId: 7,
  index: 0,
  budget: 'leased',
  priceMaxMicros: PRICE,
  budgetVersion: '1',
  ...ALWAYS,
}

function makeBook(some: Partial<BudgetedCampaign> = {}) {
  const budgetOk = new Uint8Array(2)
  const book = new LeaseBook()
  const set = (campaigns: readonly Partial<BudgetedCampaign>[], nowMs = NOON) =>
    book.setCampaigns(
      campaigns.map((changed) => ({ ...CAMPAIGN, ...some, ...changed })),
      { budgetOk, nowMs },
    )
  set([{}])
  let lastNo = 0
  const ask = (nowMs = NOON) => {
    lastNo += 1
    return book.prepare(lastNo, nowMs)
  }
  /** Sends a request and is granted this many clicks. */
  const fund = (clicks: number, grant: Partial<LeaseGrant> = {}, nowMs = NOON) => {
    const requests = ask(nowMs)
    const grants = requests.map(({ campaignId, day }) => ({
      ...{ campaignId, day, leaseId: 11, grantedMicros: clicks * PRICE },
      ...{
        fairMicros: clicks * PRICE,
        refillableMicros: 0,
        inFlightElsewhereMicros: 0,
      },
      ...grant,
    }))
    book.apply(lastNo, { requests, grants, recalled: [] }, nowMs)
    return requests
  }
  const spend = (clicks: number, nowMs = NOON) => {
    for (let click = 0; click < clicks; click++) assert.equal(book.reserve(7, PRICE, nowMs), 11)
  }
  return { book, budgetOk, set, ask, fund, spend }
}

test('the funded share follows the last day, and is unknown before the first answer', () => {
  const { book, ask, fund } = makeBook()
  ask()
  assert.equal(book.fundedShare(7), null)
  fund(10)
  assert.equal(book.fundedShare(7), 1)
  book.stopSpending(NOON)
  ask(NOON - 5_000) // A clock set back adds no time.
  assert.equal(book.fundedShare(7), 1)
  ask(NOON - 5_000 + DAY_MS)
  assert.ok(Math.abs((book.fundedShare(7) ?? 0) - Math.exp(-1)) < 1e-12)
  assert.equal(book.fundedShare(8), null)
})

test('a campaign without a cap is funded while nothing else stops it', () => {
  const { book, budgetOk, ask } = makeBook({ budget: 'none' })
  ask()
  assert.equal(book.fundedShare(7), 1)
  book.setOverCap(new Set([7]), NOON)
  assert.equal(budgetOk[0], 0)
  ask(NOON + 1_000)
  assert.equal(book.fundedShare(7), 0)
  book.setOverCap(new Set([8]), NOON)
  assert.equal(budgetOk[0], 1)
})

test('a budget for orders pays no click from when its campaign paid per click', () => {
  const { book, budgetOk, fund, set } = makeBook()
  fund(10)
  set([{ budget: 'ofOrders', budgetVersion: '2' }])
  assert.equal(budgetOk[0], 1)
  assert.equal(book.reserve(7, PRICE, NOON), null)
  assert.equal(book.want(7, PRICE, NOON), false)
})

test('time out of flight does not change the funded share', () => {
  const { book, budgetOk, ask, fund } = makeBook({ servesUntilMs: NOON + 1_000 })
  fund(10)
  ask(NOON + DAY_MS)
  assert.equal(budgetOk[0], 0)
  assert.equal(book.fundedShare(7), 1)
})

test('requests money half a minute before a flight starts, and not at its end', () => {
  const flight = { servesFromMs: NOON + 30_000, servesUntilMs: NOON + 60_000 }
  assert.equal(makeBook(flight).ask(NOON - 1).length, 0)
  assert.equal(makeBook(flight).ask(NOON).length, 1)
  assert.equal(makeBook(flight).ask(NOON + 59_999).length, 1)
  assert.equal(makeBook(flight).ask(NOON + 60_000).length, 0)
})

test('the requested amount follows the spending of the last seconds', () => {
  const { ask, fund, spend } = makeBook()
  fund(1_000)
  spend(1_000)
  const wanted = (nowMs: number) => {
    const [request] = ask(nowMs)
    return (request?.wantMicros ?? 0) - (request?.spentMicros ?? 0)
  }
  // 1,000 clicks in 20 s, of which a time constant of 20 s counts 63 %, for 30 s and a half.
  const believed = (1_000 * PRICE * 1.5 * 30) / 20
  assert.equal(wanted(NOON + 20_000), Math.ceil(believed * (1 - Math.exp(-1))))
  const faded = believed * (1 - Math.exp(-1)) * Math.exp(-1)
  assert.ok(Math.abs(wanted(NOON + 40_000) - faded) <= 1)
})

test('a lease with under twenty clicks requests more at once, if its fair share is larger', () => {
  const { book, ask, fund, spend } = makeBook()
  let calls = 0
  book.onLow(() => calls++)
  fund(25, { fairMicros: 100 * PRICE })
  spend(5)
  assert.equal(calls, 0)
  spend(1)
  assert.equal(calls, 1)
  spend(1)
  assert.equal(calls, 1, 'once between two requests')
  assert.equal(ask(NOON + 250).length, 1, 'although it got less than requested')
})

test('a lease at its fair share requests nothing', () => {
  const { book, fund, spend } = makeBook()
  let calls = 0
  book.onLow(() => calls++)
  fund(25)
  spend(25)
  assert.equal(calls, 0)
})

test('requests at once for a new campaign with a cap, but not for known or uncapped ones', () => {
  const { book, set, ask } = makeBook()
  let calls = 0
  ask()
  book.onLow(() => calls++)
  set([{}])
  set([{}, { campaignId: 8, index: 1, budget: 'none' }])
  assert.equal(calls, 0)
  set([{}, { campaignId: 9, index: 1 }])
  set([{}, { campaignId: 10, index: 1 }])
  assert.equal(calls, 1)
})

test('the last payable click is the last that a lease lets win', () => {
  const { book, budgetOk, fund, spend } = makeBook()
  fund(2)
  spend(1)
  assert.equal(budgetOk[0], 1)
  spend(1)
  assert.equal(budgetOk[0], 0)
  assert.equal(book.unspentMicros(7, NOON), 0)
})

test('fetchable money and the open results of other nodes count for wins', () => {
  const { budgetOk, fund, spend } = makeBook()
  fund(2, { refillableMicros: PRICE })
  spend(2)
  assert.equal(budgetOk[0], 1)
  fund(2, { refillableMicros: PRICE - 1 }, NOON + 27_000)
  assert.equal(budgetOk[0], 0)
  const crowded = { inFlightElsewhereMicros: 50 * PRICE }
  for (const [clicks, isOk] of [
    // 50 + 2.33 √50 = 66.5, and one more to win.
    [67, 0],
    [68, 1],
  ] as const) {
    const other = makeBook()
    other.fund(clicks, crowded)
    assert.equal(other.budgetOk[0], isOk, `${clicks} clicks`)
  }
})

test('a win or a click of an unknown campaign changes nothing', () => {
  const { book, budgetOk, fund } = makeBook()
  fund(1)
  for (let reader = 0; reader < 500; reader++) book.recordWin(8, `${reader}`, NOON)
  book.recordClick(8, { nowMs: NOON + 60_000, ageMs: 60_000, priceMicros: PRICE, address: 'a' })
  assert.equal(budgetOk[0], 1)
})

test('a snapshot may move a campaign’s index; a removed one pays until its lease is empty', () => {
  const { book, budgetOk, set, ask } = makeBook({ budget: 'none' })
  set([{ index: 1 }])
  assert.equal(budgetOk[1], 1)
  set([])
  assert.equal(book.reserve(7, PRICE, NOON), UNCAPPED_LEASE)
  ask()
  assert.equal(book.reserve(7, PRICE, NOON), null)
})

test('no click waits for a budget without a cap, or soon after a refusal', () => {
  const uncapped = makeBook({ budget: 'none' })
  uncapped.fund(0)
  assert.equal(uncapped.book.want(7, PRICE, NOON), false)
  const { book, fund } = makeBook()
  fund(0)
  assert.equal(book.want(8, PRICE, NOON), false)
  assert.equal(book.want(7, PRICE, NOON), true)
  fund(0)
  assert.equal(book.want(7, PRICE, NOON + 999), false)
  assert.equal(book.want(7, PRICE, NOON + 1_000), true)
  book.stopSpending(NOON + 1_000)
  assert.equal(book.want(7, PRICE, NOON + 1_000), false)
})

test('a clock set back makes no click wait until it has caught up', () => {
  const { book, fund } = makeBook()
  fund(0)
  assert.equal(book.want(7, PRICE, NOON), true)
  fund(0)
  book.stopSpending(NOON - DAY_MS / 24)
  fund(10, {}, NOON - DAY_MS / 24)
  assert.equal(book.want(7, PRICE, NOON - DAY_MS / 24), true)
})

test('requests again for empty leases after a stop or when others may have returned money', () => {
  for (const again of ['stopSpending', 'retryEmpty'] as const) {
    const { book, ask, fund } = makeBook()
    fund(0)
    assert.equal(ask(NOON + 1_000).length, 0)
    book[again](NOON + 1_000)
    assert.equal(ask(NOON + 1_001).length, 1, again)
  }
})

test('requests are numbered upwards', () => {
  const { book } = makeBook()
  book.prepare(5, NOON)
  assert.throws(() => book.prepare(5, NOON), /numbered upwards/)
})
