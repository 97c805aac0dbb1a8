import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { makeCampaign, makeMerchant } from '../../test/support/catalogue.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents } from '../../test/support/money-events.ts'
import { EVENT_TYPE, MODEL, viewLane } from '../events/event.ts'
import { disableLink } from '../links/store.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import { sql } from '../platform/postgres/sql.ts'

const api = await startApi({ after }, { env: { ROLES: 'api,edge' } })
const { db } = api
const log = openFoldedLog({ after }, db)
const { key, pubId } = await api.account()
const shop = await makeMerchant(db, {
  ...{ name: 'Shop', domain: 'shop.example' },
  offers: [
    { id: 'a', title: 'Kettle', link: 'https://shop.example/a' },
    { id: 'b', title: 'Mug', link: 'https://shop.example/b', availability: 'out of stock' },
  ],
})
await makeMerchant(db, {
  ...{ name: 'Idle', domain: 'idle.example' },
  offers: [{ id: 'c', link: 'https://idle.example/c' }],
})
await api.untilKnown(await makeCampaign(db, shop.merchId))
const create = async (url: string) =>
  (
    await api.call('/api/v1/smart_links/', {
      key,
      body: { url, article_url: 'https://daily.example/tea', article_name: 'Tea' },
    })
  ).entry<{ auction_id: string; smart_link_id: number }>()
const kettle = await create('https://shop.example/a')
const mug = await create('https://shop.example/b')
const idle = await create('https://idle.example/c')
const events = new MoneyEvents()
await log.record(
  events.click('c1', Date.now(), {
    ...{ auctionId: kettle.auction_id, pubId, merchId: shop.merchId, model: MODEL.cpc },
    ...{ termsAmount: 400_000, campaignId: null, leaseId: null, offerId: null },
  }),
)
await log.record(
  ...['a', 'b'].map((session) =>
    events.at(Date.now(), {
      ...{ type: EVENT_TYPE.pageImpression, lane: viewLane(pubId), pubId, consent: 1 },
      ...{ sessionKey: Buffer.from(session.padEnd(16)), url: 'https://daily.example/tea' },
      urlKey: keyOfUrl(new URL('https://daily.example/tea')),
    }),
  ),
)
const base = `/api/v1/publishers/${pubId}`
const links = async (query = '') => {
  const answer = await api.call(`${base}/links/${query}`, { key })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ data: Record<string, unknown>[] }>().data
}
const patch = (id: string | number, body: object, headers = {}) =>
  api.call(`${base}/smart_links/${id}/`, { method: 'PATCH', key, body, headers })

test('each link has its product, its figures and its health', async () => {
  const rows = await links()
  const byId = new Map(rows.map((row) => [row.auction_id, row]))
  const { health, earnings, clicks, product } = byId.get(kettle.auction_id) ?? {}
  assert.deepEqual([health, clicks], ['earning', 1])
  assert.ok(Number(earnings) > 0)
  assert.equal((product as { name: string }).name, 'Kettle')
  assert.equal(byId.get(mug.auction_id)?.health, 'out_of_stock')
  assert.equal(byId.get(idle.auction_id)?.health, 'no_bid')
  assert.equal(rows[0]?.auction_id, kettle.auction_id, 'the link that earned comes first')
})

test('an article has the figures of its links', async () => {
  const answer = await api.call(`${base}/articles/`, { key })
  const { name, links: count, clicks } = answer.entry()
  assert.deepEqual([name, count, clicks], ['Tea', 3, 1])
})

test('a changed link leads readers to its new URL', async () => {
  const url = 'https://shop.example/new'
  const answer = await patch(mug.smart_link_id, { url, exclusive_match_requested: true })
  assert.equal(answer.status, 200, answer.text)
  const { url: stored, exclusive_match_requested } = answer.entry()
  assert.deepEqual([stored, exclusive_match_requested], [url, true])
  const entry = await db.row<{ before: { url: string } }>(sql`
    select before from audit_entry where action = 'smart_link.update' order by audit_id desc`)
  assert.equal(entry?.before.url, 'https://shop.example/b')
})

test('a disabled link still leads its readers to its URL, and can be enabled', async () => {
  const answer = await patch(idle.auction_id, { state: 'disabled' })
  assert.deepEqual([answer.entry().state, answer.entry().disabled_by], ['disabled', 'publisher'])
  const click = await fetch(`${api.url}/${idle.auction_id}`, {
    redirect: 'manual',
    headers: { host: 'go.souk.example', 'user-agent': 'Mozilla/5.0' },
  })
  assert.equal(click.status, 302)
  assert.match(click.headers.get('location') ?? '', /^https:\/\/idle\.example\/c/)
  assert.equal((await patch(idle.auction_id, { state: 'active' })).entry().state, 'active')
})

test('the publisher cannot enable what the operator disabled', async () => {
  await disableLink(db, idle.auction_id)
  const answer = await patch(idle.auction_id, { state: 'active' })
  assert.deepEqual([answer.status, answer.failure().code], [409, 4091])
})

test('a change of a link that was changed meanwhile is refused', async () => {
  const path = `${base}/smart_links/${kettle.auction_id}/`
  const etag = String((await api.call(path, { key })).headers.get('etag'))
  const headers = { 'if-match': etag }
  assert.equal(
    (await patch(kettle.auction_id, { exclusive_match_requested: true }, headers)).status,
    200,
  )
  assert.equal((await patch(kettle.auction_id, { state: 'disabled' }, headers)).status, 412)
})

test('wrong values name their field; links of others are not found', async () => {
  const wrong = { url: 'x', exclusive_match_requested: 'yes', state: 'gone' }
  for (const [field, value] of Object.entries(wrong)) {
    const answer = await patch(kettle.auction_id, { [field]: value })
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.failure().fields, [field])
  }
  const other = await api.account()
  const answer = await api.call(
    `/api/v1/publishers/${other.pubId}/smart_links/${kettle.auction_id}/`,
    {
      ...{ method: 'PATCH', key: other.key, body: { state: 'disabled' } },
    },
  )
  assert.equal(answer.status, 404)
  assert.equal((await api.call(`${base}/links/?health=ill`, { key })).status, 400)
})

test('the link finder says which links of a text can earn, and creates them', async () => {
  const html =
    '<a href="https://shop.example/a">kettle</a> <a href="https://idle.example/c">c</a>' +
    '<a href="https://nobody.example/">n</a> <a href="https://daily.example/own">own</a>'
  const article = { url: 'https://daily.example/new', name: 'New' }
  const find = (body: object, query = '') =>
    api.call(`${base}/link_finder/${query}`, { key, body: { article, ...body } })
  interface Found {
    readonly url: string
    readonly can_earn: boolean
    readonly best_effort_cpc: number
    readonly smart_link: { readonly auction_id: string } | null
  }
  const found = (await find({ html })).json<{ data: Found[] }>().data
  assert.deepEqual(
    found.map(({ url, can_earn, best_effort_cpc, smart_link }) => {
      return [url, can_earn, best_effort_cpc > 0, smart_link]
    }),
    [
      ['https://shop.example/a', true, true, null],
      ['https://idle.example/c', false, false, null],
      ['https://nobody.example/', false, false, null],
    ],
  )
  const text = 'See https://shop.example/a.'
  const [made] = (await find({ text, create: true })).json<{ data: Found[] }>().data
  const [again] = (await find({ urls: ['https://shop.example/a'] }, '?create=true')).json<{
    data: Found[]
  }>().data
  assert.ok(made?.smart_link)
  assert.deepEqual(again?.smart_link, made.smart_link)
  for (const body of [{}, { text, html }, { urls: ['x'.repeat(2049)] }, { text: 1 }]) {
    assert.equal((await find(body)).status, 400)
  }
})

test('the status of the tag has its hosts, consent, and links that nobody pays for', async () => {
  const status = (await api.call(`${base}/tag_status/`, { key })).entry<{
    readonly datetime_last_page_view: string
    readonly datetime_updated: string
    readonly hosts: readonly { readonly host: string; readonly page_views: number }[]
    readonly consent: readonly { readonly consent: string; readonly page_views: number }[]
    readonly links_not_monetised: readonly { readonly host: string; readonly reason: string }[]
  }>()
  assert.equal(status.datetime_updated, status.datetime_last_page_view)
  assert.deepEqual(
    status.hosts.map(({ host, page_views }) => [host, page_views]),
    [['daily.example', 2]],
  )
  assert.deepEqual(
    status.consent.map(({ consent, page_views }) => [consent, page_views]),
    [['full', 2]],
  )
  assert.ok(status.links_not_monetised.every(({ host }) => host !== 'daily.example'))
})
