/** Events from publishers' pages: docs/spec/interface.md#events. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { PUBLISHER_DEFAULTS } from '../../src/accounts/publisher.ts'
import { insertPublisher } from '../../src/accounts/publisher-store.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { startApi } from '../support/api.ts'
import { browser, KETTLE, makeMarket, statsOf, until } from '../support/market.ts'

const api = await startApi({ after })
const market = await makeMarket(api)
const { pubId } = market.account
const PAGE = '/api/v1/events/impressions/page_impression/'
const LINK = '/api/v1/events/impressions/service_link_impression/'

const batch = (events: unknown[], user: Record<string, unknown> = {}) => ({
  organization_type: 'publisher',
  organization_id: pubId,
  user: {
    page_session_uuid: crypto.randomUUID(),
    source_url: 'https://daily.example/kettles?utm_source=x',
    ...user,
  },
  events,
})
const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  api.call(path, { method: 'POST', body, headers: { ...browser, ...headers } })
const impressionsOf = async (article: string) =>
  (await statsOf(api, market)).find((row) => row.article_name === article)?.impressions ?? 0
const kept = async (auctionId: string) => {
  await api.app.untilFolded()
  const row = await api.db.row<{ n: string }>(sql`
    select coalesce(sum(impressions), 0) as n from link_day where auction_id = ${auctionId}`)
  return Number(row?.n)
}

test('a page impression gets 201 with an empty body and counts once per session', async () => {
  await market.link(KETTLE, { article: 'kettles' })
  const body = batch([{}])
  const answer = await send(PAGE, body)
  assert.deepEqual([answer.status, answer.text], [201, ''])
  assert.equal(answer.headers.get('content-length'), '0')
  const uuid = body.user.page_session_uuid.toUpperCase()
  const upper = { ...body, user: { ...body.user, page_session_uuid: uuid } }
  await Promise.all([send(PAGE, body), send(PAGE, upper), send(PAGE, batch([{ is_amp: true }]))])
  assert.equal(await impressionsOf('kettles'), 2)
})

test('a page impression may carry extra fields, even a malformed auction_id', async () => {
  await market.link(KETTLE, { article: 'extras' })
  const odd = [{ a: 1 }, [], true, 'x', '', '9'.repeat(30), 5, null, '1']
  for (const auction_id of odd) {
    const body = batch([{ auction_id }], { source_url: 'https://daily.example/extras' })
    assert.equal((await send(PAGE, body)).status, 201, JSON.stringify(auction_id))
  }
  assert.equal(await impressionsOf('extras'), odd.length)
})

test('impressions before the article exists count once it is created that day', async () => {
  await send(PAGE, batch([{}], { source_url: 'https://www.daily.example/later/?fbclid=1#top' }))
  assert.equal(await impressionsOf('later'), 0)
  await market.link(KETTLE, { article: 'later' })
  assert.equal(await impressionsOf('later'), 1)
})

test('counts a page impression of an AMP copy for its article, and stores an app by its name', async () => {
  await market.link(KETTLE, { article: 'copied' })
  const source_url =
    'https://daily-example.cdn.ampproject.org/c/s/daily.example/copied?amp_js_v=0.1&usqp=x'
  await send(PAGE, batch([{}], { source_url, previous_url: 'android-app://com.reader.app/x' }))
  await send(PAGE, batch([{}], { source_url: 'https://daily.example/copied?amp=1' }))
  assert.equal(await impressionsOf('copied'), 2)
  const row = await api.db.row(sql`select url from event where referrer = 'com.reader.app'`)
  assert.deepEqual(row, { url: 'https://daily.example/copied' })
})

test("a robot's impression is stored, not counted, and takes no reader's place", async () => {
  await market.link(KETTLE, { article: 'robots' })
  const body = batch([{}], { source_url: 'https://daily.example/robots' })
  assert.equal((await send(PAGE, body, { 'user-agent': 'Googlebot/2.1' })).status, 201)
  assert.equal(await impressionsOf('robots'), 0)
  // A cached page may send one session for all its readers.
  for (let reader = 0; reader < 2; reader += 1) await send(PAGE, body)
  assert.equal(await impressionsOf('robots'), 1)
})

test('link impressions count once per listed occurrence, under every brand word', async () => {
  const auctionId = await market.link()
  const entry = { auction_id: auctionId }
  for (const word of ['service', 'souk', 'nrtv', 'bamx', 'bam', 'howl']) {
    const path = `/api/v1/events/impressions/${word}_link_impression/`
    assert.equal((await send(path, batch([entry, entry]))).status, 201, word)
  }
  assert.equal(await kept(auctionId), 12)
  const viewable = '/api/v1/events/impressions/service_link_viewable_impression'
  assert.equal((await send(viewable, batch([entry]))).status, 201)
  assert.equal(await kept(auctionId), 12)
})

test('a stale or foreign link does not fail the call and counts nowhere', async () => {
  const auctionId = await market.link()
  const other = await api.account({})
  const foreign = await api.call('/api/v1/smart_links/', {
    key: other.key,
    body: { article_name: 'x', article_url: 'https://other.example/x' },
  })
  const foreignId = foreign.entry<{ auction_id: string }>().auction_id
  const unknown = '9007199254740993'
  const ids = [auctionId, unknown, foreignId]
  const sendAll = () => send(LINK, batch(ids.map((auction_id) => ({ auction_id }))))
  assert.equal((await sendAll()).status, 201)
  assert.deepEqual(await Promise.all(ids.map(kept)), [1, 0, 0])
  // The reason is stored if the link was looked up in time; a busy machine may need several calls.
  const reasonsOf = async (id: string) => {
    const rows = await api.db.rows<{ reason: number }>(sql`
      select distinct reason from event where type = 2 and auction_id = ${id} and reason <> 0`)
    return rows.map(({ reason }) => reason)
  }
  for (const [auctionId, reason] of [[unknown, 9] as const, [foreignId, 10] as const]) {
    await until(async () => (await reasonsOf(auctionId)).length > 0 || !(await sendAll()))
    assert.deepEqual(await reasonsOf(auctionId), [reason])
  }
  assert.deepEqual([await kept(unknown), await kept(foreignId)], [0, 0])
})

test('beacons send text/plain and get the same answer, from any origin', async () => {
  const origin = 'https://daily.example'
  const answer = await send(PAGE, batch([{}]), {
    'content-type': 'text/plain;charset=UTF-8',
    origin,
  })
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('access-control-allow-origin'), origin)
  assert.equal(answer.headers.get('access-control-allow-credentials'), 'true')
})

test('a call has 1 to 100 events', async () => {
  const entry = { auction_id: await market.link() }
  assert.equal((await send(LINK, batch(Array(100).fill(entry)))).status, 201)
  for (const events of [[], Array(101).fill(entry)]) {
    const answer = await send(LINK, batch(events))
    assert.deepEqual([answer.status, answer.failure().fields], [400, ['events']])
  }
})

test('a malformed entry refuses the whole call and is named', async () => {
  const good = { auction_id: await market.link() }
  for (const bad of [
    {},
    { auction_id: 12 },
    { auction_id: 'x' },
    { auction_id: '' },
    { auction_id: '9223372036854775808' },
    { auction_id: '-1' },
    null,
    [],
  ]) {
    const answer = await send(LINK, batch([good, bad]))
    assert.equal(answer.status, 400, JSON.stringify(bad))
    assert.match(answer.failure().fields[0] ?? '', /^events\[1\]/, JSON.stringify(bad))
  }
  assert.equal(await kept(good.auction_id), 0)
})

test('every wrong field is 400 and named, unknown fields and an empty Referer are accepted', async () => {
  const wrong: [string, Record<string, unknown>][] = [
    ['organization_type', { organization_type: 'merchant' }],
    ['organization_id', { organization_id: '1' }],
    ['organization_id', { organization_id: 1.5 }],
    ['user', { user: 'me' }],
    ['user.page_session_uuid', { user: { source_url: 'https://daily.example/' } }],
    ['user.page_session_uuid', batch([{}], { page_session_uuid: 'not-a-uuid' })],
    ['user.source_url', batch([{}], { source_url: 'daily.example' })],
    ['user.source_url', batch([{}], { source_url: undefined })],
    ['user.previous_url', batch([{}], { previous_url: 7 })],
    ['events', { events: {} }],
  ]
  for (const [field, changes] of wrong) {
    const answer = await send(PAGE, { ...batch([{}]), ...changes })
    assert.equal(answer.status, 400, field)
    assert.ok(answer.failure().fields.includes(field), `${field}: ${answer.text}`)
  }
  const several = { ...batch([{}], { source_url: 'daily.example' }), organization_id: '1' }
  assert.deepEqual((await send(PAGE, several)).failure().fields, [
    'organization_id',
    'user.source_url',
  ])
  for (const [field, user] of [
    ['user', 'me'],
    ['user.source_url', { ...batch([{}]).user, source_url: '' }],
  ] as const) {
    assert.deepEqual((await send(PAGE, { ...batch([{}]), user })).failure().fields, [field])
  }
  assert.deepEqual((await send(PAGE, null)).failure().fields, ['body'])
  const fine = { ...batch([{}], { previous_url: '', more: 1 }), extra: { deep: [1] } }
  assert.equal((await send(PAGE, fine)).status, 201)
})

test('events of a publisher are accepted from the moment it exists', async () => {
  const settings = {
    ...PUBLISHER_DEFAULTS,
    uid: market.account.uid,
    name: 'New',
    slug: 'brand-new',
  }
  const { pub_id: made } = await insertPublisher(api.db, settings)
  const body = { ...batch([{}]), organization_id: made }
  assert.equal((await send(PAGE, body)).status, 201)
})

test('unknown categories, types and organizations are 404', async () => {
  for (const path of [
    '/api/v1/events/impressions/nonsense/',
    '/api/v1/events/clicks/page_impression/',
    '/api/v1/events/impressions/',
    '/api/v1/events/impressions/other_link_impression/',
  ]) {
    assert.equal((await send(path, batch([{}]))).failure().code, 4040, path)
  }
  // The calling page may read the error.
  const origin = 'https://daily.example'
  for (const path of [
    '/api/v1/events/impressions/nonsense/',
    '/api/v1/events/clicks/page_impression/',
  ]) {
    const { headers } = await send(path, batch([{}]), { origin })
    assert.equal(headers.get('access-control-allow-origin'), origin, path)
  }
  for (const organization_id of [2_000_000_000, 2_147_483_648, 0, -1, 1e30]) {
    const answer = await send(PAGE, { ...batch([{}]), organization_id })
    assert.equal(answer.failure().code, 4040, String(organization_id))
  }
})

test('invalid JSON, another type, a large body and a wrong method are refused as documented', async () => {
  assert.equal((await send(PAGE, '{"a":')).failure().code, 4000)
  assert.equal((await send(PAGE, '')).failure().code, 4000)
  assert.equal((await send(PAGE, 'null')).failure().code, 4000)
  assert.equal((await send(PAGE, '{}', { 'content-type': 'text/html' })).failure().code, 4150)
  assert.equal((await send(PAGE, `{"x":"${'a'.repeat(1_048_576)}"}`)).failure().code, 4130)
  const answer = await api.call(PAGE)
  assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST, OPTIONS'])
  const nul = JSON.stringify(batch([{}], { source_url: 'https://daily.example/\0' }))
  assert.equal((await send(PAGE, nul)).failure().code, 4000)
})

test('the log contains no address, session or visitor id, only keyed hashes', async () => {
  const body = batch([{}], { previous_url: 'https://search.example/q?mail=pat%40x.example' })
  await send(PAGE, body)
  await api.app.untilFolded()
  const rows = await api.db.rows<{ text: string }>(sql`select event::text as text from event`)
  const all = rows.map(({ text }) => text).join('\n')
  assert.ok(!all.includes(body.user.page_session_uuid))
  assert.ok(!all.includes('mail='))
  assert.ok(!all.includes('127.0.0.1'))
  assert.ok(!all.includes('utm_source'))
})
