/** Wrapper URLs (`/link/?url=…`): docs/spec/interface.md#redirects. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { REASON } from '../../src/events/reason.ts'
import { micros } from '../../src/platform/money/money.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { startApi } from '../support/api.ts'
import { follow, KETTLE, makeMarket, SLUG, until } from '../support/market.ts'

const api = await startApi({ after })
const market = await makeMarket(api)
await market.campaign(market.kettles, { bid_micros: micros(600_000) })

const wrapper = (url: string, more = '', slug = SLUG) =>
  `/link/?url=${encodeURIComponent(url)}&publisher_slug=${slug}${more}`

/**
 * The destination of a recorded click. On a busy machine the first click on a new link may time out
 * and be redirected unrecorded; the next one finds the link.
 */
async function recorded(address: string, headers: Record<string, string> = {}): Promise<string> {
  let leadsTo = ''
  await until(async () => {
    leadsTo = (await follow(api, address, headers)).location
    return leadsTo.includes('cid=')
  })
  return leadsTo
}

test('a wrapper finds or creates its link and runs the auction on that click', async () => {
  const more = '&article_url=https%3A%2F%2Fdaily.example%2Fmail&article_name=Mail'
  for (let time = 0; time < 2; time++) {
    assert.match(
      await recorded(wrapper(KETTLE, more)),
      /^https:\/\/kettles\.example\/p\/1\?cid=[0-9a-f]{32}$/,
    )
  }
  const row = await api.db.row<{ n: string }>(sql`
    select count(*) as n from smart_link join article using (article_id)
    where source = 'wrapper' and article.name = 'Mail'`)
  assert.equal(row?.n, '1')
})

test("a merchant's host is recognized with the final dot of a full name as well", async () => {
  for (const page of ['/p/1', '/in/no/feed']) {
    const location = await recorded(wrapper(`https://www.kettles.example.${page}`))
    assert.match(location, /^https:\/\/www\.kettles\.example\.\/[\w/]+\?cid=[0-9a-f]{32}$/)
  }
})

test('a wrapper finds a link that was created with a key and creates none beside it', async () => {
  const made = await market.link(KETTLE, { article: 'made' })
  await recorded(wrapper(KETTLE, '&article_url=https%3A%2F%2Fdaily.example%2Fmade'))
  const rows = await api.db.rows<{ auction_id: string }>(sql`
    select auction_id from smart_link join article using (article_id)
    where article.url = 'https://daily.example/made'`)
  assert.deepEqual(rows, [{ auction_id: made }])
})

test("a wrapper honours its page's mark: #donotlink is left alone, #locklink is locked", async () => {
  const inArticle = '&article_url=https%3A%2F%2Fdaily.example%2Fmarked'
  const left = await follow(api, wrapper(`${KETTLE}#DoNotLink`, inArticle))
  assert.deepEqual([left.status, left.location], [302, `${KETTLE}#DoNotLink`])
  await recorded(wrapper(`${KETTLE}#locklink`, inArticle))
  const rows = await api.db.rows<{ url: string; is_exclusive: boolean }>(sql`
    select smart_link.url, is_exclusive from smart_link join article using (article_id)
    where article.url = 'https://daily.example/marked'`)
  assert.deepEqual(rows, [{ url: `${KETTLE}#locklink`, is_exclusive: true }])
})

test("of the reader's page, the article keeps origin and path", async () => {
  const page = 'https://daily.example/letter'
  for (const query of ['?reader=jane%40example.com', '?reader=joe%40example.com#top', '']) {
    await recorded(wrapper(KETTLE), { referer: page + query })
  }
  const rows = await api.db.rows<{ url: string; name: string }>(sql`
    select url, name from article where url like ${`${page}%`}`)
  assert.deepEqual(rows, [{ url: page, name: page }])
})

test("of an article's URL, nothing is stored that only tracks a reader", async () => {
  const article = 'https://daily.example/amp?p=7'
  const from = `${article}&mc_eid=5f3a&reader=jane@mail.example`
  await recorded(wrapper(KETTLE, `&article_url=${encodeURIComponent(from)}`))
  const rows = await api.db.rows<{ url: string; name: string }>(sql`
    select url, name from article where url like 'https://daily.example/amp%'`)
  assert.deepEqual(rows, [{ url: article, name: article }])
})

test('a foreign page is no article of the publisher and is not stored', async () => {
  await recorded(wrapper(KETTLE), { referer: 'https://mail.example/inbox' })
  const rows = await api.db.rows(sql`
    select from article where concat(url, name) like '%mail.example%'`)
  assert.deepEqual(rows, [])
})

test('a wrapper that a template has escaped twice names its publisher and its article', async () => {
  const page = 'https://daily.example/escaped'
  for (const ampersand of ['&amp;', '&amp;amp;', '&%23038;']) {
    const more = `${ampersand}article_url=${encodeURIComponent(page)}`
    const written = wrapper(KETTLE, more).replace('&publisher', `${ampersand}publisher`)
    assert.notEqual(await recorded(written), null, written)
  }
  const rows = await api.db.rows(sql`select name from article where url = ${page}`)
  assert.deepEqual(rows, [{ name: page }])
})

test('the page for readers from elsewhere names a host in its own letters and in ASCII', async () => {
  const { text } = await follow(api, wrapper('https://bücher.example:8443/p'))
  assert.match(text, /leaving for bücher\.example:8443</)
  assert.match(text, /xn--bcher-kva\.example:8443/)
  const plain = await follow(api, wrapper('https://books.example/p'))
  assert.doesNotMatch(plain.text, /technical name/)
})

test('a wrapper creates no link for HEAD, a prefetch or a robot', async () => {
  const links = async () =>
    (await api.db.row<{ n: string }>(sql`select count(*) as n from smart_link`))?.n
  const before = await links()
  const target = 'https://kettles.example/p/unheard-of'
  const nobody = [
    { 'sec-purpose': 'prefetch' },
    { purpose: 'prefetch' },
    { 'user-agent': '' },
    { 'sec-fetch-dest': 'image' },
  ]
  for (const headers of [...nobody, { 'user-agent': 'Googlebot/2.1' }]) {
    const { status, location } = await follow(api, wrapper(target), headers)
    assert.deepEqual([status, location], [302, target], JSON.stringify(headers))
  }
  const head = await fetch(api.url + wrapper(target), { method: 'HEAD', redirect: 'manual' })
  assert.deepEqual([head.status, head.headers.get('location')], [302, target])
  assert.equal(await links(), before)
  await recorded(wrapper(target))
  assert.notEqual(await links(), before)
})

test('wrappers create no more links an hour than calls without a key, and readers are redirected all the same', async (t) => {
  const small = await startApi(t, { env: { LINKMATE_NEW_PER_HOUR: '2' } })
  const { kettles, campaign } = await makeMarket(small)
  await campaign(kettles, { bid_micros: micros(600_000) })
  const isPaid = async (page: string, slug = SLUG) => {
    const address = wrapper(`https://kettles.example/p/1?page=${page}`, '', slug)
    return (await follow(small, address)).location.includes('cid=')
  }
  await until(() => isPaid('a'))
  await until(() => isPaid('b'))
  assert.equal(await isPaid('c'), false)
  assert.deepEqual([await isPaid('a'), await isPaid('b')], [true, true])
  const { status, location } = await follow(small, wrapper('https://kettles.example/p/1?page=c'))
  assert.deepEqual([status, location], [302, 'https://kettles.example/p/1?page=c'])
  assert.deepEqual(await small.db.rows(sql`select count(*) as n from smart_link`), [{ n: '2' }])
  await small.account({ slug: 'weekly', domains: ['weekly.example'] })
  await until(() => isPaid('d', 'weekly')) // Another publisher has its own limit.
})

test('many readers who click the same new link at once create it once', async () => {
  await api.db.run(sql`create table counted_insert (is_insert integer)`)
  await api.db.run(sql`
    create function count_insert() returns trigger language plpgsql as $$
      begin insert into counted_insert values (1); return null; end $$`)
  await api.db.run(sql`
    create trigger counted_insert after insert on smart_link
    for each statement execute function count_insert()`)
  const target = wrapper('https://kettles.example/p/1?from=newsletter')
  await Promise.all(Array.from({ length: 30 }, () => follow(api, target)))
  await recorded(target)
  assert.equal((await api.db.rows(sql`select from counted_insert`)).length, 1)
  await api.db.run(sql`drop trigger counted_insert on smart_link`)
})

test('robots and prefetches of an existing wrapper link are recorded and never billed', async () => {
  const article = 'https://daily.example/robots'
  const address = (name: string) =>
    wrapper(KETTLE, `&article_url=${encodeURIComponent(article)}&article_name=${name}`)
  await recorded(address('Seen'))
  const clicks = () =>
    api.db.rows<{ reason: number; merchant_cost_micros: string }>(sql`
      select click.reason, merchant_cost_micros from click join event on event.id = click.event_id
      join smart_link on smart_link.auction_id = event.auction_id
      join article on article.article_id = smart_link.article_id
      where article.url = ${article} order by event.seq`)
  const unpaid = (reason: number) => ({ reason, merchant_cost_micros: '0' })
  for (const [headers, name] of [
    [{ 'user-agent': 'Googlebot/2.1' }, 'Seen'],
    [{ 'user-agent': '' }, 'Unseen'], // This node has to load the link.
    [{ 'sec-purpose': 'prefetch' }, 'Seen'],
  ] as const) {
    assert.match(await recorded(address(name), headers), /\?cid=[0-9a-f]{32}$/)
  }
  const head = await fetch(api.url + address('Seen'), { method: 'HEAD', redirect: 'manual' })
  assert.equal(head.status, 302)
  await api.app.untilFolded()
  const [person, ...others] = await clicks()
  assert.notEqual(person?.merchant_cost_micros, '0')
  const reasons = [REASON.robot, REASON.robot, REASON.prefetch]
  assert.deepEqual(others, reasons.map(unpaid))
})

test('a wrapper without a usable url is an error page', async () => {
  for (const query of [
    '',
    '?url=',
    '?url=javascript:alert(1)',
    '?url=/relative',
    '?url=ftp://x.example',
    `?url=https://kettles.example/${'a'.repeat(2_048)}`,
  ]) {
    assert.equal((await follow(api, `/link/${query}`)).status, 400, query)
  }
  const { status, text } = await follow(api, '/link/?url=kettles.example/kettle')
  assert.equal(status, 400)
  assert.match(text, /must start with https:\/\/ or http:\/\//)
})

test('a wrapper is no open redirector: third parties see where they are going', async () => {
  const target = 'https://elsewhere.example/page?x=<b>'
  const stranger = await follow(api, wrapper(target))
  assert.equal(stranger.status, 200)
  assert.match(stranger.text, /elsewhere\.example/)
  assert.ok(!stranger.text.includes('<b>'))
  for (const referer of ['https://www.daily.example/a', 'https://daily.example./a']) {
    const reader = await follow(api, wrapper(target), { referer })
    assert.deepEqual([reader.status, reader.location], [302, target])
  }
  const typed = { referer: 'https://www.daily.example/a', 'sec-fetch-site': 'none' }
  assert.equal((await follow(api, wrapper(target), typed)).status, 200)
  const amp = await follow(api, wrapper(target), {
    referer: 'https://daily-example.cdn.ampproject.org/',
  })
  assert.equal(amp.status, 302)
  for (const referer of [
    'https://evil.example/',
    'https://daily.example.evil.example/',
    'https://evil--daily-example.cdn.ampproject.org/',
  ]) {
    assert.equal((await follow(api, wrapper(target), { referer })).status, 200, referer)
  }
  assert.deepEqual(await api.db.rows(sql`select from smart_link where url = ${target}`), [])
})

test('a wrapper auctions its click whatever blanks and NULs its parts hold', async () => {
  const url = encodeURIComponent(KETTLE)
  for (const query of [
    `url=+${url}`,
    `url=%20%09${url}%0D%0A`,
    `url=${url.replace('kettles', 'ket%0Atles')}`,
    `url=${url}%00`,
    `url=${url}&article_name=a%00b`,
    `url=${url}&article_url=https://daily.example/a%00b`,
  ]) {
    const location = await recorded(`/link/?publisher_slug=${SLUG.toUpperCase()}&${query}`)
    assert.match(location, /^https:\/\/kettles\.example\/p\/1\?cid=[0-9a-f]{32}$/, query)
  }
})

test('a long name of an article in a wrapper is cut between two characters', async () => {
  const name = `${'a'.repeat(254)}\u{1F600} and more`
  await recorded(wrapper(KETTLE, `&article_name=${encodeURIComponent(name)}`))
  const rows = await api.db.rows<{ name: string }>(sql`
    select name from article where name like 'aaa%'`)
  assert.deepEqual(rows, [{ name: 'a'.repeat(254) }])
})

test('a wrapper that names no known publisher is counted, for its publisher and for the operator', async () => {
  const { account } = market
  const lost = wrapper(KETTLE, '', 'dailly')
  await follow(api, lost, { referer: 'https://www.daily.example/a' })
  await follow(api, `/link/?url=${encodeURIComponent(KETTLE)}`, {
    referer: 'https://daily.example/',
  })
  await follow(api, lost, { 'user-agent': 'Googlebot/2.1' })
  await follow(api, wrapper(KETTLE), { referer: 'https://www.daily.example/a' })
  const read = async () => {
    const path = `/api/v1/publishers/${account.pubId}/unattributed_redirects/`
    return (await api.call(path, { key: account.key })).json<{ data: object[] }>().data
  }
  await until(async () => (await read()).length === 2)
  const last_day = new Date(api.app.node.now()).toISOString().slice(0, 10)
  const shared = { host: 'daily.example', target_host: 'kettles.example', redirects: 1, last_day }
  assert.deepEqual(await read(), [
    { slug: '', ...shared },
    { slug: 'dailly', ...shared },
  ])
  const { text } = await api.call('/metrics')
  assert.match(text, /^souk_unattributed_redirects_total \d+$/m)
  const other = await api.account()
  const refused = await api.call(`/api/v1/publishers/${account.pubId}/unattributed_redirects/`, {
    key: other.key,
  })
  assert.deepEqual([refused.status, refused.failure().code], [403, 4303])
})
