/** Daily statistics: docs/spec/interface.md#statistics. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_TYPE } from '../../src/events/event.ts'
import { REASON } from '../../src/events/reason.ts'
import { importNetwork } from '../../src/networks/import-network.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../../src/platform/time/timestamp.ts'
import { AUCTION_URL, startApi } from '../support/api.ts'
import { BROWSER } from '../support/app.ts'
import { makeCampaign, makeMerchant } from '../support/catalogue.ts'
import { withinOneDay } from '../support/one-day.ts'
import { ownMs } from '../support/process-time.ts'

type Row = Readonly<Record<string, string | number | null>>
interface Stats {
  readonly date: unknown
  readonly pub_id: number
  readonly stats: readonly Row[]
}

const PERSON = { 'user-agent': BROWSER }
let clockAheadMs = 0
await withinOneDay()
const api = await startApi({ after }, { now: () => Date.now() + clockAheadMs })
const ann = await api.account({ domains: ['daily.example'] })
const today = utcDay(new Date())
const tomorrow = utcDay(Date.now() + DAY_MS)
const path = (pubId: number | string = ann.pubId) =>
  `/api/v1/publishers/${pubId}/stats_by_article_merchant_daily/`
const ask = (query: string, key = ann.key, pubId: number | string = ann.pubId) =>
  api.call(`${path(pubId)}?${query}`, { key })
const rowsOf = async (query: string, account = ann): Promise<readonly Row[]> => {
  const answer = await ask(query, account.key, account.pubId)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Stats>().stats
}

const acme = await makeMerchant(api.db, {
  name: 'Acme',
  domain: 'acme.example',
  offers: [{ id: 'A-1', link: 'https://acme.example/kettle' }],
})
await api.untilKnown(await makeCampaign(api.db, acme.merchId))

/** An article of the publisher with one exclusive link to the merchant's product. */
async function makeArticle(
  name: string,
  account = ann,
  article_url = `https://daily.example/${name}`,
) {
  const body = { article_name: name, article_url, url: 'https://acme.example/kettle' }
  const exclusive_match_requested = true
  const answer = await api.call('/api/v1/smart_links/', {
    key: account.key,
    body: { ...body, exclusive_match_requested },
  })
  const link = answer.entry<{ auction_id: string; article: { article_id: number; url: string } }>()
  return { ...link.article, auctionId: link.auction_id }
}

/** One reader opens a page of the publisher. */
async function view(source_url: string, headers: Record<string, string> = PERSON) {
  const answer = await api.call('/api/v1/events/impressions/page_impression/', {
    headers,
    body: {
      organization_type: 'publisher',
      organization_id: ann.pubId,
      user: { page_session_uuid: randomUUID(), source_url },
      events: [{}],
    },
  })
  assert.equal(answer.status, 201, answer.text)
}

/** One reader's auction and click, after this delay; returns the redirect's answer. */
async function click(auctionId: string, afterMs = 310) {
  const asked = `/api/v1/auction/?a=${auctionId}&uuid=${randomUUID()}`
  const auction = await api.call(asked, { headers: PERSON })
  const { auction_result: result, impression_pixel_url: pixel } = auction.entry<{
    auction_result: { redirect_url: string }
    impression_pixel_url: string
  }>()
  clockAheadMs += afterMs
  const redirect = result.redirect_url.slice(AUCTION_URL.length)
  return { pixel: pixel.slice(AUCTION_URL.length), answer: await api.app.get(redirect) }
}

test('a row has every field with its type, and figures appear within 5 seconds', async () => {
  const article = await makeArticle('kettles')
  await view(article.url)
  await view(`${article.url}?utm_source=mail`)
  assert.equal((await click(article.auctionId)).answer.status, 302)
  const started = ownMs()
  let rows: readonly Row[] = []
  while (rows[0]?.clicks !== 1 || rows[0]?.impressions !== 2) {
    assert.ok(ownMs() - started < 5_000, JSON.stringify(rows))
    await sleep(50)
    rows = (await rowsOf(`date_from=${today}&date_to=${tomorrow}`)).filter(
      ({ article_id }) => article_id === article.article_id,
    )
  }
  assert.deepEqual(rows, [
    {
      advertiser_name: 'Acme',
      article_name: 'kettles',
      advertiser_attributed_sales: 0,
      pub_earnings: '0.45', // 75 % of the posted price of $0.60.
      article_id: article.article_id,
      article_url: article.url,
      merch_id: acme.merchId,
      impressions: 2,
      advertiser_attributed_revenue: '0.00',
      pub_id: ann.pubId,
      event_date: today,
      clicks: 1,
    },
  ])
})

test('the answer has the requested dates, the publisher and the rows, without an info envelope', async () => {
  const answer = await ask('date_from=2026-03-02T23:30:00-01:00&date_to=2026-03-05')
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json(), {
    date: { date_from: '2026-03-03 00:00:00', date_to: '2026-03-05 00:00:00' },
    pub_id: ann.pubId,
    stats: [],
  })
})

test('a page impression counts for its article, also one created later that day', async () => {
  const url = 'https://daily.example/later'
  await view('https://www.daily.example/later/#top')
  await view(url, { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' })
  await view(`${url}/other`)
  await api.app.untilFolded()
  const article = await makeArticle('later', ann, url)
  const rows = (await rowsOf(`date_from=${today}&date_to=${tomorrow}`)).filter(
    ({ article_id }) => article_id === article.article_id,
  )
  assert.deepEqual(
    rows.map(({ merch_id, advertiser_name, impressions, clicks }) => ({
      merch_id,
      advertiser_name,
      impressions,
      clicks,
    })),
    [{ merch_id: 0, advertiser_name: null, impressions: 1, clicks: 0 }],
  )
})

test("impressions before an article's first day are not its own", async () => {
  const article = await makeArticle('new')
  await api.db.run(sql`
    insert into page_day (pub_id, url_key, day, impressions)
    select pub_id, url_key, ${today}::date - days, 5 from article, unnest(array[0, 1]) as days
    where article_id = ${article.article_id}
  `)
  const yesterday = utcDay(Date.now() - DAY_MS)
  const rows = (await rowsOf(`date_from=${yesterday}&date_to=${today}`)).filter(
    ({ article_id }) => article_id === article.article_id,
  )
  assert.deepEqual(
    rows.map(({ event_date, impressions }) => [event_date, impressions]),
    [[today, 5]],
  )
})

test("a result's pixel creates a merchant row and is no page impression", async () => {
  const article = await makeArticle('pixel')
  await view(article.url)
  const { pixel } = await click(article.auctionId)
  const other = await makeArticle('only-pixel')
  const { pixel: otherPixel } = await click(other.auctionId)
  assert.equal((await api.app.get(pixel)).status, 200)
  assert.equal((await api.app.get(otherPixel)).status, 200)
  await api.app.untilFolded()
  const rows = await rowsOf(`date_from=${today}&date_to=${tomorrow}`)
  const figures = (id: number) =>
    rows
      .filter(({ article_id }) => article_id === id)
      .map(({ merch_id, impressions, clicks }) => [merch_id, impressions, clicks])
  assert.deepEqual(figures(article.article_id), [[acme.merchId, 1, 1]])
  assert.deepEqual(figures(other.article_id), [[acme.merchId, 0, 1]])

  // The placement belongs to the click's page session, under a key that reveals nothing.
  const sessions = await api.db.rows<{ type: number; session_key: Buffer }>(sql`
    select type, session_key from event
    where auction_id = ${other.auctionId} and type in (${EVENT_TYPE.placement}, ${EVENT_TYPE.click})
    order by type`)
  assert.deepEqual(
    sessions.map(({ type }) => type),
    [EVENT_TYPE.placement, EVENT_TYPE.click],
  )
  assert.deepEqual(sessions[0]?.session_key, sessions[1]?.session_key)
})

test('uncounted events create no row: robots, and a click that came too fast', async () => {
  const article = await makeArticle('robots')
  const link = `/${article.auctionId}`
  const robot = await api.app.get(link, { headers: { 'user-agent': 'curl/8.0' } })
  assert.equal(robot.status, 302)
  // A busy machine would be too slow for this; the difference is within nodes' clock errors.
  const { answer } = await click(article.auctionId, -4_000)
  clockAheadMs += 4_000
  assert.equal(answer.status, 302)
  await api.app.untilFolded()
  const unpaid = await api.db.rows<{ reason: number }>(sql`
    select click.reason from click join event on event.id = click.event_id
    where event.auction_id = ${article.auctionId} order by event.seq`)
  assert.deepEqual(unpaid, [{ reason: REASON.robot }, { reason: REASON.tooFast }])
  const rows = await rowsOf(`date_from=${today}&date_to=${tomorrow}`)
  assert.equal(rows.filter(({ article_id }) => article_id === article.article_id).length, 0)
})

const bob = await api.account()
const first = await makeArticle('first', bob, 'https://bob.example/1')
const second = await makeArticle('second', bob, 'https://bob.example/2')
/** Figures of two articles over four days of March, as the fold would write them. */
await api.db.run(sql`
  insert into stats_day (day, pub_id, article_id, merch_id, clicks, sales, revenue_micros,
    earnings_micros)
  select day, ${bob.pubId}::int, case when article = 1 then ${first.article_id}::int else
    ${second.article_id}::int end, merch_id, clicks, sales, revenue, earnings
  from (values
    (date '2026-03-01', 1, ${acme.merchId}::int, 1, 0, 0, 5000),
    (date '2026-03-02', 1, ${acme.merchId}::int, 7, 2, 9990000, 15000),
    (date '2026-03-02', 1, 0, 7, 0, 0, 0),
    (date '2026-03-02', 2, ${acme.merchId}::int, 7, -1, -9990000, -15000),
    (date '2026-03-03', 2, ${acme.merchId}::int, 7, 1, 1005000, 25000),
    (date '2026-03-04', 2, ${acme.merchId}::int, 3, 0, 0, 0)
  ) as figure (day, article, merch_id, clicks, sales, revenue, earnings)
`)
await api.db.run(sql`
  update article set datetime_created = '2026-03-01T10:00:00Z' where pub_id = ${bob.pubId}
`)
await api.db.run(sql`
  insert into page_day (pub_id, url_key, day, impressions)
  select pub_id, url_key, date '2026-03-02', 40 from article
  where article_id = ${first.article_id}
`)
const MARCH = 'date_from=2026-03-01&date_to=2026-03-31'
const shown = (rows: readonly Row[]) =>
  rows.map(({ event_date, article_id, merch_id }) => {
    const article = article_id === first.article_id ? 'first' : 'second'
    return `${String(event_date).slice(-1)} ${article} ${merch_id === 0 ? 'none' : 'acme'}`
  })

test('both days are inclusive, so one day is requested as (D, D+1) and returns both', async () => {
  const rows = await rowsOf('date_from=2026-03-02&date_to=2026-03-03', bob)
  assert.deepEqual([...new Set(rows.map(({ event_date }) => event_date))].toSorted(), [
    '2026-03-02',
    '2026-03-03',
  ])
})

test('amounts have two decimals, half to even, from micros, and corrections are negative on their own day', async () => {
  const rows = await rowsOf(`${MARCH}&order_by=+event_date`, bob)
  assert.deepEqual(
    rows.map((row) => [row.pub_earnings, row.advertiser_attributed_revenue]),
    [
      ['0.00', '0.00'],
      ['0.00', '0.00'],
      ['0.02', '9.99'],
      ['-0.02', '-9.99'],
      ['0.02', '1.00'],
      ['0.00', '0.00'],
    ],
  )
  assert.equal(rows[3]?.advertiser_attributed_sales, -1)
})

test('impressions are those of the article and day, on each of its rows', async () => {
  const rows = await rowsOf('date_from=2026-03-02&date_to=2026-03-03', bob)
  assert.deepEqual(
    rows.filter(({ impressions }) => impressions === 40).map(({ merch_id }) => merch_id),
    [0, acme.merchId],
  )
})

test('rows are ordered by clicks, ties by day descending, article and merchant', async () => {
  assert.deepEqual(shown(await rowsOf(MARCH, bob)), [
    '3 second acme',
    '2 first none',
    '2 first acme',
    '2 second acme',
    '4 second acme',
    '1 first acme',
  ])
})

test('order_by accepts every documented column, descending, and a sign sets the direction', async () => {
  const top = async (order: string) => shown(await rowsOf(`${MARCH}&order_by=${order}`, bob))[0]
  assert.equal(await top('article_id'), '4 second acme')
  assert.equal(await top('advertiser_attributed_sales'), '2 first acme')
  assert.equal(await top('pub_earnings'), '3 second acme')
  assert.equal(await top('merch_id'), '4 second acme')
  assert.equal(await top('impressions'), '2 first none')
  assert.equal(await top('advertiser_attributed_revenue'), '2 first acme')
  assert.equal(await top('event_date'), '4 second acme')
  assert.equal(await top('clicks'), '3 second acme')
  assert.equal(await top('-pub_earnings'), '3 second acme')
  assert.equal(await top('%2Bpub_earnings'), '2 second acme')
  assert.equal(await top('+pub_earnings'), '2 second acme')
  assert.equal(await top(''), '3 second acme', 'an empty parameter is the same as none')
})

test('limit keeps the first rows of their order', async () => {
  const all = await rowsOf(`${MARCH}&order_by=+event_date`, bob)
  for (const limit of [1, 2, 5]) {
    const some = await rowsOf(`${MARCH}&order_by=+event_date&limit=${limit}`, bob)
    assert.deepEqual(some, all.slice(0, limit))
  }
  assert.equal((await rowsOf(`${MARCH}&limit=10000`, bob)).length, 6)
})

test('every fault is named with its field', async () => {
  const refused: [string, string[]][] = [
    ['', ['date_from', 'date_to']],
    ['date_from=&date_to=', ['date_from', 'date_to']],
    ['date_from=2026-03-02&date_to=2026-03-02', ['date_to']],
    ['date_from=2026-03-03&date_to=2026-03-02', ['date_to']],
    ['date_from=2026-03-02T01:00:00Z&date_to=2026-03-02T23:00:00Z', ['date_to']],
    ['date_from=x&date_to=2026-02-30', ['date_from', 'date_to']],
    [`${MARCH}&limit=0`, ['limit']],
    [`${MARCH}&limit=10001`, ['limit']],
    [`${MARCH}&limit=-1`, ['limit']],
    [`${MARCH}&limit=1.5`, ['limit']],
    [`${MARCH}&limit=ten`, ['limit']],
    [`${MARCH}&order_by=article_name`, ['order_by']],
    [`${MARCH}&order_by=clicks;drop`, ['order_by']],
    [`${MARCH}&out_of_network=perhaps`, ['out_of_network']],
  ]
  for (const [query, fields] of refused) {
    const answer = await ask(query)
    assert.equal(answer.status, 400, query)
    assert.equal(answer.failure().code, 4000)
    assert.deepEqual(answer.failure().fields, fields, query)
  }
})

test('without a limit 10,000 rows are returned', async () => {
  const eve = await api.account()
  const article = await makeArticle('long', eve, 'https://eve.example/long')
  await api.db.run(sql`
    insert into stats_day (day, pub_id, article_id, merch_id, clicks, sales, revenue_micros,
      earnings_micros)
    select date '2020-01-01' + days, ${eve.pubId}::int, ${article.article_id}::int, merch_id, 1,
      0, 0, 0
    from generate_series(1, 101) as merch_id, generate_series(0, 99) as days`)
  const years = 'date_from=2020-01-01&date_to=2021-01-01'
  assert.equal((await rowsOf(years, eve)).length, 10_000)
})

test("out_of_network adds other networks' rows, and is off by default", async () => {
  const day = '2026-02-10'
  const { node } = api.app
  const { append } = node.appender
  const imported = await importNetwork(
    { db: api.db, append, nextId: () => node.ids.next(), now: node.now },
    {
      network: 'other',
      map: {
        date: ['day'],
        publisher: ['who'],
        advertiser: ['shop'],
        revenue: ['sold'],
        earnings: ['won'],
      },
      text: `day,who,shop,sold,won\n${day},${bob.publishers[0]?.slug},Elsewhere,20,1.50\n`,
    },
    (events) => append(events, { timeoutMs: 5_000 }),
  )
  assert.equal(imported.imported, 1)
  await api.app.untilFolded()
  const ask = (flag: string) =>
    rowsOf(`date_from=${day}&date_to=2026-02-11${flag}`, bob).then((rows) =>
      rows.map((row) => [row.advertiser_name, row.event_date, row.pub_earnings]),
    )
  for (const on of ['true', 'True', '1']) {
    assert.deepEqual(await ask(`&out_of_network=${on}`), [[null, day, '1.50']], on)
  }
  for (const off of ['', '&out_of_network=', '&out_of_network=false', '&out_of_network=0']) {
    assert.deepEqual(await ask(off), [], off)
  }
})

test("only the publisher's own key can read it", async () => {
  const other = await ask(MARCH, bob.key, ann.pubId)
  assert.deepEqual([other.status, other.failure().code], [403, 4303])
  const nobody = await ask(MARCH, ann.key, 999_999)
  assert.deepEqual([nobody.status, nobody.failure().code], [404, 4040])
  assert.equal((await api.call(`${path()}?${MARCH}`)).failure().code, 4302)
  assert.deepEqual((await ask(MARCH, ann.key, 'abc')).failure().fields, ['pub_id'])
})
