/** LinkMate, smart links for an article's raw URLs: docs/spec/interface.md#linkmate. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MERCHANT_DEFAULTS } from '../../src/catalog/merchant.ts'
import { insertMerchant } from '../../src/catalog/merchant-store.ts'
import { disableLink } from '../../src/links/store.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { LINK_URL, startApi } from '../support/api.ts'

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const ARTICLE = { name: 'Best kettles', url: 'https://daily.example/kettles' }

interface Link {
  readonly auction_id: string
  readonly url: string
  readonly exclusive_match_requested: boolean
}

const api = await startApi({ after })
const ann = await api.account({ is_partner: true, domains: ['daily.example'] })
const bob = await api.account({ is_partner: true, linkmate_scope: 'network' }, {})

const path = (pubId: number | string) => `/api/v1/publishers/${pubId}/linkmate/smart_links/`
const send = (body: unknown, pubId: number | string = ann.pubId, key?: string) =>
  api.call(path(pubId), { method: 'POST', body, ...(key === undefined ? {} : { key }) })
const linksOf = async (urls: readonly string[], article = ARTICLE, pubId = ann.pubId) => {
  const answer = await send({ article, links: urls.map((raw_url) => ({ raw_url })) }, pubId)
  assert.equal(answer.status, 200, answer.text)
  return answer.entry<{ smart_links: Link[] }>().smart_links
}
const countRows = async (table: 'smart_link' | 'article') =>
  (
    await api.db.row<{ n: string }>(
      table === 'article'
        ? sql`select count(*) as n from article`
        : sql`select count(*) as n from smart_link`,
    )
  )?.n

test('each URL gets a link with every field, in the order sent, echoed byte for byte', async () => {
  const urls = [
    'https://shop.example/b?x=1#reviews',
    'HTTPS://Shop.example/ü a',
    'http://x.example',
  ]
  const answer = await send({
    article: ARTICLE,
    links: urls.map((raw_url) => ({ raw_url, exclusive_match_requested: false })),
  })
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json<{ info: unknown }>().info, { error: false, status: 200 })
  assert.equal(answer.json<{ data: unknown[] }>().data.length, 1)
  const links = answer.entry<{ smart_links: Record<string, unknown>[] }>().smart_links
  assert.deepEqual(
    links.map(({ url }) => url),
    urls,
  )
  const [first = {}] = links
  assert.match(String(first.datetime_created), TIMESTAMP)
  assert.match(String(first.datetime_updated), TIMESTAMP)
  assert.ok(BigInt(String(first.auction_id)) > 2n ** 53n)
  assert.deepEqual(first, {
    auction_id: first.auction_id,
    url: urls[0],
    smart_link_id: first.smart_link_id,
    uid_created: null,
    datetime_created: first.datetime_created,
    datetime_updated: first.datetime_updated,
    pub_id: ann.pubId,
    exclusive_match_requested: false,
    is_monetizable: false,
  })
  assert.equal(typeof first.auction_id, 'string')
  assert.ok(Number.isInteger(first.smart_link_id))
})

test('the same request returns the same links, as does an equal URL of the article', async () => {
  const urls = ['https://shop.example/again', 'https://shop.example/more']
  const first = await linksOf(urls)
  assert.deepEqual(await linksOf(urls), first)
  const [, more] = first
  const variant = { name: 'Other', url: 'http://www.daily.example/kettles/?utm_source=x' }
  assert.deepEqual(await linksOf(['https://shop.example/more'], variant), [more])
  const elsewhere = { name: 'Toasters', url: 'https://daily.example/toasters' }
  const [other] = await linksOf(['https://shop.example/more'], elsewhere)
  assert.notEqual(other?.auction_id, more?.auction_id)
})

test('the same article URL of another publisher has its own links', async () => {
  const { pubId } = await api.account({ is_partner: true })
  const of = async (id: number) => (await linksOf(['https://shop.example/own'], ARTICLE, id))[0]
  const [mine, theirs] = [await of(ann.pubId), await of(pubId)]
  assert.notEqual(mine?.auction_id, theirs?.auction_id)
  assert.deepEqual([await of(ann.pubId), await of(pubId)], [mine, theirs])
})

test('a link created with a key is found, the oldest enabled one of several', async () => {
  const [url, page] = ['https://shop.example/made', 'https://daily.example/made']
  const make = async () => {
    const body = { url, article_name: 'Made', article_url: page, pub_id: ann.pubId }
    const answer = await api.call('/api/v1/smart_links/', { key: ann.key, body })
    return answer.entry<{ auction_id: string }>().auction_id
  }
  const idOf = async () => (await linksOf([url], { name: 'Made', url: page }))[0]?.auction_id
  const [first, second] = [await make(), await make()]
  assert.equal(await idOf(), first)
  const disable = (auctionId: string) => disableLink(api.db, auctionId)
  await disable(first)
  assert.equal(await idOf(), second)
  await disable(second)
  assert.equal(await idOf(), undefined)
})

test('twenty concurrent calls with overlapping URLs in any order create each link once', async () => {
  const article = { name: 'Race', url: 'https://daily.example/race' }
  const urls = Array.from({ length: 30 }, (_, at) => `https://shop.example/race/${at}`)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => {
      const turned = [...urls.slice(at), ...urls.slice(0, at)]
      return linksOf(at % 2 === 0 ? turned : turned.reverse(), article)
    }),
  )
  const ids = new Map<string, Set<string>>(urls.map((url) => [url, new Set()]))
  for (const links of answers) {
    assert.equal(links.length, urls.length)
    for (const { url, auction_id } of links) ids.get(url)?.add(auction_id)
  }
  for (const found of ids.values()) assert.equal(found.size, 1)
})

test('duplicates give one entry, and the lock creates a second link', async () => {
  const raw_url = 'https://shop.example/twice'
  const answer = await send({
    article: ARTICLE,
    links: [
      { raw_url },
      { raw_url },
      { raw_url, exclusive_match_requested: true },
      { raw_url, exclusive_match_requested: true },
    ],
  })
  const { smart_links: links } = answer.entry<{ smart_links: Link[] }>()
  assert.deepEqual(
    links.map(({ exclusive_match_requested }) => exclusive_match_requested),
    [false, true],
  )
  assert.notEqual(links[0]?.auction_id, links[1]?.auction_id)
})

test("non-URLs, Souk's own links, own pages and #donotlink are left out without an error", async () => {
  const left = [
    '/relative',
    'mailto:a@b.example',
    `${LINK_URL}/312345678901234567`,
    `${LINK_URL}/link/?url=x`,
    'https://www.daily.example/other',
    'https://m.daily.example/x',
    'https://shop.example/no#donotlink',
  ]
  const links = await linksOf([...left, 'https://shop.example/locked#locklink'])
  assert.deepEqual(
    links.map(({ url, exclusive_match_requested }) => ({ url, exclusive_match_requested })),
    [{ url: 'https://shop.example/locked#locklink', exclusive_match_requested: true }],
  )
  const own = { name: 'Own', url: 'https://unlisted.example/a' }
  assert.deepEqual(await linksOf(['https://unlisted.example/b'], own), [])
  assert.deepEqual(await linksOf([]), [])
})

test('a publisher may narrow it to the hosts of the network', async () => {
  await insertMerchant(api.db, { ...MERCHANT_DEFAULTS, name: 'M', domains: ['merchant.example'] })
  const wrapped = `https://go.skimresources.com/?url=${encodeURIComponent('https://merchant.example/w')}`
  const urls = ['https://foreign.example/p', 'https://m.merchant.example/p', wrapped]
  const article = { name: 'B', url: 'https://bob.example/a' }
  const links = await linksOf(urls, article, bob.pubId)
  assert.deepEqual(
    links.map(({ url }) => url),
    urls.slice(1),
  )
  const body = { article, links: [{ raw_url: `${wrapped}2` }], unwrap_links: false }
  const unlooked = await send(body, bob.pubId)
  assert.deepEqual(unlooked.entry<{ smart_links: Link[] }>().smart_links, [])
})

test('says of each link whether a merchant of the network owns its host or the one inside', async () => {
  const settings = { ...MERCHANT_DEFAULTS, name: 'Own', domains: ['owned.example'] }
  await insertMerchant(api.db, settings)
  const wrapped = `https://go.skimresources.com/?url=${encodeURIComponent('https://owned.example/w')}`
  const urls = ['https://www.owned.example/p', 'https://encyclopedia.example/x', wrapped]
  const flags = async (more: object) => {
    const links = urls.map((raw_url) => ({ raw_url }))
    const answer = await send({ article: ARTICLE, links, ...more })
    const { smart_links } = answer.entry<{ smart_links: { is_monetizable: boolean }[] }>()
    return smart_links.map(({ is_monetizable }) => is_monetizable)
  }
  assert.deepEqual(await flags({}), [true, false, true])
  assert.deepEqual(await flags({ unwrap_links: false }), [true, false, false])
  const { merch_id } = await insertMerchant(api.db, {
    ...MERCHANT_DEFAULTS,
    name: 'Late',
    domains: ['encyclopedia.example'],
  })
  assert.ok(merch_id > 0)
  assert.deepEqual(await flags({}), [true, true, true], 'as soon as the merchant has joined')
})

test('leaves out an entry without a web address instead of refusing the call', async () => {
  const good = 'https://shop.example/good'
  const raw = [null, '', ' ', 'x'.repeat(5_000), `data:image/png;base64,${'A'.repeat(9_000)}`, good]
  const answer = await send({ article: ARTICLE, links: raw.map((raw_url) => ({ raw_url })) })
  assert.equal(answer.status, 200, answer.text)
  const { smart_links } = answer.entry<{ smart_links: Link[] }>()
  assert.deepEqual(
    smart_links.map(({ url }) => url),
    [good],
  )
})

test('names an article without a title after its URL', async () => {
  for (const [name, key] of [
    [null, undefined],
    ['', undefined],
    [null, ann.key],
  ] as const) {
    const url = `https://daily.example/untitled-${String(name)}-${key === undefined}`
    const links = [{ raw_url: 'https://shop.example/untitled' }]
    const answer = await send({ article: { name, url }, links }, ann.pubId, key)
    assert.equal(answer.status, 200, answer.text)
    const row = await api.db.row(sql`select name from article where url = ${url}`)
    assert.deepEqual(row, { name: url })
  }
})

test('takes AMP copies of an article for the article', async () => {
  const url = 'https://shop.example/amp'
  const page = 'https://daily.example/copied'
  const [first] = await linksOf([url, `${page}#part`], { name: 'Copied', url: page })
  for (const copy of [
    'https://daily-example.cdn.ampproject.org/c/s/daily.example/copied?usqp=mq331AQ&amp_js_v=0.1',
    'https://www.google.com/amp/s/daily.example/copied/amp/',
    'https://daily.example/copied?amp=1',
  ]) {
    const links = await linksOf([url, 'https://daily.example/other'], { name: 'Copied', url: copy })
    assert.deepEqual(links, [first], copy)
  }
  const fresh = 'https://new-example.cdn.ampproject.org/c/s/new.example/first?amp_js_v=1'
  await linksOf([url], { name: 'First', url: fresh })
  const row = await api.db.row(sql`select url from article where name = 'First'`)
  assert.deepEqual(row, { url: 'https://new.example/first' })
})

test('a link that the operator disabled is not returned', async () => {
  const url = 'https://shop.example/disabled'
  const [link] = await linksOf([url])
  await api.db.run(sql`
    update smart_link set state = 'disabled' where auction_id = ${link?.auction_id}::bigint
  `)
  assert.deepEqual(await linksOf([url]), [])
})

test("a call without a key renames no article, a call with the publisher's key does", async () => {
  const url = 'https://daily.example/named'
  const name = async () =>
    (await api.db.row<{ name: string }>(sql`select name from article where url = ${url}`))?.name
  await linksOf(['https://shop.example/n'], { name: 'First', url })
  await linksOf(['https://shop.example/n'], { name: 'Vandal', url })
  await linksOf(['https://shop.example/new'], { name: 'Vandal', url })
  assert.equal(await name(), 'First')
  const links = [{ raw_url: 'https://shop.example/n' }]
  assert.equal(
    (await send({ article: { name: 'Second', url }, links }, ann.pubId, ann.key)).status,
    200,
  )
  assert.equal(await name(), 'Second')
})

test('a link requested with a key is vouched for from then on', async () => {
  const raw_url = 'https://shop.example/vouched'
  const [link] = await linksOf([raw_url])
  const isKeyless = async () =>
    (
      await api.db.row<{ is_keyless: boolean }>(sql`
      select is_keyless from smart_link where auction_id = ${link?.auction_id}::bigint
    `)
    )?.is_keyless
  assert.equal(await isKeyless(), true)
  const answer = await send({ article: ARTICLE, links: [{ raw_url }] }, ann.pubId, ann.key)
  assert.equal(answer.entry<{ smart_links: Link[] }>().smart_links[0]?.auction_id, link?.auction_id)
  assert.equal(await isKeyless(), false)
})

test('beacons send text/plain, from any origin and without a key', async () => {
  const answer = await api.call(path(ann.pubId), {
    body: { article: ARTICLE, links: [{ raw_url: 'https://shop.example/beacon' }] },
    headers: { 'content-type': 'text/plain;charset=UTF-8', origin: 'https://daily.example' },
  })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('access-control-allow-origin'), 'https://daily.example')
  assert.equal(answer.headers.get('access-control-allow-credentials'), 'true')
  assert.match(answer.headers.get('vary') ?? '', /Origin/i)
  const preflight = await api.call(path(ann.pubId), {
    method: 'OPTIONS',
    headers: { origin: 'https://daily.example', 'access-control-request-method': 'POST' },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), 'https://daily.example')
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /authorization/)
  assert.equal(preflight.headers.get('access-control-max-age'), '86400')
})

test('a key that is sent must be valid and own the publisher', async () => {
  const body = { article: ARTICLE, links: [{ raw_url: 'https://shop.example/key' }] }
  assert.equal((await send(body, ann.pubId, ann.key)).status, 200)
  const wrong = await send(body, ann.pubId, 'souk_wrong')
  assert.deepEqual([wrong.status, wrong.failure().code], [401, 4302])
  const foreign = await send(body, ann.pubId, bob.key)
  assert.deepEqual([foreign.status, foreign.failure().code], [403, 4303])
})

test('a non-member gets 403, an unknown publisher 404', async () => {
  const body = { article: ARTICLE, links: [] }
  const outsider = await send(body, bob.publishers[1]?.pub_id ?? 0)
  assert.deepEqual([outsider.status, outsider.failure().code], [403, 4304])
  for (const pubId of [0, -1, 999_999, 4_000_000_000, '9007199254740993']) {
    const answer = await send(body, pubId)
    assert.deepEqual([answer.status, answer.failure().code], [404, 4040], String(pubId))
  }
  assert.deepEqual((await send(body, 'abc')).failure().fields, ['pub_id'])
})

test('every fault is named with its field, and nothing is created', async () => {
  const before = [await countRows('smart_link'), await countRows('article')]
  const good = { raw_url: 'https://shop.example/fault' }
  const article = { name: 'Fault', url: 'https://daily.example/fault' }
  const long = `https://shop.example/${'x'.repeat(2048)}`
  const wide = `https://shop.example/${'日'.repeat(700)}`
  const wrong: [unknown, string[]][] = [
    [{}, ['article', 'links']],
    [{ article: {}, links: [good] }, ['article.name', 'article.url']],
    [{ article: { ...article, name: 'x'.repeat(256) }, links: [good] }, ['article.name']],
    [{ article: { ...article, url: 'daily.example' }, links: [good] }, ['article.url']],
    [{ article, links: [good, { raw_url: long }] }, ['links[1].raw_url']],
    [{ article, links: [good, { raw_url: wide }] }, ['links[1].raw_url']],
    [{ article, links: [good, {}] }, ['links[1].raw_url']],
    [{ article, links: [good, { raw_url: 5 }] }, ['links[1].raw_url']],
    [{ article, links: [good, 'https://shop.example/'] }, ['links[1]']],
    [{ article, links: Array.from({ length: 501 }, () => good) }, ['links']],
    [{ article, links: { 0: good } }, ['links']],
    [
      { article, links: [{ ...good, exclusive_match_requested: 1 }] },
      ['links[0].exclusive_match_requested'],
    ],
    [{ article, links: [good], unwrap_links: 'no' }, ['unwrap_links']],
  ]
  for (const [body, fields] of wrong) {
    const answer = await send(body)
    assert.equal(answer.status, 400, JSON.stringify(body).slice(0, 200))
    assert.equal(answer.failure().code, 4000)
    assert.deepEqual(answer.failure().fields, fields)
  }
  const all = Array.from({ length: 500 }, () => ({ exclusive_match_requested: 'no' }))
  const { fields, message } = (await send({ article, links: all })).failure()
  assert.equal(new Set(fields).size, 1_000, 'reports every fault, however many')
  assert.match(message, /and 997 more, see error\.data$/)
  assert.deepEqual([await countRows('smart_link'), await countRows('article')], before)
})

test('500 links in one call are created', async () => {
  const urls = Array.from({ length: 500 }, (_, at) => `https://shop.example/many/${at}`)
  assert.equal((await linksOf(urls)).length, 500)
})

test('calls without a key create a limited number of links an hour, and existing ones are returned', async (t) => {
  const limited = await startApi(t, {
    env: { LINKMATE_NEW_PER_HOUR: '3' },
    now: () => Date.parse('2026-03-02T10:59:59Z'),
  })
  const { pubId, key } = await limited.account({ is_partner: true })
  const leftOut = async () => {
    const { text } = await limited.call('/metrics')
    return Number(/^souk_linkmate_links_left_out_total (\d+)$/m.exec(text)?.[1])
  }
  const ask = async (urls: readonly string[], withKey = false) => {
    const body = { article: ARTICLE, links: urls.map((raw_url) => ({ raw_url })) }
    const answer = await limited.call(path(pubId), { body, ...(withKey ? { key } : {}) })
    return answer.entry<{ smart_links: Link[] }>().smart_links.map(({ url }) => url)
  }
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(
    (name) => `https://shop.example/${name}`,
  ) as [string, string, string, string, string]
  assert.deepEqual(await ask([a, b]), [a, b])
  assert.deepEqual(await ask([a, c, d, b]), [a, c, b])
  assert.equal(await leftOut(), 1)
  assert.deepEqual(await ask([d, e]), [])
  assert.equal(await leftOut(), 3)
  assert.deepEqual(await ask([d], true), [d], 'a key has no such limit')
  assert.deepEqual(await ask([d, a]), [d, a])
  const race = await Promise.all(Array.from({ length: 5 }, () => ask([e])))
  assert.deepEqual(race.flat(), [])
})

test('a link that many readers request at once counts once in the hour, and all of them get it', async (t) => {
  const limited = await startApi(t, {
    env: { LINKMATE_NEW_PER_HOUR: '3' },
    now: () => Date.parse('2026-03-02T10:30:00Z'),
  })
  const { pubId } = await limited.account({ is_partner: true })
  const ask = async (names: readonly string[]) => {
    const links = names.map((name) => ({ raw_url: `https://shop.example/${name}` }))
    const answer = await limited.call(path(pubId), { body: { article: ARTICLE, links } })
    return answer.entry<{ smart_links: Link[] }>().smart_links.map(({ auction_id }) => auction_id)
  }
  const race = await Promise.all(Array.from({ length: 12 }, () => ask(['a', 'b'])))
  assert.equal(race[0]?.length, 2)
  for (const got of race) assert.deepEqual(got, race[0])
  assert.equal((await ask(['c', 'd'])).length, 1, 'two of three are made')
})

test('by default 5,000 new links are created an hour without a key', async (t) => {
  const byDefault = await startApi(t, { now: () => Date.parse('2026-03-02T10:59:59Z') })
  const { pubId } = await byDefault.account({ is_partner: true })
  const made: number[] = []
  for (let call = 0; call < 11; call++) {
    const links = Array.from({ length: 500 }, (_, at) => ({
      raw_url: `https://shop.example/many/${call}-${at}`,
    }))
    const answer = await byDefault.call(path(pubId), { body: { article: ARTICLE, links } })
    made.push(answer.entry<{ smart_links: Link[] }>().smart_links.length)
  }
  assert.deepEqual(made, [...Array(10).fill(500), 0])
})

test('an origin that calls too often gets Retry-After', async (t) => {
  const limited = await startApi(t, { env: { RATE_LIMITS: 'linkmate=1:2' } })
  const one = await limited.account({ is_partner: true })
  const two = await limited.account({ is_partner: true })
  const ask = (pubId: number) =>
    limited.call(path(pubId), { body: { article: ARTICLE, links: [] } })
  assert.equal((await ask(one.pubId)).status, 200)
  assert.equal((await ask(one.pubId)).status, 200)
  const refused = await ask(one.pubId)
  assert.deepEqual([refused.status, refused.failure().code], [429, 4290])
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(refused.headers.get('ratelimit-limit'), '2')
  assert.equal(refused.headers.get('ratelimit-remaining'), '0')
  assert.equal(refused.headers.get('ratelimit-reset'), '1')
  assert.equal((await ask(two.pubId)).status, 200, 'limits count per publisher')
})

test('the page tag reads its configuration by slug, in any case, from any origin', async () => {
  const [publisher] = ann.publishers
  const read = (slug: string) =>
    api.call(`/api/v0/publishers/${slug}/amp_config/`, { headers: { origin: 'https://x.example' } })
  const answer = await read(publisher?.slug.toUpperCase() ?? '')
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json(), {
    info: { error: false, status: 200 },
    data: [{ amp_config: { linkmate_enabled: true, publisher_id: ann.pubId } }],
  })
  assert.equal(answer.headers.get('access-control-allow-origin'), 'https://x.example')
  const ofTag = await api.call(`/api/v0/publishers/${publisher?.slug}/amp_config/?page_tag=1`)
  const { page_tag } = ofTag.entry<{ page_tag: Record<string, unknown> }>()
  assert.match(String(page_tag.merchants_version), /^[0-9a-f]{8}$/)
  const outsider = await read(bob.publishers[1]?.slug ?? '')
  assert.deepEqual(outsider.entry(), {
    amp_config: { linkmate_enabled: false, publisher_id: bob.publishers[1]?.pub_id },
  })
  for (const slug of ['nobody', 'x'.repeat(300), '%F0%9F%98%80']) {
    assert.deepEqual([(await read(slug)).status, (await read(slug)).failure().code], [404, 4040])
  }
})
