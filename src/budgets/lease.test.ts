import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { ALWAYS, type BudgetedCampaign, LeaseBook, UNCAPPED_LEASE } from './lease.ts'
import {
  dayNumberOf,
  dayText,
  LEASE_SKEW_MS,
  LEASE_TTL_MS,
  type LeaseGrant,
  type LeaseRequest,
} from './lease-terms.ts'

const NOON = Date.parse('2026-04-13T12:00:00Z')
const MIDNIGHT = Date.parse('2026-04-14T00:00:00Z')
const PRICE = 500_000
const CAMPAIGN: BudgetedCampaign = {
  campaignId: 7,
  index: 0,
  budget: 'leased',
  priceMaxMicros: PRICE,
  budgetVersion: '1',
  ...ALWAYS,
}

const NOTHING_ELSEWHERE = { refillableMicros: 0, inFlightElsewhereMicros: 0 }

function makeBook(nowMs = NOON, campaign = CAMPAIGN) {
  const budgetOk = new Uint8Array(1)
  const book = new LeaseBook()
  book.setCampaigns([campaign], { budgetOk, nowMs })
  return { book, budgetOk }
}

/** Answers like a database with plenty: grants every wish, and has more. */
function grantOf(request: LeaseRequest, grantedMicros = request.wantMicros): LeaseGrant {
  const { campaignId, day } = request
  return {
    ...{ campaignId, day, leaseId: 11, grantedMicros, fairMicros: grantedMicros },
    ...NOTHING_ELSEWHERE,
  }
}

function answer(requests: readonly LeaseRequest[], grant = (r: LeaseRequest) => grantOf(r)) {
  return { requests, grants: requests.map(grant), recalled: [] }
}

function makeFundedBook(grantedMicros: number, nowMs = NOON) {
  const made = makeBook(nowMs)
  const requests = made.book.prepare(1, nowMs)
  const grant = (request: LeaseRequest) => grantOf(request, grantedMicros)
  made.book.apply(1, answer(requests, grant), nowMs)
  return made
}

test('a campaign without a cap is always funded and names no lease', () => {
  const { book, budgetOk } = makeBook(NOON, { ...CAMPAIGN, budget: 'none' })
  assert.equal(budgetOk[0], 1)
  assert.equal(book.reserve(7, 1e12, NOON), UNCAPPED_LEASE)
  assert.deepEqual(book.prepare(1, NOON), [])
})

test('a capped campaign is not funded before its first lease, and an unknown one never', () => {
  const { book, budgetOk } = makeBook()
  assert.equal(budgetOk[0], 0)
  assert.equal(book.reserve(7, 1, NOON), null)
  assert.equal(book.reserve(8, 1, NOON), null)
})

test('reserves a click whole or not at all, and never beyond the grant (B2, P22, P25)', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 20 * PRICE }),
      fc.array(fc.integer({ min: 1, max: 2 * PRICE }), { maxLength: 60 }),
      (granted, prices) => {
        const { book } = makeFundedBook(granted)
        let spent = 0
        for (const price of prices) {
          const isFunded = spent + price <= granted
          assert.equal(book.reserve(7, price, NOON), isFunded ? 11 : null)
          if (isFunded) spent += price
          assert.equal(book.unspentMicros(7, NOON), granted - spent)
        }
      },
    ),
  )
})

test('a lease ends in time, counted from before its request (B3)', () => {
  const { book, budgetOk } = makeBook()
  const requests = book.prepare(1, NOON)
  const answeredAt = NOON + 4_000 // The answer took four seconds, which do not extend the lease.
  book.apply(1, answer(requests), answeredAt)
  const last = NOON + LEASE_TTL_MS - LEASE_SKEW_MS - 1
  assert.equal(book.reserve(7, 1, last), 11)
  assert.equal(book.reserve(7, 1, last + 1), null)
  assert.equal(budgetOk[0], 1)
  book.prepare(2, last + 1)
  assert.equal(budgetOk[0], 0)
})

test('released money can be spent again, on its own lease only', () => {
  const { book } = makeFundedBook(PRICE)
  assert.equal(book.reserve(7, PRICE, NOON), 11)
  assert.equal(book.reserve(7, PRICE, NOON), null)
  book.release(7, 12, PRICE)
  assert.equal(book.reserve(7, PRICE, NOON), null)
  book.release(7, 11, PRICE)
  assert.equal(book.reserve(7, PRICE, NOON), 11)
  assert.throws(() => book.release(7, 11, 2 * PRICE), /exceeds what was reserved/)
})

test('an answer to a superseded request changes nothing', () => {
  const { book } = makeBook()
  const first = book.prepare(1, NOON)
  book.prepare(2, NOON + 1_000)
  book.apply(1, answer(first), NOON + 1_500)
  assert.equal(book.reserve(7, 1, NOON + 1_500), null)
})

test('spends a lease no further that the database no longer knows', () => {
  const { book, budgetOk } = makeFundedBook(10 * PRICE)
  book.reserve(7, PRICE, NOON)
  const later = NOON + 20_000
  const requests = book.prepare(2, later)
  assert.equal(requests.length, 1)
  book.apply(2, { requests, grants: [], recalled: [] }, later)
  assert.equal(book.reserve(7, 1, later), null)
  assert.equal(budgetOk[0], 0)
})

test('each UTC day has its own lease, fetched before midnight; the old one is returned (P26)', () => {
  const before = MIDNIGHT - 10_000
  const { book } = makeFundedBook(10 * PRICE, before)
  assert.equal(book.reserve(7, PRICE, before), 11)
  const ahead = book.prepare(2, before + 1_000)
  assert.deepEqual(
    ahead.map(({ day }) => day),
    ['2026-04-14'],
  )
  const tomorrow = answer(ahead, (r) => ({ ...grantOf(r), leaseId: 12 }))
  book.apply(2, tomorrow, before + 1_000)
  assert.equal(book.reserve(7, PRICE, MIDNIGHT - 1), 11)
  assert.equal(book.reserve(7, PRICE, MIDNIGHT), 12)
  const [final] = book.prepare(3, MIDNIGHT + 1_000)
  assert.deepEqual(
    { ...final, priceMaxMicros: 0 },
    {
      campaignId: 7,
      day: '2026-04-13',
      leaseId: 11,
      spentMicros: 2 * PRICE,
      holdMicros: 2 * PRICE,
      wantMicros: 2 * PRICE,
      priceMaxMicros: 0,
      isFinal: true,
      immediateMicros: 0,
      inFlightMicros: 0,
    },
  )
  // A clock that steps back into the ended day finds no money there.
  assert.equal(book.reserve(7, 1, MIDNIGHT - 1), null)
})

test('a clock jump or a shutdown ends every lease until it is renewed', () => {
  const { book, budgetOk } = makeFundedBook(10 * PRICE)
  book.stopSpending(NOON)
  assert.equal(book.reserve(7, 1, NOON), null)
  assert.equal(budgetOk[0], 0)
  const requests = book.prepare(2, NOON + 1_000)
  book.apply(2, answer(requests), NOON + 1_000)
  assert.equal(book.reserve(7, 1, NOON + 1_000), 11)
})

test('an answer under way when the clock was set back funds nothing (B3)', () => {
  const { book, budgetOk } = makeFundedBook(10 * PRICE)
  const asked = NOON + 20_000
  const requests = book.prepare(2, asked)
  assert.equal(requests.length, 1)
  const now = asked - 3_600_000
  book.stopSpending(now)
  book.apply(2, answer(requests), now)
  assert.equal(book.reserve(7, 1, now), null)
  assert.equal(budgetOk[0], 0)
  const again = book.prepare(3, now)
  book.apply(3, answer(again), now)
  assert.equal(book.reserve(7, 1, now + LEASE_TTL_MS - LEASE_SKEW_MS - 1), 11)
  assert.equal(book.reserve(7, 1, now + LEASE_TTL_MS - LEASE_SKEW_MS), null)
})

test('keeps an idle campaign funded with rare writes, and others with frequent ones', () => {
  /** The requests in ten minutes, second by second, after a first lease. */
  const asked = (refillableMicros: number, event: (book: LeaseBook, nowMs: number) => void) => {
    const { book, budgetOk } = makeBook()
    const askedAt: number[] = []
    for (let second = 0; second <= 600; second++) {
      const nowMs = NOON + second * 1_000
      const requests = book.prepare(second + 1, nowMs)
      const answered = answer(requests, (request) => ({ ...grantOf(request), refillableMicros }))
      book.apply(second + 1, answered, nowMs + 500)
      assert.equal(budgetOk[0], 1)
      if (requests.length > 0) askedAt.push(second)
      event(book, nowMs)
    }
    return askedAt
  }
  const idle = () => undefined
  assert.deepEqual(asked(1e9, idle), [0, 127, 254, 381, 508])
  assert.ok(asked(99 * PRICE, idle).length > 60)
  const click = (book: LeaseBook, nowMs: number) =>
    book.recordClick(7, { nowMs, ageMs: 60_000, priceMicros: PRICE, address: 'a' })
  assert.ok(asked(1e9, click).length > 60)
  const woken = asked(1e9, (book, nowMs) => {
    if (nowMs === NOON + 300_000) click(book, nowMs)
  })
  assert.deepEqual(woken.slice(0, 4), [0, 127, 254, 301])
})

test('an idle lease ends when its node falls silent or the clock jumps, like any lease', () => {
  const restUntil = (seconds: number) => {
    const { book, budgetOk } = makeBook()
    for (let second = 0; second <= seconds; second++) {
      const nowMs = NOON + second * 1_000
      const requests = book.prepare(second + 1, nowMs)
      const answered = answer(requests, (r) => ({ ...grantOf(r), refillableMicros: 1e9 }))
      book.apply(second + 1, answered, nowMs)
    }
    return { book, budgetOk }
  }
  const heldMs = LEASE_TTL_MS - LEASE_SKEW_MS
  // Whenever it was renewed last.
  for (let second = 30; second <= 60; second++) {
    const silentMs = NOON + second * 1_000
    const silent = restUntil(second)
    assert.notEqual(silent.book.reserve(7, PRICE, silentMs), null)
    assert.equal(silent.book.reserve(7, PRICE, silentMs + heldMs), null)
  }
  const jumped = restUntil(60)
  jumped.book.prepare(62, NOON + 61_000)
  jumped.book.stopSpending(NOON + 61_000)
  jumped.book.apply(62, answer([]), NOON + 61_500)
  assert.equal(jumped.book.reserve(7, PRICE, NOON + 61_500), null)
  assert.equal(jumped.book.prepare(63, NOON + 62_000).length, 1)
})

test('a paused campaign still pays clicks for the rest of its lease, then returns it', () => {
  const { book } = makeFundedBook(10 * PRICE)
  book.setCampaigns([], { budgetOk: new Uint8Array(1), nowMs: NOON })
  assert.equal(book.reserve(7, PRICE, NOON + 1_000), 11)
  assert.deepEqual(book.prepare(2, NOON + 2_000), [])
  const end = NOON + LEASE_TTL_MS
  const [request] = book.prepare(3, end)
  assert.equal(request?.holdMicros, PRICE)
  assert.equal(request?.wantMicros, PRICE)
  assert.equal(book.reserve(7, 1, end), null)
})

test('after a budget change a lease holds only its spent part, and is requested again at once', () => {
  const { book } = makeFundedBook(10 * PRICE)
  assert.equal(book.reserve(7, PRICE, NOON), 11)
  assert.deepEqual(book.prepare(2, NOON + 1_000), [])
  let calls = 0
  book.onLow(() => calls++)
  const budgetOk = new Uint8Array(1)
  book.setCampaigns([{ ...CAMPAIGN, budgetVersion: '2' }], { budgetOk, nowMs: NOON + 2_000 })
  assert.equal(calls, 1)
  const requests = book.prepare(3, NOON + 2_000)
  assert.deepEqual(
    [requests.length, requests[0]?.spentMicros, requests[0]?.holdMicros],
    [1, PRICE, PRICE],
  )
  assert.equal(book.reserve(7, PRICE, NOON + 2_000), null, 'the new budget may have no room for it')
  const granted = answer(requests, (request) => grantOf(request, 2 * PRICE))
  book.apply(3, granted, NOON + 2_010)
  assert.equal(book.reserve(7, PRICE, NOON + 2_010), 11)
  assert.equal(book.reserve(7, PRICE, NOON + 2_010), null)
})

test('a campaign out of flight holds no lease; a click on an old result requests its own price', () => {
  const [from, until] = [NOON + 60_000, NOON + 120_000]
  const { book } = makeBook(NOON, { ...CAMPAIGN, servesFromMs: from, servesUntilMs: until })
  const ask = (requestNo: number, nowMs: number) => {
    const requests = book.prepare(requestNo, nowMs)
    book.apply(requestNo, answer(requests), nowMs)
    return requests
  }
  assert.deepEqual(ask(1, NOON), [])
  assert.equal(ask(2, from - 20_000).length, 1) // A little early, so that the flight finds it.
  assert.equal(book.reserve(7, PRICE, from), 11)
  const [handedIn] = ask(3, until + LEASE_TTL_MS)
  assert.equal(handedIn?.holdMicros, PRICE)
  assert.deepEqual(ask(4, until + LEASE_TTL_MS + 1_000), [])
  const later = until + LEASE_TTL_MS + 2_000
  assert.equal(book.reserve(7, PRICE, later), null)
  assert.equal(book.want(7, PRICE, later), true)
  const [immediate] = ask(5, later)
  assert.deepEqual([immediate?.wantMicros, immediate?.immediateMicros], [2 * PRICE, PRICE])
  assert.equal(book.reserve(7, PRICE, later), 11)
})

test('no click waits for a database that has not answered for some time', () => {
  const { book } = makeFundedBook(0)
  assert.equal(book.want(7, PRICE, NOON + LEASE_TTL_MS - LEASE_SKEW_MS - 1), true)
  assert.equal(book.want(7, PRICE, NOON + LEASE_TTL_MS - LEASE_SKEW_MS), false)
})

test('does not repeat the request for an unfunded click at once', () => {
  const { book } = makeFundedBook(0)
  assert.equal(book.want(7, PRICE, NOON), true)
  const requests = book.prepare(2, NOON)
  const refused = answer(requests, (request) => grantOf(request, 0))
  book.apply(2, refused, NOON)
  assert.equal(book.want(7, PRICE, NOON + 500), false)
  assert.equal(book.want(7, PRICE, NOON + 1_500), true)
})

test('reserves the estimated cost of open results, so that no budget is promised twice', () => {
  const { book, budgetOk } = makeFundedBook(4 * PRICE)
  const winFor = (readers: number) => {
    for (let reader = 0; reader < readers; reader++) book.recordWin(7, `${reader}`, NOON)
  }
  winFor(20)
  assert.equal(budgetOk[0], 1, 'the first twenty readers reserve nothing')
  winFor(200)
  assert.equal(budgetOk[0], 0)
  // Minutes later hardly any of them will click; the lease was renewed meanwhile.
  const later = NOON + 10 * 60_000
  const requests = book.prepare(2, later)
  const renewed = answer(requests, (request) => grantOf(request, 4 * PRICE))
  book.apply(2, renewed, later)
  assert.equal(budgetOk[0], 1)
})

test('a low lease requests a refill once, if one is available', () => {
  const { book } = makeBook()
  let calls = 0
  book.onLow(() => calls++)
  const requests = book.prepare(1, NOON)
  const fairMicros = 100 * PRICE
  const granted = answer(requests, (request) => ({ ...grantOf(request, 3 * PRICE), fairMicros }))
  book.apply(1, granted, NOON)
  book.reserve(7, PRICE, NOON)
  book.reserve(7, PRICE, NOON)
  assert.equal(calls, 1)
  book.prepare(2, NOON + 300)
  book.reserve(7, PRICE, NOON + 300)
  assert.equal(calls, 2)
})

test('requests never promise more than is held, in any sequence of grants and clicks', () => {
  const step = fc.record({
    waitMs: fc.integer({ min: 1, max: 40_000 }),
    clicks: fc.array(fc.integer({ min: 1, max: PRICE }), { maxLength: 8 }),
    wins: fc.nat(5),
    generosity: evenly(0, 1),
    refillableMicros: fc.constantFrom(0, 1e9),
    isHeard: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { book } = makeBook(MIDNIGHT - 300_000)
      let nowMs = MIDNIGHT - 300_000
      let nextLease = 1
      // The database's reserved amount by day, and the real reservations of each lease.
      const booked = new Map<string, LeaseGrant>()
      const spent = new Map<number, number>()
      steps.forEach(({ waitMs, clicks, wins, generosity, refillableMicros, isHeard }, index) => {
        nowMs += waitMs
        const requests = book.prepare(index + 1, nowMs)
        const grants = requests.map((request): LeaseGrant => {
          const known = booked.get(request.day)
          const isKnown = known !== undefined && known.leaseId === request.leaseId
          const leaseId = known?.leaseId ?? nextLease++
          assert(!isKnown || request.holdMicros <= known.grantedMicros, 'holds more than granted')
          assert(request.spentMicros <= request.holdMicros)
          assert(request.holdMicros <= request.wantMicros)
          const extra = Math.floor((request.wantMicros - request.holdMicros) * generosity)
          const grantedMicros = (isKnown ? request.holdMicros : 0) + extra
          const { campaignId, day } = request
          const amounts = { grantedMicros, fairMicros: extra, ...NOTHING_ELSEWHERE }
          const grant = { campaignId, day, leaseId, ...amounts, refillableMicros }
          booked.set(day, grant)
          return grant
        })
        if (isHeard) book.apply(index + 1, { requests, grants, recalled: [] }, nowMs)
        for (let win = 0; win < wins; win++) book.recordWin(7, `${win}`, nowMs)
        for (const price of clicks) {
          const leaseId = book.reserve(7, price, nowMs)
          if (leaseId === null) continue
          const total = (spent.get(leaseId) ?? 0) + price
          spent.set(leaseId, total)
          const grant = booked.get(dayText(dayNumberOf(nowMs)))
          assert.equal(grant?.leaseId, leaseId)
          assert(total <= (grant?.grantedMicros ?? 0), 'spent more than is reserved')
        }
      })
    }),
    { numRuns: 500 },
  )
})
