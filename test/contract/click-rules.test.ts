/** Rules for clicks that depend on a setting or a count: docs/spec/clicks.md. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { updatePublisher } from '../../src/accounts/publisher-store.ts'
import { updateMerchant } from '../../src/catalog/merchant-store.ts'
import { CONSENT } from '../../src/events/consent.ts'
import { REASON } from '../../src/events/reason.ts'
import { disableLink } from '../../src/links/store.ts'
import { micros } from '../../src/platform/money/money.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { startApi } from '../support/api.ts'
import { follow, KETTLE, makeMarket, runAuction, SLUG, until } from '../support/market.ts'

let clockAheadMs = 0
const api = await startApi({ after }, { now: () => Date.now() + clockAheadMs })
const market = await makeMarket(api)
const { edge } = api.app.node
await market.campaign(market.kettles, { bid_micros: micros(600_000) })

const lastClick = async () => {
  await api.app.untilFolded()
  const row = await api.db.row<{
    reason: number
    merchant_cost_micros: string
    reserved_micros: string | null
  }>(sql`
    select click.reason, merchant_cost_micros, event.reserved_micros
    from click join event on event.id = click.event_id order by event.seq desc limit 1`)
  return { ...row, isPaid: row?.merchant_cost_micros !== '0' }
}
/** The facts about the reader of the last click. */
const lastReader = async () => {
  await api.app.untilFolded()
  const row = await api.db.row<{ consent: number; visitor_key: Buffer | null }>(sql`
    select event.consent, event.visitor_key
    from click join event on event.id = click.event_id order by event.seq desc limit 1`)
  return { consent: row?.consent, isKnown: row?.visitor_key != null }
}
const setConsentDefault = async (consent: 'full' | 'contextual') => {
  const { pubId } = market.account
  await updatePublisher(api.db, { pubId, changes: { consent_default: consent } })
  await until(() => edge.market.publishers.get(pubId)?.consent_default === consent)
}
const locationOf = async (address: string, headers: Record<string, string> = {}) => {
  const answer = await follow(api, address, headers)
  assert.equal(answer.status, 302)
  return answer.location
}

test("a merchant gets the click id in its own parameter, or in its network's URL", async () => {
  const auctionId = await market.link()
  const change = async (changes: { click_param?: string; deep_link?: string | null }) => {
    await updateMerchant(api.db, { merchId: market.kettles, changes })
    await until(() => {
      const merchant = edge.market.merchants.get(market.kettles)
      return Object.entries(changes).every(([name, value]) => merchant?.[name as 'name'] === value)
    })
  }
  await change({ click_param: 'sub1' })
  assert.match(
    await locationOf(`/${auctionId}`),
    /^https:\/\/kettles\.example\/p\/1\?sub1=[0-9a-f]{32}$/,
  )
  await change({ deep_link: 'https://net.example/c?u={url_encoded}&sub={cid}' })
  assert.match(
    await locationOf(`/${auctionId}`),
    /^https:\/\/net\.example\/c\?u=https%3A%2F%2Fkettles\.example%2Fp%2F1&sub=[0-9a-f]{32}$/,
  )
  await change({ click_param: 'cid', deep_link: null })
})

test('a disabled link leads to its own URL, unpaid, with the reason on the click', async () => {
  const auctionId = await market.link()
  assert.match(await locationOf(`/${auctionId}`), /\?cid=/)
  await disableLink(api.db, auctionId)
  await until(async () => (await locationOf(`/${auctionId}`)) === KETTLE)
  const { reason, isPaid } = await lastClick()
  assert.deepEqual([reason, isPaid], [REASON.disabledLink, false])
})

test('results of a disabled link, also earlier ones on open pages, redirect and are not paid', async () => {
  const auctionId = await market.link()
  const before = await runAuction(api, auctionId)
  await disableLink(api.db, auctionId)
  await until(() => edge.market.disabledLinks.has(auctionId))
  const since = await runAuction(api, auctionId)
  clockAheadMs += 1_000
  for (const [{ auction_result }, leadsTo] of [
    [before, /^https:\/\/kettles\.example\/p\/1\?cid=/],
    [since, /^https:\/\/kettles\.example\/p\/1$/],
  ] as const) {
    assert.match(await locationOf(auction_result.redirect_url), leadsTo)
    const { reason, isPaid, reserved_micros } = await lastClick()
    assert.deepEqual([reason, isPaid, reserved_micros], [REASON.disabledLink, false, null])
  }
})

test('a disabled link is disabled behind a wrapper URL that this node has not seen yet', async () => {
  const address = (more: string) =>
    `/link/?url=${encodeURIComponent(KETTLE)}&publisher_slug=${SLUG}&article_name=${more}`
  assert.match(await locationOf(address('Mail')), /\?cid=/)
  const row = await api.db.row<{ auction_id: string }>(sql`
    select auction_id from smart_link where source = 'wrapper'`)
  await disableLink(api.db, row?.auction_id ?? '')
  await until(async () => (await locationOf(address('Mail'))) === KETTLE)
  // Another spelling of the same article URL: the link is looked up again.
  const article = await api.db.row<{ url: string }>(sql`
    select article.url from article join smart_link using (article_id) where source = 'wrapper'`)
  const again = `${address('Other')}&article_url=${encodeURIComponent(article?.url ?? '')}`
  assert.equal(await locationOf(again), KETTLE)
  const { reason, isPaid } = await lastClick()
  assert.deepEqual([reason, isPaid], [REASON.disabledLink, false])
})

test("a visitor's sixth billable click of an hour for a campaign is unpaid", async () => {
  const cookie = `__Host-souk_visitor=${'5f'.repeat(16)}`
  const click = async () => {
    await locationOf(`/${await market.link()}`, { cookie })
    return (await lastClick()).reason
  }
  for (let time = 0; time < 5; time++) assert.equal(await click(), REASON.ok, `click ${time + 1}`)
  assert.equal(await click(), REASON.visitorLimit)
  clockAheadMs += 3_600_000
  assert.equal(await click(), REASON.ok)
})

test('a click that was unpaid at first is paid once a reader follows it, and only once', async () => {
  const auctionId = await market.link()
  for (const [headers, reason] of [
    [{ 'user-agent': 'Googlebot/2.1' }, REASON.robot],
    [{ 'sec-purpose': 'prefetch' }, REASON.prefetch],
    [{}, REASON.tooFast],
  ] as const) {
    const { auction_result } = await runAuction(api, auctionId)
    const follows = async (more: Record<string, string> = {}) => {
      await locationOf(auction_result.redirect_url, more)
      return (await lastClick()).reason
    }
    // Below 300 ms also on a busy machine; more than five seconds would be a clock jump.
    clockAheadMs -= 4_900
    assert.equal(await follows(headers), reason)
    clockAheadMs += 5_300
    assert.equal(await follows(), REASON.ok, `after reason ${reason}`)
    assert.equal(await follows(), REASON.duplicateResult)
  }
})

test('a host that the publisher allows is redirected to at once', async () => {
  const target = 'https://charity.example/give'
  const address = `/link/?url=${encodeURIComponent(target)}&publisher_slug=${SLUG}`
  assert.equal((await follow(api, address)).status, 200)
  const { pubId } = market.account
  await updatePublisher(api.db, { pubId, changes: { allow_hosts: ['charity.example'] } })
  await until(async () => (await follow(api, address)).status === 302)
  assert.equal(await locationOf(address), target)
})

test("without a consent signal the publisher's default applies, and the reader's signals always win", async () => {
  const auctionId = await market.link()
  const uid = async (query: string, headers: Record<string, string> = {}) => {
    const { auction_result } = await runAuction(api, auctionId, { query, headers })
    return new URL(auction_result.redirect_url).searchParams.get('uid_service')
  }
  assert.notEqual(await uid(''), '0')
  await setConsentDefault('contextual')
  assert.equal(await uid(''), '0')
  assert.equal(await uid('&consent=unknown'), '0')
  assert.notEqual(await uid('&consent=full'), '0')
  assert.equal(await uid('&consent=full', { 'sec-gpc': '1' }), '0')
  assert.equal((await follow(api, `/${auctionId}`)).cookie, null)
})

test('consent given on the page holds at its click, whatever the default, and a signal still wins', async () => {
  await setConsentDefault('contextual')
  const auctionId = await market.link()
  const cookie = `__Host-souk_visitor=${'c5'.repeat(16)}`
  const { auction_result } = await runAuction(api, auctionId, { query: '&consent=full' })
  clockAheadMs += 1_000
  for (const signal of [{ 'sec-gpc': '1' }, { dnt: '1' }]) {
    const answer = await follow(api, auction_result.redirect_url, { ...signal, cookie })
    assert.deepEqual([answer.status, answer.cookie], [302, null])
    assert.deepEqual(await lastReader(), { consent: CONSENT.contextual, isKnown: false })
  }
  const willing = await follow(api, auction_result.redirect_url, { cookie })
  assert.match(willing.cookie ?? '', /^__Host-souk_visitor=(c5){16};/)
  assert.deepEqual(await lastReader(), { consent: CONSENT.full, isKnown: true })
})

test('a refusal holds as long as its result, even past the 24 hours of its auction', async () => {
  await setConsentDefault('full')
  const cookie = `__Host-souk_visitor=${'d6'.repeat(16)}`
  const { auction_result } = await runAuction(api, await market.link(), {
    query: '&consent=contextual',
  })
  clockAheadMs += 25 * 3_600_000
  const answer = await follow(api, auction_result.redirect_url, { cookie })
  assert.deepEqual([answer.status, answer.cookie], [302, null])
  assert.deepEqual(await lastReader(), { consent: CONSENT.contextual, isKnown: false })
})

test('the reader cookie is as secure as the URL that sets it', async (t) => {
  const env = { LINK_URL: 'http://go.souk.example', AUCTION_URL: 'https://auction.souk.example' }
  const mixed = await startApi(t, { env })
  const { link } = await makeMarket(mixed)
  const auctionId = await link()
  const { auction_result } = await runAuction(mixed, auctionId)
  const sealed = await follow(mixed, auction_result.redirect_url)
  assert.match(sealed.cookie ?? '', /^__Host-souk_visitor=.*; Secure$/)
  const smart = await follow(mixed, `/${auctionId}`)
  assert.match(smart.cookie ?? '', /^souk_visitor=.*; SameSite=Lax$/)
})

test('an altered URL sets no cookie, because its consent cannot be read', async () => {
  await setConsentDefault('full')
  const auctionId = await market.link(KETTLE)
  const { auction_result } = await runAuction(api, auctionId, { query: '&consent=contextual' })
  const { status, cookie } = await follow(
    api,
    auction_result.redirect_url.replace('uuid=', 'uuid=0'),
  )
  assert.deepEqual([status, cookie], [302, null])
  assert.equal((await lastClick()).reason, REASON.sealBroken)
  assert.deepEqual(await lastReader(), { consent: CONSENT.contextual, isKnown: false })
})
