/** Redirect, smart link and wrapper URLs: docs/spec/interface.md#redirects. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_TYPE } from '../../src/events/event.ts'
import { REASON } from '../../src/events/reason.ts'
import { encodeBase62 } from '../../src/platform/ids.ts'
import { micros } from '../../src/platform/money/money.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { DAY_MS } from '../../src/platform/time/timestamp.ts'
import { startApi } from '../support/api.ts'
import { follow, KETTLE, makeMarket, runAuction, SLUG, statsOf, until } from '../support/market.ts'

let clockAheadMs = 0
const api = await startApi({ after }, { now: () => Date.now() + clockAheadMs })
const market = await makeMarket(api)
await market.campaign(market.kettles, {
  bid_micros: micros(600_000),
  exclusive_bid_micros: micros(600_000),
})
/** The service treats faster clicks as a program's. */
const think = () => sleep(320)
const wrapper = (url: string, more = '') =>
  `/link/?url=${encodeURIComponent(url)}&publisher_slug=${SLUG}${more}`
const lastClick = async () => {
  await api.app.untilFolded()
  return api.db.row<{
    reason: number
    merchant_cost_micros: string
    u1: string | null
    utm_source: string | null
    visitor_key: Buffer | null
    result_number: Buffer
  }>(sql`
    select click.reason, merchant_cost_micros, u1, utm_source, event.visitor_key,
      event.result_number
    from click join event on event.id = click.event_id order by event.seq desc limit 1`)
}

test('a sealed redirect leads to the merchant with a click id, and is paid once', async () => {
  const auctionId = await market.link(KETTLE, { isExclusive: true, article: 'sealed' })
  const { auction_result } = await runAuction(api, auctionId)
  await think()
  const response = await fetch(auction_result.redirect_url.replace(/^https:\/\/[^/]+/, api.url), {
    redirect: 'manual',
    headers: { 'user-agent': 'Mozilla/5.0 Chrome/149.0 Safari/537.36' },
  })
  assert.equal(response.status, 302)
  assert.match(
    response.headers.get('location') ?? '',
    /^https:\/\/kettles\.example\/p\/1\?cid=[0-9a-f]{32}$/,
  )
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer-when-downgrade')
  assert.equal(response.headers.get('x-robots-tag'), 'noindex')
  await follow(api, auction_result.redirect_url)
  const rows = (await statsOf(api, market)).filter((row) => row.article_name === 'sealed')
  assert.deepEqual(
    rows.map(({ clicks, pub_earnings, advertiser_name }) => [
      clicks,
      pub_earnings,
      advertiser_name,
    ]),
    [[1, '0.45', 'Kettles']],
  )
})

test('a click under 300 ms after its auction is redirected, recorded and unpaid', async () => {
  const auctionId = await market.link(KETTLE, { isExclusive: true })
  const { auction_result } = await runAuction(api, auctionId)
  // A busy machine would be too slow for this; more than five seconds would be a clock jump.
  clockAheadMs -= 4_900
  assert.equal((await follow(api, auction_result.redirect_url)).status, 302)
  clockAheadMs += 4_900
  const click = await lastClick()
  assert.deepEqual([click?.reason, click?.merchant_cost_micros], [REASON.tooFast, '0'])
})

test('none of 10,000 altered URLs leads off the stored destination, and none is paid', async () => {
  const auctionId = await market.link(KETTLE)
  const { auction_result } = await runAuction(api, auctionId)
  const { search } = new URL(auction_result.redirect_url)
  await think()
  await follow(api, auction_result.redirect_url) // Paid, so that no other click of it can be.
  const before = await earnings()
  const seen = new Set<string>()
  for (let batch = 0; batch < 100; batch++) {
    const answers = Array.from({ length: 100 }, () =>
      follow(api, `/api/v1/redirect/${altered(search)}`),
    )
    for (const { status, location } of await Promise.all(answers)) {
      seen.add(`${status} ${location.replace(/cid=[0-9a-f]{32}$/, 'cid')}`)
    }
  }
  // An altered auction id may be another link's, unknown, or on a busy machine not found in time
  // (503). Everything else leads to the stored destination. A URL that reads the same (another
  // spelling of %XX) is intact and has its click id.
  for (const outcome of seen) {
    assert.ok(['404 ', '503 ', `302 ${KETTLE}`, `302 ${KETTLE}?cid`].includes(outcome), outcome)
  }
  assert.ok(seen.has(`302 ${KETTLE}`))
  assert.equal(await earnings(), before)
})

test('a smart link runs its auction at the click, in every form of its URL', async () => {
  const auctionId = await market.link(KETTLE)
  const short = encodeBase62(auctionId)
  for (const path of [
    ...[`/${auctionId}`, `/${auctionId}/`, `/${short}`, `/${short}/`, `/${auctionId}/?amp=true`],
    ...['.', '%20', '&u1=x'].flatMap((glued) => [`/${auctionId}${glued}`, `/${short}${glued}`]),
    `/${auctionId}?u1=newsletter?amp=true&utm_source=mail`,
  ]) {
    const { status, location } = await follow(api, path)
    assert.equal(status, 302, path)
    assert.match(location, /^https:\/\/kettles\.example\/p\/1\?cid=[0-9a-f]{32}$/, path)
  }
  const { u1, utm_source } = (await lastClick()) ?? {}
  assert.deepEqual({ u1, utm_source }, { u1: 'newsletter', utm_source: 'mail' })
})

test('redirect, pixel and wrapper work without their slash and with an empty query', async () => {
  const { auction_result, impression_pixel_url } = await runAuction(api, await market.link(KETTLE))
  await think()
  const bare = (address: string) => address.replace('/?', '?&&').concat('&')
  assert.match((await follow(api, bare(auction_result.redirect_url))).location, /\?cid=/)
  assert.equal((await follow(api, bare(impression_pixel_url))).status, 200)
  assert.match((await follow(api, bare(wrapper(KETTLE)))).location, /\?cid=/)
})

test('blanks around a URL, and line breaks in it, never reach the reader', async () => {
  const written = ` https://kettles.example/\tp/1\r\n`
  const answer = await api.call(
    `/api/v1/publishers/${market.account.pubId}/linkmate/smart_links/`,
    {
      body: {
        article: { name: 'a', url: 'https://daily.example/blanks' },
        links: [{ raw_url: written }],
      },
    },
  )
  const { smart_links } = answer.entry<{ smart_links: { auction_id: string; url: string }[] }>()
  assert.equal(smart_links[0]?.url, written, 'the answer echoes what was sent')
  for (const auctionId of [smart_links[0]?.auction_id ?? '', await market.link(written)]) {
    const { auction_result } = await runAuction(api, auctionId)
    await think()
    for (const address of [`/${auctionId}`, auction_result.redirect_url]) {
      const { location } = await follow(api, address)
      assert.match(location, /^https:\/\/kettles\.example\/p\/1\?cid=[0-9a-f]{32}$/)
    }
    assert.equal(api.app.node.destinations.get(auctionId), KETTLE)
  }
})

test('an HTML-escaped ampersand in a redirect or smart link is read as the one that was meant', async () => {
  const auctionId = await market.link(KETTLE, { isExclusive: true })
  for (const escaped of ['&amp;', '&amp%3B', '&%23038;']) {
    const { auction_result } = await runAuction(api, auctionId)
    await think()
    const [address = '', query = ''] = auction_result.redirect_url.split('?')
    const written = `${address}?${query.replaceAll('&', escaped)}${escaped}u1=${escaped.length}`
    const { status, location } = await follow(api, written)
    assert.equal(status, 302)
    assert.match(location, /^https:\/\/kettles\.example\/p\/1\?cid=/)
    const click = await lastClick()
    assert.notEqual(click?.reason, REASON.sealBroken, escaped)
    assert.equal(click?.u1, String(escaped.length))
  }
  await follow(api, `/${auctionId}?x=1&amp;u1=mail&amp;utm_source=letter`)
  const click = await lastClick()
  assert.deepEqual([click?.u1, click?.utm_source], ['mail', 'letter'])
})

test('stores an app that a reader comes from by its name', async () => {
  const auctionId = await market.link(KETTLE, { isExclusive: true })
  const referrerOf = async (referer: string) => {
    await follow(api, `/${auctionId}`, { referer })
    await api.app.untilFolded()
    const row = await api.db.row<{ referrer: string | null }>(
      sql`select referrer from event where type = ${EVENT_TYPE.click} order by seq desc limit 1`,
    )
    return row?.referrer
  }
  assert.equal(await referrerOf('android-app://com.google.android.gm/'), 'com.google.android.gm')
  assert.equal(await referrerOf('android-app://com.reader.app/https/x'), 'com.reader.app')
  assert.equal(await referrerOf('android-app://?x'), null)
})

test('a reader whose browser sends more headers than are taken is led on, or sees a plain page', async () => {
  const auctionId = await market.link(KETTLE, { isExclusive: true })
  const cookie = (bytes: number) => ({ cookie: `x=${'y'.repeat(bytes)}` })
  const { auction_result } = await runAuction(api, auctionId)
  for (const path of [`/${auctionId}`, wrapper(KETTLE), auction_result.redirect_url]) {
    const { status, location } = await follow(api, path, cookie(40_000))
    assert.equal(status, 302, path)
    assert.match(location, /^https:\/\/kettles\.example\/p\/1/)
  }
  for (const [path, bytes] of [
    [`/${auctionId}`, 100_000],
    ['/dashboard/', 40_000],
    ['/nowhere', 40_000],
    ['/nowhere', 300_000],
  ] as const) {
    const { status, text } = await follow(api, path, cookie(bytes))
    assert.equal(status, 431, path)
    assert.match(text, /^<!doctype html>.*cookies/s)
  }
  const program = await api.call('/api/v1/tokeninfo/', { headers: cookie(40_000) })
  assert.deepEqual([program.status, program.failure().fields], [400, ['request']])
})

test('an unknown smart link is a plain page with 404', async () => {
  const { status, text } = await follow(api, '/9007199254740993')
  assert.equal(status, 404)
  assert.match(text, /<h1>/)
})

test('a smart link that a restored database has lost leads to its remembered destination', async () => {
  const auctionId = api.app.node.ids.next()
  assert.equal((await follow(api, `/${auctionId}`)).status, 404)
  api.app.node.destinations.note(auctionId, KETTLE)
  const { status, location } = await follow(api, `/${auctionId}`)
  assert.deepEqual([status, location], [302, KETTLE])
})

test('robots, prefetches and clients without a user agent are redirected and never billed', async () => {
  const auctionId = await market.link(KETTLE)
  for (const [headers, reason] of [
    [{ 'user-agent': 'Googlebot/2.1' }, REASON.robot],
    [{ 'user-agent': '' }, REASON.robot],
    [{ 'sec-purpose': 'prefetch' }, REASON.prefetch],
    [{ purpose: 'prefetch' }, REASON.prefetch],
  ] as const) {
    const { status } = await follow(api, `/${auctionId}`, headers)
    assert.equal(status, 302)
    assert.deepEqual(
      [(await lastClick())?.reason, (await lastClick())?.merchant_cost_micros],
      [reason, '0'],
    )
  }
})

test("one visitor's second click on a link within 30 minutes is unpaid", async () => {
  const auctionId = await market.link(KETTLE)
  const first = await follow(api, `/${auctionId}`)
  assert.match(
    first.cookie ?? '',
    /^__Host-souk_visitor=[0-9a-f]{32}; .*HttpOnly; SameSite=Lax; Secure$/,
  )
  assert.equal((await lastClick())?.reason, 0)
  const cookie = first.cookie?.split(';')[0] ?? ''
  clockAheadMs += 29 * 60_000 + 50_000
  await follow(api, `/${auctionId}`, { cookie })
  assert.equal((await lastClick())?.reason, REASON.duplicateVisitor)
  clockAheadMs += 11_000
  await follow(api, `/${auctionId}`, { cookie })
  assert.equal((await lastClick())?.reason, REASON.ok)
})

test('a reader who objects gets no cookie, and a cookie that is sent is not read', async () => {
  const auctionId = await market.link(KETTLE)
  const cookie = `__Host-souk_visitor=${'ab'.repeat(16)}`
  const { auction_result } = await runAuction(api, auctionId, { query: '&consent=contextual' })
  await think()
  for (const [address, headers] of [
    [`/${auctionId}`, { 'sec-gpc': '1' }],
    [`/${auctionId}`, { dnt: '1' }],
    [auction_result.redirect_url, {}],
  ] as const) {
    const answer = await follow(api, address, { ...headers, cookie })
    assert.deepEqual([answer.status, answer.cookie], [302, null], address)
    assert.equal((await lastClick())?.visitor_key, null, address)
  }
  const willing = await follow(api, `/${auctionId}`, { cookie })
  assert.match(willing.cookie ?? '', /^__Host-souk_visitor=(ab){16}; .*Max-Age=2592000;/)
  assert.notEqual((await lastClick())?.visitor_key, null)
})

test('an altered URL leads to the stored destination, unpaid, with the reason on the click', async () => {
  const auctionId = await market.link(KETTLE)
  const { auction_result } = await runAuction(api, auctionId)
  await think()
  const address = new URL(auction_result.redirect_url)
  address.searchParams.set('url', 'https://evil.example/')
  const { status, location } = await follow(api, address.href)
  assert.deepEqual([status, location], [302, KETTLE])
  const click = await lastClick()
  assert.deepEqual([click?.reason, click?.merchant_cost_micros], [REASON.sealBroken, '0'])
  address.searchParams.set('a', '9007199254740993')
  const nowhere = await follow(api, address.href)
  assert.deepEqual([nowhere.status, nowhere.location], [404, ''])
})

test('over 50 requests a second an address is redirected, unpaid, with the reason on the clicks', async (t) => {
  const busy = await startApi(t, {
    env: { RATE_LIMITS: 'redirect=50:200' },
    now: () => Date.parse('2026-03-02T10:00:00Z'),
  })
  const crowd = await makeMarket(busy)
  await crowd.campaign(crowd.kettles, { bid_micros: micros(600_000) })
  const auctionId = await crowd.link(KETTLE)
  for (let click = 0; click < 203; click++) {
    assert.equal((await follow(busy, `/${auctionId}`)).status, 302)
  }
  await busy.app.untilFolded()
  const row = await busy.db.row<{ limited: string; paid: string }>(sql`
    select count(*) as limited, sum(merchant_cost_micros) as paid from click
    where reason = ${REASON.rateLimited}`)
  assert.deepEqual(row, { limited: '3', paid: '0' })
})

test('HEAD redirects and records nothing', async () => {
  const auctionId = await market.link(KETTLE)
  await api.app.untilFolded()
  const before = await clicks()
  const response = await fetch(`${api.url}/${auctionId}`, { method: 'HEAD', redirect: 'manual' })
  assert.equal(response.status, 302)
  await api.app.untilFolded()
  assert.equal(await clicks(), before)
})

test('a keyless link off the network is guarded in every form of its URL', async () => {
  const answer = await api.call(
    `/api/v1/publishers/${market.account.pubId}/linkmate/smart_links/`,
    {
      body: {
        article: { name: 'a', url: 'https://daily.example/a' },
        links: [{ raw_url: 'https://elsewhere.example/1' }],
      },
    },
  )
  const [link] = answer.entry<{ smart_links: { auction_id: string }[] }>().smart_links
  const auctionId = link?.auction_id ?? ''
  assert.equal((await follow(api, `/${auctionId}`)).status, 200)
  const { auction_result } = await runAuction(api, auctionId)
  assert.equal((await follow(api, auction_result.redirect_url)).status, 200)
  const referer = 'https://daily.example/a'
  assert.equal((await follow(api, auction_result.redirect_url, { referer })).status, 302)
  const broken = auction_result.redirect_url.replace('uuid=', 'uuid=0')
  assert.equal((await follow(api, broken)).status, 200)
})

test('a click that the log accepts late, with the disk full, keeps its part of the budget', async (t) => {
  const full = await startApi(t)
  const shops = await makeMarket(full)
  const { node, config, untilFolded } = full.app
  const id = await shops.campaign(shops.kettles, {
    bid_micros: micros(600_000),
    daily_budget_micros: micros(60_000_000),
  })
  await until(() => node.book.unspentMicros(id, node.now()) > 0)
  const { auction_result } = await runAuction(full, await shops.link(KETTLE, { isExclusive: true }))
  await think()
  // Another node holds the money lane, so the log answers late, and the spool cannot be written.
  const holder = await full.db.reserve()
  await holder.run(sql`select pg_advisory_lock(${0x534c414e}, 0)`)
  const spool = join(config.dataDir, 'spool')
  await rename(spool, `${spool}-away`)
  await writeFile(spool, '')
  assert.match((await follow(full, auction_result.redirect_url)).location, /\?cid=/)
  await rm(spool)
  await rename(`${spool}-away`, spool)
  holder.release(new Error('ends the session, and the lock with it'))
  await until(async () => {
    await untilFolded()
    const row = await full.db.row<{ paid: string }>(sql`
      select coalesce(sum(merchant_cost_micros), 0) as paid from click`)
    return row?.paid === '600000'
  })
  const left = node.book.unspentMicros(id, node.now())
  const lease = await full.db.row<{ granted: string }>(sql`
    select granted_micros as granted from lease where campaign_id = ${id}`)
  assert.ok(left + 600_000 <= Number(lease?.granted), 'what is paid cannot be spent once more')
})

test('a result older than 24 hours gets a new auction on the click', async () => {
  // Otherwise the feed would be too old a day later, and nobody would bid.
  await api.db.run(sql`update merchant set feed_imported_at = now() + interval '2 days'`)
  const importedAt = () => api.app.node.edge.market.merchants.get(market.kettles)?.feed_imported_at
  await until(() => Number(importedAt()) > Date.now())
  const auctionId = await market.link(KETTLE, { isExclusive: true })
  const { auction_result } = await runAuction(api, auctionId)
  const click = async () => {
    const { location } = await follow(api, auction_result.redirect_url)
    assert.match(location, /^https:\/\/kettles\.example\/p\/1\?cid=/)
    return lastClick()
  }
  clockAheadMs += DAY_MS - 10_000
  const old = await click()
  const sealed = Buffer.from(auction_result.id, 'base64url')
  assert.ok(sealed.includes(old?.result_number ?? '', 0), 'until then the sealed result counts')
  clockAheadMs += 11_000
  const fresh = await click()
  assert.notDeepEqual(fresh?.result_number, old?.result_number)
  assert.deepEqual([fresh?.reason, fresh?.merchant_cost_micros], [REASON.ok, '600000'])
})

/** One to three changes at random positions of a query. */
function altered(search: string): string {
  const alphabet = 'ABCXYZabcxyz0189-_%&=./:'
  let text = search
  for (let change = randomInt(1, 4); change > 0; change--) {
    const at = randomInt(1, text.length)
    const letter = alphabet[randomInt(alphabet.length)] ?? 'x'
    const kinds = [
      () => text.slice(0, at) + letter + text.slice(at + 1),
      () => text.slice(0, at) + text.slice(at + 1),
      () => text.slice(0, at) + letter + text.slice(at),
      () => `${text}&url=https%3A%2F%2Fevil.example`,
      () => text.replace(/url=[^&]*/, 'url=https%3A%2F%2Fevil.example'),
    ]
    text = kinds[randomInt(kinds.length)]?.() ?? text
  }
  return text === search ? `${text}x` : text
}

async function earnings(): Promise<string | undefined> {
  await api.app.untilFolded()
  return (
    await api.db.row<{ sum: string }>(
      sql`select coalesce(sum(merchant_cost_micros), 0) as sum from click`,
    )
  )?.sum
}

async function clicks(): Promise<string | undefined> {
  return (await api.db.row<{ n: string }>(sql`select count(*) as n from click`))?.n
}
