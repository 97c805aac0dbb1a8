/** Decisions on clicks that a setting of the operator, the publisher or the merchant decides. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { updatePublisher } from '../../src/accounts/publisher-store.ts'
import { updateMerchant } from '../../src/catalog/merchant-store.ts'
import { REASON } from '../../src/events/reason.ts'
import { disableLink } from '../../src/links/store.ts'
import { micros } from '../../src/platform/money.ts'
import { sql } from '../../src/platform/sql.ts'
import { startApi } from '../api.ts'
import { follow, KETTLE, makeMarket, runAuction, SLUG, until } from '../market.ts'

const folder = await mkdtemp(join(tmpdir(), 'souk-clicks-'))
after(() => rm(folder, { recursive: true, force: true }))
const blocklist = join(folder, 'blocked')
await writeFile(blocklist, '198.51.100.0/24 # a click farm\n\n2001:db8:bad::/48\n')

let clockAheadMs = 0
const api = await startApi(
  { after },
  {
    env: { IP_BLOCKLIST: blocklist, TRUSTED_PROXIES: '127.0.0.0/8', GEO_HEADER: 'X-Country' },
    now: () => Date.now() + clockAheadMs,
  },
)
const market = await makeMarket(api)
const { edge } = api.app.node
await market.campaign(market.kettles, { bid_micros: micros(600_000) })

const lastClick = async () => {
  await api.app.settled()
  const row = await api.db.row<{ reason: number; paid_micros: string; country: string | null }>(sql`
    select click.reason, paid_micros, event.country
    from click join event on event.id = click.event_id order by event.seq desc limit 1`)
  return { ...row, isPaid: row?.paid_micros !== '0' }
}
const locationOf = async (address: string, headers: Record<string, string> = {}) => {
  const answer = await follow(api, address, headers)
  assert.equal(answer.status, 302)
  return answer.location
}

test('clicks from addresses on the operator’s list are redirected and unpaid', async () => {
  const auctionId = await market.link()
  for (const [address, isBlocked] of [
    ['198.51.100.7', true],
    ['2001:db8:bad:1::5', true],
    ['198.51.101.7', false],
    ['2001:db8:bac::5', false],
  ] as const) {
    await locationOf(`/${auctionId}`, { 'x-forwarded-for': address })
    const { reason, isPaid } = await lastClick()
    const wanted = [isBlocked ? REASON.blockedAddress : REASON.ok, !isBlocked]
    assert.deepEqual([reason, isPaid], wanted, address)
  }
})

test('a campaign with countries bids for readers who are known to be there', async () => {
  await market.campaign(market.pans, { bid_micros: micros(5_000_000), countries: ['GB'] })
  const auctionId = await market.link()
  const winner = async (headers: Record<string, string>) => {
    const { auction_result } = await runAuction(api, auctionId, { headers })
    return auction_result.product?.merchant.name
  }
  assert.equal(await winner({ 'x-country': 'GB' }), 'Pans')
  assert.equal(await winner({ 'x-country': 'gb' }), 'Pans')
  assert.equal(await winner({ 'x-country': 'FR' }), 'Kettles')
  assert.equal(await winner({ 'x-country': 'nonsense' }), 'Kettles')
  assert.equal(await winner({}), 'Kettles')
  await locationOf(`/${auctionId}`, { 'x-country': 'FR' })
  assert.equal((await lastClick()).country, 'FR')
})

test('a merchant gets the click id in its own parameter, or in its network’s address', async () => {
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

test('a disabled link leads to its own address, unpaid, and the click says why', async () => {
  const auctionId = await market.link()
  assert.match(await locationOf(`/${auctionId}`), /\?cid=/)
  await disableLink(api.db, auctionId)
  await until(async () => (await locationOf(`/${auctionId}`)) === KETTLE)
  const { reason, isPaid } = await lastClick()
  assert.deepEqual([reason, isPaid], [REASON.disabledLink, false])
})

test('a visitor’s sixth billable click of an hour for a campaign is unpaid', async () => {
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

test('a host that the publisher allows is forwarded to at once', async () => {
  const target = 'https://charity.example/give'
  const address = `/link/?url=${encodeURIComponent(target)}&publisher_slug=${SLUG}`
  assert.equal((await follow(api, address)).status, 200)
  const { pubId } = market.account
  await updatePublisher(api.db, { pubId, changes: { allow_hosts: ['charity.example'] } })
  await until(async () => (await follow(api, address)).status === 302)
  assert.equal(await locationOf(address), target)
})

test('without a word on consent the publisher’s default holds; the reader’s signals always win', async () => {
  const auctionId = await market.link()
  const uid = async (query: string, headers: Record<string, string> = {}) => {
    const { auction_result } = await runAuction(api, auctionId, { query, headers })
    return new URL(auction_result.redirect_url).searchParams.get('uid_service')
  }
  assert.notEqual(await uid(''), '0')
  const { pubId } = market.account
  await updatePublisher(api.db, { pubId, changes: { consent_default: 'contextual' } })
  await until(() => edge.market.publishers.get(pubId)?.consent_default === 'contextual')
  assert.equal(await uid(''), '0')
  assert.equal(await uid('&consent=unknown'), '0')
  assert.notEqual(await uid('&consent=full'), '0')
  assert.equal(await uid('&consent=full', { 'sec-gpc': '1' }), '0')
  assert.equal((await follow(api, `/${auctionId}`)).cookie, null)
})
