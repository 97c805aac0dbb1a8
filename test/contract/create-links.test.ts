/** Creating smart links: docs/spec/interface.md#create-smart-links. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { urlKey } from '../../src/platform/net/url.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { type Answer, AUCTION_URL, LINK_URL, startApi } from '../support/api.ts'
import { whileWritten } from '../support/database.ts'

const PATH = '/api/v1/smart_links/'
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const ARTICLE = { article_name: 'Best kettles', article_url: 'https://daily.example/kettles' }
const BODY = { ...ARTICLE, url: 'https://shop.example/kettle?color=red' }

interface SmartLink {
  readonly auction_id: string
  readonly smart_link_id: number
  readonly smart_link_url: string
  readonly encoded_auction_id: string
  readonly short_link_url: string
  readonly url: string
  readonly pub_id: number
  readonly exclusive_match_requested: boolean
  readonly article: Readonly<Record<string, string | number>>
}

const api = await startApi({ after })
const ann = await api.account({ domains: ['daily.example'] })
const create = (body: unknown, headers: Record<string, string> = {}, key = ann.key) =>
  api.call(PATH, { method: 'POST', key, body, headers })

test('a created smart link has every field of its record and its article', async () => {
  const answer = await create({ ...BODY, article_publication_date: '2026-03-01T08:00:00+02:00' })
  assert.equal(answer.status, 201)
  assert.deepEqual(answer.json<{ info: unknown }>().info, { error: false, status: 201 })
  assert.equal(answer.json<{ data: unknown[] }>().data.length, 1)
  const { article, ...link } = answer.entry<SmartLink & { datetime_created: string }>()
  assert.match(link.auction_id, /^\d{16,19}$/)
  assert.ok(BigInt(link.auction_id) > 2n ** 53n && BigInt(link.auction_id) < 2n ** 63n)
  assert.match(link.datetime_created, TIMESTAMP)
  assert.ok(Number.isSafeInteger(link.smart_link_id))
  assert.deepEqual(link, {
    smart_link_id: link.smart_link_id,
    auction_id: link.auction_id,
    smart_link_url: `${LINK_URL}/${link.auction_id}`,
    uid_created: ann.uid,
    datetime_created: link.datetime_created,
    pub_id: ann.pubId,
    url: BODY.url,
    exclusive_match_requested: false,
    encoded_auction_id: link.encoded_auction_id,
    short_link_url: `${LINK_URL}/${link.encoded_auction_id}`,
  })
  assert.match(link.encoded_auction_id, /^[1-9A-Za-z][0-9A-Za-z]{8,10}$/)
  assert.deepEqual(article, {
    article_id: article.article_id,
    uid: ann.uid,
    pub_id: ann.pubId,
    url: ARTICLE.article_url,
    publication_date: '2026-03-01T06:00:00Z',
    datetime_created: article.datetime_created,
    datetime_updated: article.datetime_updated,
    name: ARTICLE.article_name,
  })
  assert.ok(Number.isSafeInteger(article.article_id))
  assert.match(String(article.datetime_created), TIMESTAMP)
  assert.match(String(article.datetime_updated), TIMESTAMP)
})

test('the URL is optional, and the lock is off by default', async () => {
  const { url, exclusive_match_requested } = (await create(ARTICLE)).entry<SmartLink>()
  assert.deepEqual(
    { url, exclusive_match_requested },
    { url: '', exclusive_match_requested: false },
  )
  const locked = await create({ ...BODY, exclusive_match_requested: true })
  assert.equal(locked.entry<SmartLink>().exclusive_match_requested, true)
})

test('a missing field is returned in its type', async () => {
  const article_url = 'https://daily.example/undated'
  const { url, article } = (await create({ ...ARTICLE, article_url })).entry<SmartLink>()
  assert.equal(url, '')
  assert.equal(article.publication_date, article.datetime_created)
})

test('the same request again creates a new smart link in the same article', async () => {
  const [one, two] = [
    (await create(BODY)).entry<SmartLink>(),
    (await create(BODY)).entry<SmartLink>(),
  ]
  assert.notEqual(one.auction_id, two.auction_id)
  assert.notEqual(one.smart_link_id, two.smart_link_id)
  assert.equal(one.article.article_id, two.article.article_id)
})

test('an article is found by its canonical URL and takes a new name', async () => {
  const first = (await create(BODY)).entry<SmartLink>().article
  const again = await create({
    article_name: 'Best kettles of 2026',
    article_url: 'http://www.daily.example/kettles/?utm_source=mail#top',
  })
  const { article } = again.entry<SmartLink>()
  assert.equal(article.article_id, first.article_id)
  assert.equal(article.name, 'Best kettles of 2026')
  assert.equal(article.url, first.url)
  assert.equal((await create(BODY)).entry<SmartLink>().article.name, ARTICLE.article_name)
  const other = await create({ ...ARTICLE, article_url: 'https://daily.example/toasters' })
  assert.notEqual(other.entry<SmartLink>().article.article_id, first.article_id)
})

test('a new name updates datetime_updated, the same name does not', async () => {
  const article_url = 'https://daily.example/updated'
  await create({ article_name: 'One', article_url })
  await api.db.run(sql`
    update article set datetime_updated = '2020-01-01T00:00:00Z' where url = ${article_url}
  `)
  const updated = async (article_name: string) =>
    (await create({ article_name, article_url })).entry<SmartLink>().article.datetime_updated
  assert.equal(await updated('One'), '2020-01-01T00:00:00Z')
  assert.notEqual(await updated('Two'), '2020-01-01T00:00:00Z')
})

test('twenty concurrent calls for one new article create one article and twenty links', async () => {
  const article_url = 'https://daily.example/race'
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => create({ article_name: 'Race', article_url })),
  )
  const links = answers.map((answer) => answer.entry<SmartLink>())
  assert.equal(new Set(links.map(({ auction_id }) => auction_id)).size, 20)
  assert.equal(new Set(links.map(({ article }) => article.article_id)).size, 1)
})

test('a call that waits for another one returns the article as both leave it', async () => {
  const article_url = 'https://daily.example/at-once'
  const [key, created] = [urlKey(article_url), '2026-01-01T00:00:00Z']
  const body = { article_name: 'New', article_url, article_publication_date: '2026-05-05' }
  const makes = sql`
    insert into article (pub_id, uid, url, url_key, name, datetime_created, datetime_updated)
    values (${ann.pubId}, ${ann.uid}, ${article_url}, ${key}, 'Old', ${created}, ${created})`
  const renames = sql`update article set name = 'New' where url_key = ${key}`

  const made = await whileWritten(api.db, makes, () => create(body))
  const { name, publication_date, datetime_created } = made.entry<SmartLink>().article
  assert.deepEqual(
    { name, publication_date, datetime_created },
    { name: 'New', publication_date: '2026-05-05T00:00:00Z', datetime_created: created },
  )
  await create({ article_name: 'Old', article_url })
  const renamed = await whileWritten(api.db, renames, () =>
    create({ article_name: 'New', article_url }),
  )
  assert.equal(renamed.entry<SmartLink>().article.name, 'New')
})

test("pub_id is required with several publishers and must be one of the key's own", async () => {
  const bob = await api.account({}, {})
  const nobody = await api.account()
  await api.db.run(sql`delete from membership where uid = ${nobody.uid}`)
  const missing = await create(BODY, {}, bob.key)
  assert.equal(missing.status, 400)
  assert.deepEqual(missing.failure().fields, ['pub_id'])
  const [, second] = bob.publishers
  const made = await create({ ...BODY, pub_id: second?.pub_id }, {}, bob.key)
  assert.equal(made.entry<SmartLink>().pub_id, second?.pub_id)
  for (const pub_id of [ann.pubId, 0, -1, 4_000_000_000, 2 ** 53]) {
    const answer = await create({ ...BODY, pub_id }, {}, bob.key)
    assert.equal(answer.status, 403, String(pub_id))
    assert.equal(answer.failure().code, 4303)
  }
  assert.deepEqual((await create(BODY, {}, nobody.key)).failure().fields, ['pub_id'])
  assert.equal((await create({ ...BODY, pub_id: ann.pubId })).status, 201)
})

test('every fault is named with its field, and nothing is created', async () => {
  const count = async () =>
    (await api.db.row<{ n: string }>(sql`select count(*) as n from smart_link`))?.n
  const before = await count()
  const long = `https://shop.example/${'x'.repeat(2048)}`
  const wide = `https://shop.example/${'日'.repeat(700)}`
  const wrong: [unknown, string[]][] = [
    [{}, ['article_name', 'article_url']],
    [{ ...BODY, article_name: '' }, ['article_name']],
    [{ ...BODY, article_name: 'x'.repeat(256) }, ['article_name']],
    [{ ...BODY, article_name: 7 }, ['article_name']],
    [{ ...BODY, article_url: '/kettles' }, ['article_url']],
    [{ ...BODY, article_url: long }, ['article_url']],
    [{ ...BODY, url: 'ftp://shop.example/' }, ['url']],
    [{ ...BODY, url: 'javascript:alert(1)' }, ['url']],
    [{ ...BODY, url: long }, ['url']],
    [{ ...BODY, url: wide }, ['url']],
    [{ ...BODY, url: null }, ['url']],
    [{ ...BODY, exclusive_match_requested: 'true' }, ['exclusive_match_requested']],
    [{ ...BODY, pub_id: '1' }, ['pub_id']],
    [{ ...BODY, pub_id: 1.5 }, ['pub_id']],
    [{ ...BODY, article_publication_date: 'tomorrow' }, ['article_publication_date']],
    [{ ...BODY, article_publication_date: '2026-03-01T08:00:00' }, ['article_publication_date']],
    [
      { article_url: '/a', url: '/b', article_publication_date: 'c', exclusive_match_requested: 1 },
      [
        'article_name',
        'url',
        'article_url',
        'article_publication_date',
        'exclusive_match_requested',
      ],
    ],
    [[], ['body']],
    ['"text"', ['body']],
    ['null', ['body']],
  ]
  for (const [body, fields] of wrong) {
    const answer = await create(body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.equal(answer.failure().code, 4000)
    assert.deepEqual(answer.failure().fields, fields, JSON.stringify(body))
    for (const field of fields.slice(0, 3)) assert.ok(answer.failure().message.includes(field))
  }
  assert.equal(await count(), before)
})

test('refuses a smart link to a link of ours', async () => {
  const id = '312345678901234567'
  const own = [
    `${LINK_URL}/${id}`,
    `${LINK_URL}/${id}/?u1=x`,
    `${LINK_URL}/link/?url=https%3A%2F%2Fshop.example&publisher_slug=x`,
    `${AUCTION_URL}/api/v1/redirect/?a=${id}`,
  ]
  const wrapped = `https://go.skimresources.com/?url=${encodeURIComponent(own[0] ?? '')}`
  for (const url of [...own, wrapped]) {
    const answer = await create({ ...BODY, url })
    assert.deepEqual([answer.status, answer.failure().fields], [400, ['url']], url)
  }
})

test('the longest name and URL are accepted, unknown fields are ignored', async () => {
  const url = `https://shop.example/${'x'.repeat(2048 - 21)}`
  const answer = await create({ ...BODY, url, article_name: 'ü'.repeat(255), colour: 'red' })
  assert.equal(answer.entry<SmartLink>().url, url)
})

test('an Idempotency-Key makes a retry safe, also a concurrent one', async () => {
  const send = (key: string, body: unknown = BODY, account = ann) =>
    create(body, { 'idempotency-key': key }, account.key)
  const id = (answer: Answer) => answer.entry<SmartLink>().auction_id
  const first = await send('retry 1')
  const again = await send('retry 1')
  assert.equal(again.status, 201)
  assert.equal(again.text, first.text)
  assert.notEqual(id(await send('retry 2')), id(first))
  assert.notEqual(id(await send('retry 1', BODY, await api.account())), id(first))

  // Members in another order are the same body.
  const turned = Object.fromEntries(Object.entries(BODY).toReversed())
  assert.equal((await send('retry 1', turned)).text, first.text)

  const conflict = await send('retry 1', { ...BODY, url: 'https://shop.example/other' })
  assert.equal(conflict.status, 409)
  assert.equal(conflict.failure().code, 4090)

  const race = await Promise.all(Array.from({ length: 10 }, () => send('race')))
  assert.equal(new Set(race.map(id)).size, 1)
  const bodies = Array.from({ length: 10 }, (_, n) =>
    n % 2 === 0 ? BODY : { ...BODY, article_name: `${n}` },
  )
  const mixed = await Promise.all(bodies.map((body) => send('mixed', body)))
  const made = mixed.filter(({ status }) => status === 201)
  assert.equal(new Set(made.map(id)).size, 1, 'one body is taken')
  assert.ok(
    made.length === 5 || made.length === 1,
    'and a client that sent another one gets an error',
  )
  assert.equal(mixed.filter(({ status }) => status === 409).length, 10 - made.length)

  // A refused call stores nothing: its key is free for the corrected body.
  assert.equal((await send('fixed', { ...BODY, url: 'x' })).status, 400)
  assert.equal((await send('fixed')).status, 201)
  assert.deepEqual((await send('x'.repeat(256))).failure().fields, ['Idempotency-Key'])
})

test('an unknown field is ignored and makes no different body of a retry', async () => {
  const open = JSON.stringify(BODY).slice(0, -1)
  const deep = `${open},"extra":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  const header = { 'idempotency-key': 'ignored' }
  const first = await create(deep, header)
  assert.equal(first.status, 201)
  assert.equal((await create(BODY, header)).text, first.text)
})

test('Idempotency-Keys are valid for 24 hours', async () => {
  const send = () => create(BODY, { 'idempotency-key': 'old' })
  const first = await send()
  const age = (interval: string) =>
    api.db.run(sql`
      update idempotent_response set created_at = now() - ${interval}::interval
      where idempotency_key = 'old'
    `)
  await age('23 hours 59 minutes')
  assert.equal((await send()).text, first.text)
  await age('24 hours 1 minute')
  assert.notEqual((await send()).text, first.text)
})
