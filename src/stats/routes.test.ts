import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { clickId, MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { startQuietHttp } from '../../test/support/quiet-http.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { EVENT_TYPE, MODEL, type StoredEvent, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { foldMoney } from '../fold/fold-money.ts'
import { foldViews } from '../fold/fold-views.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { statsRoutes } from './routes.ts'
import type { StatsRow } from './schema.ts'

async function start(t: TestContext) {
  const db = await testDatabase(t)
  const world = await makePublisherWorld(db)
  const { publisher, merchant } = world
  const http = await startQuietHttp(t)
  const keys = makeKeyGuard({
    db,
    brandWords: ['service'],
    limits: null,
    baseUrl: 'http://127.0.0.1',
    now: () => new Date(),
  })
  await http.register(statsRoutes({ db, keys }))
  const events = new MoneyEvents()
  const path = `/api/v1/publishers/${publisher.pub_id}/stats_by_article_merchant_daily/`
  const get = async (query: string, headers: object = world.headers) => {
    const answer = await http.inject({ url: path + query, headers: { ...headers } })
    return { status: answer.statusCode, json: answer.json() }
  }
  return {
    ...world,
    db,
    http,
    events,
    get,
    rows: async (query = ''): Promise<StatsRow[]> =>
      (await get(`?date_from=2026-03-01&date_to=2026-03-31${query}`)).json.stats,
    click: (name: string, auctionId: string, atMs = START_MS, fields: Partial<StoredEvent> = {}) =>
      events.click(name, atMs, {
        auctionId,
        pubId: publisher.pub_id,
        merchId: merchant.merch_id,
        model: MODEL.cpc,
        termsAmount: 400_000,
        reservedMicros: 400_000,
        sharePpm: 750_000,
        ...fields,
      }),
    view: (url: string, session: string, atMs = START_MS, fields: Partial<StoredEvent> = {}) =>
      events.at(atMs, {
        type: EVENT_TYPE.pageImpression,
        lane: viewLane(publisher.pub_id),
        pubId: publisher.pub_id,
        sessionKey: Buffer.from(session.padEnd(16)),
        urlKey: keyOfUrl(new URL(url)),
        ...fields,
      }),
    money: (...batch: StoredEvent[]) => db.transaction((tx) => foldMoney(tx, batch)),
    views: (...batch: StoredEvent[]) => db.transaction((tx) => foldViews(tx, batch)),
  }
}

test('a row has the documented columns: clicks, sales, revenue and earnings of all models', async (t) => {
  const s = await start(t)
  const article = await s.addArticle('Ten mugs')
  await s.views(s.view(article.url, 'a'), s.view(article.url, 'b'), s.view(article.url, 'a'))
  const { merch_id: merchId } = s.merchant
  const cpa = { model: MODEL.cpa, termsAmount: 100_000 }
  await s.money(
    s.click('a', article.auctionId),
    s.click('b', article.auctionId, START_MS, cpa),
    s.events.order('o1', START_MS, { click: 'b', merchId }),
  )
  const answer = await s.get('?date_from=2026-03-02&date_to=2026-03-03')
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json, {
    date: { date_from: '2026-03-02 00:00:00', date_to: '2026-03-03 00:00:00' },
    pub_id: s.publisher.pub_id,
    stats: [
      {
        advertiser_name: s.merchant.name,
        article_name: 'Ten mugs',
        advertiser_attributed_sales: 1,
        pub_earnings: '41.55', // 0.30 for the paid click, 75 % of 10 % of 550
        article_id: article.articleId,
        article_url: article.url,
        merch_id: merchId,
        impressions: 2,
        advertiser_attributed_revenue: '550.00',
        pub_id: s.publisher.pub_id,
        event_date: '2026-03-02',
        clicks: 2,
      },
    ],
  })
})

test('an article that was viewed but not clicked has its own row, unless only robots viewed it', async (t) => {
  const s = await start(t)
  const seen = await s.addArticle('Seen')
  const robots = await s.addArticle('Robots')
  await s.views(s.view(seen.url, 'a'), s.view(robots.url, 'b', START_MS, { reason: REASON.robot }))
  await s.money(s.click('a', robots.auctionId, START_MS, { reason: REASON.robot }))
  const rows = await s.rows()
  assert.equal(rows.length, 1)
  assert.equal(rows[0]?.article_id, seen.articleId)
  assert.deepEqual([rows[0]?.merch_id, rows[0]?.advertiser_name], [0, null])
  assert.equal(rows[0]?.impressions, 1)
})

test('a click reversed on its own day leaves a row of zeros, also in as_of', async (t) => {
  const s = await start(t)
  const { auctionId, articleId } = await s.addArticle('Ten mugs')
  const { merch_id: merchId } = s.merchant
  const reversalOf = (name: string, atMs: number) =>
    s.events.at(atMs, {
      type: EVENT_TYPE.reversal,
      body: JSON.stringify({ click_id: clickId(name), reason: 'test' }),
    })
  await s.money(
    s.click('robot', auctionId, START_MS, { reason: REASON.robot }),
    s.click('a', auctionId, START_MS, { model: MODEL.cpa, termsAmount: 100_000 }),
    s.events.order('o1', START_MS, { click: 'a', merchId }),
    { ...s.events.goodsBack('o1', START_MS, { quantity: 5 }), merchId },
    reversalOf('a', START_MS),
    // A robot's click never counted, so the day of its reversal has no row.
    reversalOf('robot', START_MS + DAY_MS),
  )
  const rows = await s.rows()
  assert.deepEqual(
    rows.map((row) => [row.event_date, row.article_id, row.merch_id, row.clicks, row.pub_earnings]),
    [['2026-03-02', articleId, merchId, 0, '0.00']],
  )
  assert.equal(rows[0]?.advertiser_attributed_sales, 0)
  assert.deepEqual(await s.rows('&as_of=2100-01-01'), rows)
})

test('views of a page before its article was created count once the article exists', async (t) => {
  const s = await start(t)
  await s.views(s.view('https://www.gazette.example/Late/?utm_source=x', 'a'))
  assert.deepEqual(await s.rows(), [])
  await s.addArticle('Late')
  assert.equal((await s.rows())[0]?.impressions, 1)
})

test('a sale counts on the order’s day and a return on its own', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Ten mugs')
  const { merch_id: merchId } = s.merchant
  await s.money(
    s.click('a', auctionId, START_MS, { model: MODEL.cpa, termsAmount: 100_000 }),
    s.events.order('o1', START_MS + DAY_MS, { click: 'a', merchId }),
    { ...s.events.goodsBack('o1', START_MS + 2 * DAY_MS, { quantity: 2 }), merchId },
  )
  const rows = await s.rows('&order_by=+event_date')
  assert.deepEqual(
    rows.map((row) => [row.event_date, row.clicks, row.advertiser_attributed_sales]),
    [
      ['2026-03-02', 1, 0],
      ['2026-03-03', 0, 1],
      ['2026-03-04', 0, 0],
    ],
  )
  assert.deepEqual(
    rows.map((row) => [row.advertiser_attributed_revenue, row.pub_earnings]),
    [
      ['0.00', '0.00'],
      ['550.00', '41.25'],
      ['-200.00', '-15.00'],
    ],
  )
})

test('a sum larger than a single amount can be is exact', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Ten yachts')
  const { merch_id: merchId } = s.merchant
  const order = (id: string) =>
    s.events.order(id, START_MS, {
      ...{ click: 'a', merchId },
      report: { value_micros: Number.MAX_SAFE_INTEGER },
    })
  await s.money(
    s.click('a', auctionId, START_MS, { model: MODEL.cpa, termsAmount: 100_000 }),
    order('o1'),
    order('o2'),
    order('o3'),
  )
  const [row] = await s.rows('&order_by=advertiser_attributed_revenue')
  assert.equal(row?.advertiser_attributed_revenue, '27021597764.22')
})

test('returns rows in the requested order, ties by day, article and merchant', async (t) => {
  const s = await start(t)
  const [one, two] = [await s.addArticle('One'), await s.addArticle('Two')]
  await s.money(
    s.click('a', two.auctionId),
    s.click('b', one.auctionId),
    s.click('c', one.auctionId, START_MS + DAY_MS),
    s.click('d', two.auctionId, START_MS + DAY_MS),
    s.click('e', two.auctionId, START_MS + DAY_MS),
  )
  const order = async (query: string) =>
    (await s.rows(query)).map((row) => `${row.event_date.slice(-1)} ${row.article_name}`)
  assert.deepEqual(await order(''), ['3 Two', '3 One', '2 One', '2 Two'])
  assert.deepEqual(await order('&order_by=-clicks'), await order(''))
  assert.deepEqual(await order('&order_by=%2Bclicks'), ['3 One', '2 One', '2 Two', '3 Two'])
  assert.deepEqual(await order('&order_by=article_id'), ['3 Two', '2 Two', '3 One', '2 One'])
  assert.deepEqual(await order('&limit=2'), ['3 Two', '3 One'])
})

test('rows that show the same amount are a tie, whatever their exact values', async (t) => {
  const s = await start(t)
  const [one, two] = [await s.addArticle('One'), await s.addArticle('Two')]
  await s.views(s.view((await s.addArticle('Seen')).url, 'a'))
  await s.money(
    s.click('a', one.auctionId, START_MS, { termsAmount: 400_000 }),
    s.click('b', two.auctionId, START_MS, { termsAmount: 401_000 }),
    s.click('c', two.auctionId, START_MS - DAY_MS, { termsAmount: 1_000 }),
  )
  const order = async (query: string) =>
    (await s.rows(`&order_by=${query}`)).map(
      (row) => `${row.event_date.slice(-1)} ${row.article_name} ${row.pub_earnings}`,
    )
  const ranked = ['2 One 0.30', '2 Two 0.30', '2 Seen 0.00', '1 Two 0.00']
  assert.deepEqual(await order('pub_earnings'), ranked)
  assert.deepEqual(await order('pub_earnings&limit=1'), ranked.slice(0, 1))
  assert.deepEqual(await order('pub_earnings&limit=3'), ranked.slice(0, 3))
})

test('refuses invalid parameters by name, a foreign publisher with 403, an unknown one with 404', async (t) => {
  const s = await start(t)
  const days = '?date_from=2026-03-01&date_to=2026-03-31'
  const wrong: [string, string][] = [
    ['?date_to=2026-03-31', 'date_from'],
    ['?date_from=2026-03-31', 'date_to'],
    ['?date_from=2026-03-31&date_to=2026-03-31', 'date_to'],
    ['?date_from=2026-03-31T00:00:00Z&date_to=2026-03-31T23:00:00Z', 'date_to'],
    ['?date_from=2026-02-30&date_to=2026-03-31', 'date_from'],
    ['?date_from=yesterday&date_to=2026-03-31', 'date_from'],
    [`${days}&limit=0`, 'limit'],
    [`${days}&limit=10001`, 'limit'],
    [`${days}&limit=1e3`, 'limit'],
    [`${days}&order_by=pub_id`, 'order_by'],
    [`${days}&order_by=--clicks`, 'order_by'],
    [`${days}&out_of_network=maybe`, 'out_of_network'],
    [`${days}&as_of=now`, 'as_of'],
    ['changes/?since=2026-03-01&cursor=7', 'cursor'],
    ['changes/?since=2026-03-01&cursor=0.0.0.0.0.0.0.0.0.-1', 'cursor'],
    ['changes/?since=2026-03-01&cursor=0.0.0.0.0.0.0.0.0.0.0', 'cursor'],
    [`changes/?since=2026-03-01&cursor=0.0.0.0.0.0.0.0.0.${'9'.repeat(17)}`, 'cursor'],
  ]
  for (const [query, field] of wrong) {
    const { status, json } = await s.get(query)
    assert.equal(status, 400, query)
    assert.ok(
      json.error.data.some((fault: { field: string }) => fault.field === field),
      `${query}: ${JSON.stringify(json.error.data)}`,
    )
  }
  const highest = new Array(10).fill('9'.repeat(16)).join('.')
  assert.equal((await s.get(`changes/?since=2026-03-01&cursor=${highest}`)).status, 200)
  assert.equal((await s.get(days, {})).json.error.code, 4302)
  const other = await makePublisherWorld(s.db, 'other')
  assert.equal((await s.get(days, other.headers)).json.error.code, 4303)
  const none = await s.http.inject({
    url: `/api/v1/publishers/999999/stats_by_article_merchant_daily/${days}`,
    headers: s.headers,
  })
  assert.equal(none.json().error.code, 4040)
})

test('as_of returns the report at that time, and changes explain the differences since', async (t) => {
  const s = await start(t)
  const { auctionId, articleId, url } = await s.addArticle('Ten mugs')
  const { merch_id: merchId } = s.merchant
  const click = s.click('a', auctionId, START_MS, { model: MODEL.cpa, termsAmount: 100_000 })
  const view = s.view(url, 'a')
  await s.db.run(sql`
    insert into event (day, id, lane, type, at, pub_id, session_key, url_key)
    values (${view.day}, ${view.id}, ${view.lane}, ${view.type}, ${new Date(view.atMs)},
      ${view.pubId}, ${view.sessionKey}, ${view.urlKey})`)
  await s.views(view)
  await s.money(click)
  const then = new Date()
  const before = await s.rows()
  const order = s.events.order('o1', START_MS, { click: 'a', merchId })
  await new Promise((resolve) => setTimeout(resolve, 5)) // The database's clock must have advanced.
  await s.money(order)
  assert.equal((await s.rows())[0]?.advertiser_attributed_sales, 1)
  assert.deepEqual(await s.rows(`&as_of=${then.toISOString()}`), before)
  assert.deepEqual(await s.rows('&as_of=2000-01-01'), [])

  const answer = await s.get(`changes/?since=${then.toISOString()}`)
  assert.equal(answer.json.changes.length, 1)
  const { change_id, changed_at, ...change } = answer.json.changes[0]
  assert.ok(change_id !== '' && changed_at !== '')
  assert.deepEqual(change, {
    cause: 'order',
    event_ids: [order.id],
    event_date: '2026-03-02',
    article_id: articleId,
    merch_id: merchId,
    clicks: 0,
    advertiser_attributed_sales: 1,
    advertiser_attributed_revenue: '550.00',
    pub_earnings: '41.25',
  })
  const page = await s.get('changes/?since=2000-01-01&limit=1')
  assert.deepEqual(page.json.changes[0].event_ids, [click.id])
  assert.equal(page.json.impressions[0].impressions, 1)
  const rest = await s.get(`changes/?since=2000-01-01&limit=1&cursor=${page.json.next}`)
  assert.deepEqual(rest.json.changes[0].event_ids, [order.id])
})

test('the pages of changes list every article-day with changed impressions once', async (t) => {
  const s = await start(t)
  const made = await Promise.all(['1', '2', '3', '4', '5'].map((name) => s.addArticle(name)))
  const articles = made.toSorted((one, other) => one.articleId - other.articleId)
  await s.views(...articles.map(({ url }) => s.view(url, url)))
  await s.views(...articles.map(({ url }) => s.view(url, `late ${url}`, START_MS + DAY_MS)))
  await s.money(s.click('a', articles[0]?.auctionId ?? ''))
  const seen: string[] = []
  const changes: string[] = []
  for (let next: string | null = ''; next !== null; ) {
    const cursor: string = next === '' ? '' : `&cursor=${next}`
    const { json } = await s.get(`changes/?since=2000-01-01&limit=2${cursor}`)
    assert.ok(json.impressions.length <= 2)
    for (const row of json.impressions) seen.push(`${row.event_date} ${row.article_id}`)
    changes.push(...json.changes.map((row: { change_id: string }) => row.change_id))
    next = json.next
  }
  const days = ['2026-03-02', '2026-03-03']
  const wanted = days.flatMap((day) => articles.map(({ articleId }) => `${day} ${articleId}`))
  assert.deepEqual(seen, wanted)
  assert.equal(changes.length, 1)
})

test('impressions that appear because their article was created are among the changes', async (t) => {
  const s = await start(t)
  await s.views(s.view('https://gazette.example/Late', 'a'))
  const { articleId } = await s.addArticle('Late')
  await s.db.run(sql`
    update article set datetime_created = '2026-03-02T23:00:00Z' where article_id = ${articleId}`)
  await s.db.run(sql`update page_day set changed_at = '2026-03-02T12:00:00Z'`)
  const answer = await s.get('changes/?since=2026-03-02T22:00:00Z')
  assert.deepEqual(answer.json.impressions, [
    {
      changed_at: '2026-03-02T23:00:00Z',
      cause: 'impression',
      event_ids: [],
      event_date: '2026-03-02',
      article_id: articleId,
      impressions: 1,
    },
  ])
  assert.deepEqual((await s.get('changes/?since=2026-03-02T23:00:01Z')).json.impressions, [])
})

test('robots’ views are not among the changes of impressions', async (t) => {
  const s = await start(t)
  const [seen, unseen] = [await s.addArticle('Seen'), await s.addArticle('Unseen')]
  await s.views(s.view(seen.url, 'a'))
  await s.db.run(sql`update page_day set changed_at = '2026-03-02T12:00:00Z'`)
  const robot = { reason: REASON.robot }
  await s.views(...[seen, unseen].map(({ url }) => s.view(url, `robot ${url}`, START_MS, robot)))
  assert.deepEqual((await s.get('changes/?since=2026-03-03')).json.impressions, [])
  await s.views(s.view(seen.url, 'b'))
  const [change] = (await s.get('changes/?since=2026-03-03')).json.impressions
  assert.deepEqual([change.article_id, change.impressions], [seen.articleId, 2])
})
