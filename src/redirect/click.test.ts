import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BROWSER } from '../../test/support/app.ts'
import type { Merchant } from '../auction/market.ts'
import type { SealedResult } from '../auction/seal.ts'
import type { LeaseBook } from '../budgets/lease.ts'
import type { LogEvent } from '../events/event.ts'
import { EventRefused, LogUnavailable } from '../events/event-log.ts'
import { pricePerClick } from '../events/pay-terms.ts'
import { REASON } from '../events/reason.ts'
import { micros } from '../platform/money/money.ts'
import { AddressReservations } from './address-reservations.ts'
import {
  answerClick,
  CLICK_AGE_MIN_MS,
  type Click,
  type ClickDeps,
  edgeVerdict,
  type Reservation,
} from './click.ts'
import { ReservedResults } from './reserved-results.ts'

const NOON_MS = Date.UTC(2026, 2, 2, 12)
const result: SealedResult = {
  ...{ resultNumber: Buffer.alloc(16, 1), issuedAtMs: NOON_MS, pubId: 1, merchId: 2 },
  ...{ campaignId: 3, offerId: '4', terms: { model: 'cpc', pricePerClickMicros: micros(500_000) } },
  ...{ sharePpm: 750_000, isExclusive: false, isKeylessForeign: false, isAtClick: false },
  ...{ consent: 1, runnerUpMicros: micros(0), snapshotVersion: 1 },
}

/** The edge's verdict on a click this long after its auction. */
function verdict(ageMs: number, changes: Partial<SealedResult> = {}, sent: object = {}): number {
  const deps = { isBlocked: () => false, isWithinLimit: () => true }
  const request = { headers: { 'user-agent': BROWSER, ...sent }, address: '203.0.113.7' }
  const click = {
    ...{ request, nowMs: NOON_MS + ageMs, auctionId: '9', verdict: REASON.ok },
    result: { ...result, ...changes },
  }
  return edgeVerdict(deps as unknown as ClickDeps, click as unknown as Click)
}

test('a click 299 ms after its page’s auction is too fast, one after 300 ms is not', () => {
  assert.equal(CLICK_AGE_MIN_MS, 300)
  assert.equal(verdict(299), REASON.tooFast)
  assert.equal(verdict(300), REASON.ok)
  // Another node's clock may be behind the clock of the auction's node.
  assert.equal(verdict(-5_000), REASON.tooFast)
})

test('a click on a result from before a clock change is not too fast', () => {
  assert.equal(verdict(-5_001), REASON.ok)
  assert.equal(verdict(-3_600_000), REASON.ok)
})

test('a load for anything but a document is no click, with a user gesture or without', () => {
  const cases: readonly [object, number][] = [
    [{ 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' }, REASON.embedded],
    [{ 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' }, REASON.embedded],
    [{ 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'no-cors' }, REASON.embedded],
    [{ 'sec-fetch-dest': 'iframe', 'sec-fetch-user': '?1' }, REASON.embedded],
    [{ 'sec-fetch-dest': 'object', 'sec-fetch-user': '?1' }, REASON.embedded],
    [{ 'sec-fetch-dest': '' }, REASON.embedded],
    [{ 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' }, REASON.ok],
    [{ 'sec-fetch-mode': 'cors' }, REASON.ok], // A program that is not a browser identifies itself.
  ]
  for (const [headers, reason] of cases) {
    assert.equal(verdict(300, {}, headers), reason, JSON.stringify(headers))
  }
})

test('an auction run for the click itself has no minimum age', () => {
  assert.equal(verdict(0, { isAtClick: true }), REASON.ok)
})

/** Answers clicks on one result of a page, from `lease` and into `append`. */
function clickAgain({
  reserve = () => 7,
  landing = { click_param: 'cid', deep_link: null },
  ...changes
}: Partial<Pick<ClickDeps, 'append'> & Pick<LeaseBook, 'reserve'>> & {
  readonly landing?: Pick<Merchant, 'click_param' | 'deep_link'>
} = {}) {
  const written: LogEvent[] = []
  const noted: unknown[] = []
  const errors: unknown[] = []
  const released: unknown[][] = []
  const deps = {
    append: async (events: LogEvent[]) => void written.push(...events),
    book: {
      ...{ reserve, recordClick: (...click: unknown[]) => noted.push(click) },
      release: (...lease: unknown[]) => released.push(lease),
    },
    fund: async () => undefined,
    reservedResults: new ReservedResults(),
    addressReservations: new AddressReservations(),
    onUnrecorded: (why: unknown) => errors.push(why),
    onLocalClick: () => undefined,
    edge: {
      market: {
        merchants: new Map([[result.merchId, landing]]),
        campaigns: new Map([[result.campaignId, { clicks_per_address_hour: 10 }]]),
      },
    },
    ...{ isBlocked: () => false, isWithinLimit: () => true, countryOf: () => null },
    hashKeys: { hash: (_purpose: string, value: string) => Buffer.from(value) },
    nextId: () => '1',
    ...changes,
  }
  const click = {
    ...{ nowMs: NOON_MS + 1_000, auctionId: '9', verdict: REASON.ok, result, consent: 2 },
    ...{ url: 'https://kettles.example/p/1', sessionUuid: null, visitorId: null, referrer: null },
    labels: { u1: null, utmSource: null },
  }
  const answer = (
    of: Partial<SealedResult> = {},
    reservation: Reservation | null = null,
    address = '203.0.113.7',
  ) => {
    const request = { isHead: false, headers: { 'user-agent': BROWSER }, address }
    const wanted = { ...click, request, result: { ...result, ...of }, reservation }
    return answerClick(deps as unknown as ClickDeps, wanted as unknown as Click)
  }
  const reasons = () => written.map(({ reason, reservedMicros }) => [reason, reservedMicros])
  return { answer, reasons, written, noted, errors, released }
}

test('reserves the price once when a sealed URL is sent repeatedly', async () => {
  const { answer, reasons } = clickAgain()
  await Promise.all([answer(), answer()])
  assert.equal((await answer()).status, 302)
  const repeat = [REASON.duplicateResult, null]
  const inOrder = reasons().sort(([a], [b]) => Number(a) - Number(b)) // Two arrived at once.
  assert.deepEqual(inOrder, [[REASON.ok, 500_000], repeat, repeat])
})

test('all addresses of one IPv6 subscriber are one unit in the log', async () => {
  const { answer, written } = clickAgain()
  for (const end of [':1', 'a:b:c:d', '1::1']) await answer({}, null, `2001:db8:0:7:${end}`)
  await answer({}, null, '2001:db8:0:8::1')
  const [one, ...others] = written.map(({ addressKey }) => String(addressKey))
  assert.deepEqual(
    others.map((other) => other === one),
    [true, true, false],
  )
})

test('counts a click on a page’s result once for the reserve, and a click with its own auction never', async () => {
  const { answer, noted } = clickAgain()
  await answer()
  await answer()
  const atClick = { resultNumber: Buffer.alloc(16, 2), isAtClick: true }
  await answer(atClick, { reason: REASON.ok, leaseId: 7 })
  assert.deepEqual(noted, [
    [
      3,
      {
        nowMs: NOON_MS + 1_000,
        ageMs: 1_000,
        priceMicros: pricePerClick(result.terms),
        address: '203.0.113.7',
      },
    ],
  ])
})

test('an address that has reserved its hourly paid clicks reserves nothing more at once', async () => {
  const { answer, noted, reasons } = clickAgain()
  const next = (number: number) => ({ resultNumber: Buffer.alloc(16, number) })
  for (let click = 0; click < 11; click++) await answer(next(click))
  const verdicts = () => reasons().map(([reason]) => reason)
  assert.deepEqual(verdicts().slice(9), [REASON.ok, REASON.addressLimit])
  assert.equal(noted.length, 10, 'the last one does not count as demand either')
  await answer(next(21), null, '203.0.113.8')
  await answer(next(22), null, '127.0.0.1')
  assert.deepEqual(verdicts().slice(11), [REASON.ok, REASON.ok])
})

test('a result whose click was unfunded or unrecorded may still be paid', async () => {
  const leases = [null, null, 7]
  const poor = clickAgain({ reserve: () => leases.shift() ?? null })
  await poor.answer()
  await poor.answer()
  assert.deepEqual(poor.reasons(), [
    [REASON.unfunded, null],
    [REASON.ok, 500_000],
  ])
  const taken: (number | null)[] = []
  const away = clickAgain({
    append: ([event]) => {
      taken.push(event?.leaseId == null ? null : Number(event.leaseId))
      return Promise.reject(new LogUnavailable('away'))
    },
  })
  await away.answer()
  await away.answer()
  assert.deepEqual(taken, [7, 7])
})

test('an unrecorded repeat does not free the first click’s reservation', async () => {
  const taken: (number | null)[] = []
  const { answer } = clickAgain({
    append: ([event]) => {
      taken.push(event?.reservedMicros ?? null)
      return taken.length === 2 ? Promise.reject(new LogUnavailable('away')) : Promise.resolve()
    },
  })
  for (const _ of [1, 2, 3]) await answer()
  assert.deepEqual(taken, [500_000, null, null])
})

/** The answer to a reader whose click is refused, and the state of its price. */
async function unrecorded(error: Error) {
  const { answer, errors, released } = clickAgain({ append: () => Promise.reject(error) })
  const reply = await answer()
  assert.deepEqual(errors, [error])
  return { reply, released }
}

test('redirects the reader, whatever keeps the click from being recorded', async () => {
  const away = new LogUnavailable('full')
  const late = new LogUnavailable('late', { isUncertain: true })
  for (const error of [away, late, new EventRefused('no'), new Error('a mistake of ours')]) {
    const { reply, released } = await unrecorded(error)
    assert.equal(reply.status, 302)
    // The price and the id are free again only if the event will certainly never be written.
    const isLost = error === away || error instanceof EventRefused
    assert.deepEqual(released, isLost ? [[3, 7, 500_000]] : [], error.message)
    const location = String(reply.headers.location)
    assert.match(location, isLost ? /\/p\/1$/ : /\/p\/1\?cid=[0-9a-f]{32}$/, error.message)
  }
})

test('a click always carries its id: in the network’s template, else in the shop’s own parameter', async () => {
  const id = /[0-9a-f]{32}/
  const destination = async (deep_link: string | null) => {
    const { headers } = await clickAgain({ landing: { click_param: 'ref', deep_link } }).answer()
    return String(headers.location).replace(id, 'ID')
  }
  const net = 'https://net.example/c?u={url_encoded}'
  const page = 'https%3A%2F%2Fkettles.example%2Fp%2F1'
  assert.equal(await destination(null), 'https://kettles.example/p/1?ref=ID')
  assert.equal(await destination(`${net}&sub={cid}`), `https://net.example/c?u=${page}&sub=ID`)
  assert.equal(await destination(net), `https://net.example/c?u=${page}%3Fref%3DID`)
})
