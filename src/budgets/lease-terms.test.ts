import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  applyGrant,
  dayNumberOf,
  dayText,
  type HeldLease,
  type LeaseGrant,
  type LeaseNeeds,
  type LeaseRequest,
  openDay,
  requestsOf,
} from './lease-terms.ts'

const NOW = Date.parse('2026-04-13T12:00:00Z')
const MIDNIGHT = Date.parse('2026-04-14T00:00:00Z')
const PRICE = 1_000
const NEED = 100 * PRICE
const TODAY = dayNumberOf(NOW)

const needs = (some: Partial<LeaseNeeds> = {}): LeaseNeeds => ({
  campaignId: 0,
  priceMaxMicros: PRICE,
  isWanted: true,
  microsPerMs: 0,
  reserveMicros: 0,
  inFlightMicros: 0,
  nowMs: NOW,
  ...some,
})

/** A lease of today with plenty of time and money. */
const held = (some: Partial<HeldLease> = {}): HeldLease => ({
  ...openDay([], TODAY),
  leaseId: 11,
  grantedMicros: NEED,
  bookedMicros: NEED,
  fairMicros: NEED,
  askedAtMs: NOW,
  usableUntilMs: NOW + 28_000,
  ...some,
})

/** The one request about a lease; null: none. */
function ask(lease: HeldLease, some: Partial<LeaseNeeds> = {}): LeaseRequest | null {
  const requests = requestsOf([lease], needs(some))
  assert.ok(requests.length <= 1)
  return requests[0] ?? null
}

/** Requests a lease in any state, and applies an answer a moment later. */
function answer(lease: HeldLease, grant: Partial<LeaseGrant> | null, some?: Partial<LeaseRequest>) {
  const request: LeaseRequest = {
    ...{ campaignId: 0, day: dayText(lease.dayNumber), leaseId: lease.leaseId },
    ...{ spentMicros: lease.spentMicros, holdMicros: NEED, wantMicros: NEED },
    ...{ priceMaxMicros: PRICE, isFinal: false, immediateMicros: 0, inFlightMicros: 0 },
    ...some,
  }
  const granted: LeaseGrant | null = grant && {
    ...{ campaignId: 0, day: request.day, leaseId: lease.leaseId, grantedMicros: NEED },
    ...{ fairMicros: NEED, refillableMicros: 0, inFlightElsewhereMicros: 0 },
    ...grant,
  }
  return applyGrant([lease], request, granted, { sentAtMs: NOW - 500, nowMs: NOW })
}

test('requests spending for half a minute and a half, a burst, or the reserve of its wins', () => {
  const wanted = (some: Partial<LeaseNeeds>) => {
    const [request] = requestsOf([], needs(some))
    assert.deepEqual([request?.leaseId, request?.holdMicros], [0, 0])
    return request?.wantMicros
  }
  assert.equal(wanted({}), 100 * PRICE)
  assert.equal(wanted({ microsPerMs: 20 }), 900_000)
  assert.equal(wanted({ reserveMicros: 400_000 }), 400_000 + PRICE)
})

test('renews a lease with twelve seconds left, spreading campaigns over eight more', () => {
  for (const [campaignId, seconds] of [
    [0, 12],
    [1, 13],
    [7, 19],
    [8, 12],
    [15, 19],
  ] as const) {
    const left = (ms: number) => ask(held({ usableUntilMs: NOW + ms }), { campaignId })
    assert.equal(left(seconds * 1_000), null)
    assert.equal(left(seconds * 1_000 - 1)?.holdMicros, NEED)
  }
})

test('refills a lease under half of the need, if more is available or a click cannot be paid', () => {
  const low = (unspent: number, fairMicros: number) =>
    ask(held({ grantedMicros: unspent, fairMicros })) !== null
  assert.equal(low(NEED / 2, NEED), false)
  assert.equal(low(NEED / 2 - 1, NEED), true)
  assert.equal(low(NEED / 2 - 1, NEED / 2), true)
  assert.equal(low(NEED / 2 - 1, NEED / 2 - 1), false)
  assert.equal(low(PRICE, PRICE), false)
  assert.equal(low(PRICE - 1, PRICE - 1), true)
  const promised = { reserveMicros: 10 * PRICE }
  const empty = (unspent: number) => held({ grantedMicros: unspent, fairMicros: unspent })
  assert.equal(ask(empty(11 * PRICE), promised), null)
  assert.notEqual(ask(empty(11 * PRICE - 1), promised), null)
})

test('waits before it requests again after a refusal', () => {
  const empty = held({ grantedMicros: 0, fairMicros: 0, retryAtMs: NOW })
  assert.equal(ask(empty, { nowMs: NOW - 1 }), null)
  assert.equal(ask(empty)?.wantMicros, NEED)
})

test('returns money above twice the need, down to the need', () => {
  const rich = (unspent: number) =>
    held({ spentMicros: 5, grantedMicros: 5 + unspent, fairMicros: 2 * NEED })
  assert.equal(ask(rich(2 * NEED)), null)
  const lease = rich(2 * NEED + 1)
  assert.equal(ask(lease)?.holdMicros, 5 + NEED)
  assert.equal(lease.grantedMicros, 5 + NEED, 'before the request leaves')
  const unfair = held({ fairMicros: 10 * PRICE })
  assert.equal(ask(unfair)?.holdMicros, 10 * PRICE)
  assert.equal(ask(held({ leaseId: 0, grantedMicros: 3 * NEED })), null, 'nothing to return')
})

test('requests a waiting click’s price once, on top of the held money', () => {
  const lease = held({ spentMicros: 7, grantedMicros: NEED, immediateMicros: 3 * NEED })
  const first = ask(lease)
  assert.deepEqual(
    [first?.holdMicros, first?.wantMicros, first?.immediateMicros],
    [NEED, 7 + 3 * NEED, 3 * NEED],
  )
  assert.equal(ask(lease), null)
})

test('with a waiting click, too, a node keeps its fair share at most', () => {
  const waiting = { spentMicros: 7, immediateMicros: PRICE, usableUntilMs: 0 }
  const shared = ask(held({ ...waiting, fairMicros: 10 * PRICE }))
  assert.deepEqual([shared?.holdMicros, shared?.wantMicros], [7 + 10 * PRICE, 7 + NEED])
  const paused = ask(held(waiting), { isWanted: false })
  assert.deepEqual([paused?.holdMicros, paused?.wantMicros], [7, 7 + PRICE])
})

test('requests once after a budget change, and holds only the spent part', () => {
  const lease = held({ spentMicros: 7, isRecalled: true })
  assert.equal(ask(lease)?.holdMicros, 7)
  lease.grantedMicros = NEED
  assert.equal(ask(lease), null)
})

test('opens tomorrow’s lease twenty seconds ahead, after today’s request', () => {
  const daysAt = (nowMs: number, lease: HeldLease) =>
    requestsOf([lease], needs({ nowMs })).map(({ day }) => day)
  const fresh = () => held({ askedAtMs: MIDNIGHT, usableUntilMs: MIDNIGHT + 60_000 })
  assert.deepEqual(daysAt(MIDNIGHT - 20_001, fresh()), [])
  assert.deepEqual(daysAt(MIDNIGHT - 20_000, fresh()), ['2026-04-14'])
  const due = held({ usableUntilMs: MIDNIGHT })
  assert.deepEqual(daysAt(MIDNIGHT - 5_000, due), ['2026-04-13'], 'one increase at a time')
  const leases = [due, ...[openDay([], TODAY + 1)]]
  const turned = requestsOf(leases, needs({ nowMs: MIDNIGHT }))
  assert.deepEqual(
    turned.map(({ day, isFinal }) => [day, isFinal]),
    [
      ['2026-04-13', true],
      ['2026-04-14', false],
    ],
  )
})

test('returns an ended day’s lease, also if no answer ever confirmed it', () => {
  const [unheard, had] = [openDay([], TODAY - 2), held({ dayNumber: TODAY - 1 })]
  const leases = [unheard, had, held()]
  const requests = requestsOf(leases, needs())
  assert.deepEqual(
    requests.map(({ day, leaseId, isFinal, wantMicros }) => [day, leaseId, isFinal, wantMicros]),
    [
      ['2026-04-11', 0, true, 0],
      ['2026-04-12', 11, true, 0],
    ],
  )
})

test('a stopped campaign returns its lease at expiry, unless it is fully spent', () => {
  const stopped = { isWanted: false }
  const lease = () => held({ spentMicros: 7, immediateFromMs: 0, usableUntilMs: NOW + 1 })
  assert.equal(ask(lease(), stopped), null)
  const request = ask(lease(), { ...stopped, nowMs: NOW + 1 })
  assert.deepEqual([request?.holdMicros, request?.wantMicros, request?.isFinal], [7, 7, false])
  assert.equal(request?.immediateMicros, 0)
  const spent = { ...lease(), bookedMicros: 7 }
  assert.equal(ask(spent, { ...stopped, nowMs: NOW + 1 }), null)
  assert.equal(ask({ ...lease(), isRecalled: true }, stopped), null)
})

test('applies an answer whole; it lasts 28 s from its request', () => {
  const lease = held({ spentMicros: 30, retryAtMs: 1, usableUntilMs: 0 })
  const elsewhere = { refillableMicros: 5, inFlightElsewhereMicros: 6 }
  const elsewhereGrant = { grantedMicros: NEED + 1, fairMicros: 900, ...elsewhere }
  assert.deepEqual(answer(lease, elsewhereGrant, { spentMicros: 10 }), [lease])
  assert.deepEqual(lease, {
    ...held({ spentMicros: 30, ...elsewhere }),
    ...{ grantedMicros: NEED + 1, bookedMicros: NEED + 1 },
    fairMicros: 880, // less the spending since the request
    askedAtMs: NOW - 500,
    usableUntilMs: NOW - 500 + 28_000,
  })
  answer(lease, { fairMicros: 19 }, { spentMicros: 10 })
  assert.equal(lease.fairMicros, 0)
})

test('requests again two seconds after a grant below the wanted, one after an urgent one', () => {
  const after = (grantedMicros: number, immediateMicros = 0, spentMicros = 0) => {
    const lease = held({ spentMicros })
    answer(lease, { grantedMicros }, { spentMicros, immediateMicros })
    return [lease.retryAtMs, lease.immediateFromMs]
  }
  assert.deepEqual(after(NEED), [0, 0])
  assert.deepEqual(after(NEED - 1), [NOW + 2_000, 0])
  assert.deepEqual(after(50, 50), [NOW + 2_000, 0])
  assert.deepEqual(after(50, 51), [NOW + 2_000, NOW + 1_000])
  assert.deepEqual(after(80, 50, 30), [NOW + 2_000, 0])
  assert.deepEqual(after(80, 51, 30), [NOW + 2_000, NOW + 1_000])
})

test('a refused click price means that nothing can be fetched', () => {
  const after = (grantedMicros: number) => {
    const lease = held({ refillableMicros: 9 })
    answer(lease, { grantedMicros, refillableMicros: 8 }, { immediateMicros: 50 })
    return lease.refillableMicros
  }
  assert.deepEqual([after(50), after(49)], [8, 0])
})

test('spends a missing lease no further, and keeps its id and spending', () => {
  const lease = held({ spentMicros: 30, refillableMicros: 9 })
  assert.deepEqual(answer(lease, null), [lease])
  const ended = { grantedMicros: 30, fairMicros: 0, usableUntilMs: 0, retryAtMs: NOW + 2_000 }
  assert.deepEqual(lease, held({ spentMicros: 30, askedAtMs: NOW - 500, ...ended }))
})

test('nothing of a new lease is spent yet', () => {
  const lease = held({ spentMicros: 30 })
  answer(lease, { leaseId: 12, grantedMicros: 20, fairMicros: 10 }, { immediateMicros: 20 })
  assert.deepEqual([lease.leaseId, lease.spentMicros, lease.fairMicros], [12, 0, 10])
  assert.equal(lease.immediateFromMs, 0)
})

test('a lease with less left than was spent is gone; with exactly that it is not', () => {
  const lease = held({ spentMicros: 30, refillableMicros: 9 })
  answer(lease, { grantedMicros: 29, refillableMicros: 9 })
  const ended = { grantedMicros: 30, fairMicros: 0, usableUntilMs: 0, retryAtMs: NOW + 2_000 }
  assert.deepEqual(lease, held({ spentMicros: 30, askedAtMs: NOW - 500, ...ended }))
  answer(lease, { grantedMicros: 30 })
  assert.deepEqual([lease.grantedMicros, lease.usableUntilMs], [30, NOW - 500 + 28_000])
})

test('an ended day’s lease ends with its last answer; an unknown one changes nothing', () => {
  const [lease, other] = [held(), held({ dayNumber: TODAY + 1 })]
  assert.deepEqual(answer(lease, null, { isFinal: true }), [])
  assert.deepEqual(answer(other, null, { day: dayText(TODAY) }), [other])
  assert.equal(other.retryAtMs, 0)
})
