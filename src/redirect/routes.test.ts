import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BROWSER } from '../../test/support/app.ts'
import { indexMarket } from '../auction/market.ts'
import type { SealedResult } from '../auction/seal.ts'
import { CONSENT } from '../events/consent.ts'
import { NO_TERMS } from '../events/pay-terms.ts'
import { REASON } from '../events/reason.ts'
import type { HotRequest } from '../platform/http/hot-http.ts'
import { micros } from '../platform/money/money.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { FUND_TIMEOUT_MS } from './click.ts'
import { ReservedResults } from './reserved-results.ts'
import { type RedirectDeps, redirectRoute, smartLinkRoute } from './routes.ts'

const NOON_MS = Date.UTC(2026, 2, 2, 12)
const LINK = '9007199254740993'
const [SHOP, ELSEWHERE] = ['https://shop.example/1', 'https://elsewhere.example/']

const result: SealedResult = {
  ...{ resultNumber: Buffer.alloc(16, 1), issuedAtMs: NOON_MS, pubId: 1, merchId: 0 },
  ...{ campaignId: 0, offerId: '0', terms: NO_TERMS },
  ...{ sharePpm: 750_000, isExclusive: false, isKeylessForeign: true, isAtClick: false },
  ...{ consent: CONSENT.contextual, runnerUpMicros: micros(0), snapshotVersion: 1 },
}

const nobody = { version: 1, publishers: [], merchants: [], campaigns: [], disabledLinks: [] }
const market = indexMarket(nobody)
const vouched = indexMarket({
  ...nobody,
  publishers: [{ pub_id: 1, slug: 'p', domains: [], allow_hosts: ['elsewhere.example'] } as never],
})
const disabling = indexMarket({ ...nobody, disabledLinks: [{ auction_id: LINK }] })

/** Follows the sealed URL of ELSEWHERE, created without a key, this long after its auction. */
async function follow(
  ageMs: number,
  { market: seen = market, ...changes }: Partial<RedirectDeps & RedirectDeps['edge']> = {},
) {
  const held: [string, unknown][] = []
  const hold = (name: string) => (_link: unknown, _request: unknown, click: object) => {
    held.push([name, 'consent' in click ? click.consent : null])
    return { result: { ...result, isKeylessForeign: false, isAtClick: true }, url: SHOP }
  }
  const deps = {
    ...{ now: () => NOON_MS + ageMs, isHttps: true, brandWords: ['service'] },
    sealer: { open: () => result },
    edge: {
      ...{ runAtClick: hold('at click'), originalResult: hold('original') },
      ...{ storeReceipt: () => undefined, market: seen },
    },
    ...{
      isStorageUnreachable: () => false,
      lastDestination: () => ELSEWHERE,
      mayRecord: () => true,
    },
    findLink: async () => ({ link: { pub_id: 1 } }),
    ...{ append: async () => undefined, reservedResults: new ReservedResults() },
    ...{ isBlocked: () => false, isWithinLimit: () => true },
    ...{ countryOf: () => null, hashKeys: { hash: () => Buffer.alloc(16) }, nextId: () => '1' },
    ...{ onUnrecorded: () => undefined, ...changes },
  } as unknown as RedirectDeps
  const url = encodeURIComponent(ELSEWHERE)
  const { status, headers } = await redirectRoute(deps).handle({
    ...{ isHead: false, path: '/api/v1/redirect', headers: { 'user-agent': BROWSER } },
    ...{ query: `a=${LINK}&ar=x&url=${url}&uuid=`, address: '203.0.113.7' },
    ...{ body: null, requestId: 'r' },
  })
  return { answer: [status, headers.location], held }
}

const isUnreachable = { findLink: () => Promise.reject(new Error('away')) }
const SHOWN = [200, undefined] // The page that names the host.

test('an unvouched URL never redirects a third party, however old it is and while storage is down', async () => {
  for (const [ageMs, changes] of [
    [1_000, {}],
    [DAY_MS, isUnreachable],
    [DAY_MS + 1, isUnreachable],
  ] as const) {
    assert.deepEqual((await follow(ageMs, changes)).answer, SHOWN, String(ageMs))
    const allowed = await follow(ageMs, { ...changes, market: vouched })
    assert.deepEqual(allowed.answer, [302, ELSEWHERE], String(ageMs))
  }
})

test('a result older than a day runs a new auction, under the consent given then', async () => {
  const old = await follow(DAY_MS + 1)
  assert.deepEqual(old, { answer: [302, SHOP], held: [['at click', 'contextual']] })
  const young = await follow(DAY_MS, { market: vouched })
  assert.deepEqual(young, { answer: [302, ELSEWHERE], held: [] })
})

test('a broken seal or a disabled link runs no auction and leads to the link’s own URL', async () => {
  const broken = await follow(1_000, { sealer: { open: () => null } })
  assert.deepEqual(broken, { answer: [302, SHOP], held: [['original', 'contextual']] })
  const disabled = await follow(DAY_MS + 1, { market: disabling })
  assert.deepEqual(disabled, { answer: [302, SHOP], held: [['original', 'contextual']] })
})

/** A click on a smart link with bids of the campaigns in this order; `rich` ones can pay. */
async function clickAmong(
  bidders: readonly number[],
  rich: readonly number[],
  { fund, ...sent }: Partial<HotRequest> & { readonly fund?: () => Promise<void> } = {},
) {
  let tokens = 1 // of the limit per address: it is one click, however many auctions it takes
  const asked: number[] = []
  const kept: unknown[] = []
  const reasons: unknown[] = []
  const runAtClick = (_link: unknown, _request: unknown, { unfunded }: { unfunded: number[] }) => {
    const campaignId = bidders.find((id) => !unfunded.includes(id)) ?? 0
    const paid = { model: 'cpc', pricePerClickMicros: micros(500_000) } as const
    const terms = campaignId === 0 ? NO_TERMS : paid
    const made = { ...result, campaignId, terms, isKeylessForeign: false }
    return {
      result: { ...made, isAtClick: true },
      url: `${SHOP}${campaignId}`,
      receipt: campaignId,
    }
  }
  const deps = {
    edge: {
      ...{ market, runAtClick },
      storeReceipt: ({ receipt }: { receipt: unknown }) => kept.push(receipt),
    },
    ...{ now: () => NOON_MS, isHttps: true, isStorageUnreachable: () => false },
    ...{ findLink: async () => ({ link: { pub_id: 1 } }), lastDestination: () => null },
    mayRecord: () => true,
    ...{ isBlocked: () => false, isWithinLimit: () => tokens-- > 0, countryOf: () => null },
    ...{ hashKeys: { hash: () => Buffer.alloc(16) }, nextId: () => '1' },
    append: async ([event]: { reason: number; leaseId: string | null }[]) =>
      void reasons.push([event?.reason, event?.leaseId]),
    book: { reserve: (id: number) => (rich.includes(id) ? id : null) },
    fund: async (id: number) => {
      asked.push(id)
      await fund?.()
    },
  } as unknown as RedirectDeps
  const route = smartLinkRoute(deps)(`/${LINK}`)
  const reply = await route?.handle({
    ...{ isHead: false, path: `/${LINK}`, query: '', address: '203.0.113.7' },
    ...{ headers: { 'user-agent': BROWSER }, body: null, requestId: 'r', ...sent },
  })
  return { location: reply?.headers.location, asked, kept, reasons }
}

test('the first bidder that can pay gets a click on a smart link, and only its receipt is stored', async () => {
  assert.deepEqual(await clickAmong([1, 2, 3], [3]), {
    ...{ location: `${SHOP}3`, asked: [1, 2], kept: [3], reasons: [[REASON.ok, '3']] },
  })
  assert.deepEqual(await clickAmong([1, 2], []), {
    ...{ location: `${SHOP}0`, asked: [1, 2], kept: [0], reasons: [[REASON.ok, null]] },
  })
})

test('waits for all bidders that cannot pay at once, not one after the other', async (t) => {
  const timers = t.mock.method(globalThis, 'setTimeout')
  const { asked } = await clickAmong([1, 2, 3], [], { fund: () => new Promise(() => undefined) })
  assert.deepEqual(asked, [1, 2, 3])
  const waitedMs = timers.mock.calls.reduce((sum, { arguments: [, ms = 0] }) => sum + ms, 0)
  assert.ok(waitedMs < 2 * FUND_TIMEOUT_MS, `${waitedMs} ms`)
})

test('a robot’s click and a mere look-up request no budget', async () => {
  const robot = await clickAmong([1, 2], [2], { headers: { 'user-agent': 'Googlebot/2.1' } })
  assert.deepEqual(robot, {
    ...{ location: `${SHOP}1`, asked: [], kept: [1], reasons: [[REASON.robot, null]] },
  })
  const look = await clickAmong([1, 2], [2], { isHead: true })
  assert.deepEqual(look, { location: `${SHOP}1`, asked: [], kept: [], reasons: [] })
})
