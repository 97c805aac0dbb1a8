import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { startQuietHttp } from '../../test/support/quiet-http.ts'
import { operationRoutes } from '../accounts/operation-routes.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { EVENT_TYPE, MODEL, type StoredEvent, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { insertSmartLink } from '../links/store.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import { breakdownOperations } from './breakdown-operations.ts'
import { statsRoutes } from './routes.ts'

const scope = { after }
const db = await testDatabase(scope)
const log = openFoldedLog(scope, db)
const world = await makePublisherWorld(db)
const { pub_id: pubId, uid } = world.publisher
const { merch_id: merchId } = world.merchant
const http = await startQuietHttp(scope as never)
const now = () => new Date()
const keys = makeKeyGuard({ db, brandWords: ['service'], limits: null, baseUrl: 'http://x', now })
await http.register(operationRoutes({ db, keys, now }, breakdownOperations))
await http.register(statsRoutes({ db, keys }))

type Row = Readonly<Record<string, string | number | null>>
const get = async (path: string) => {
  const url = `/api/v1/publishers/${pubId}/${path}`
  const answer = await http.inject({ url, headers: world.headers })
  return { status: answer.statusCode, json: answer.json() }
}
const DAYS = 'date_from=2026-03-01&date_to=2026-03-10'
const breakdown = async (query: string): Promise<Row[]> => {
  const { status, json } = await get(`breakdown/?${query}`)
  assert.equal(status, 200, JSON.stringify(json))
  return json.data
}
const sum = (rows: readonly Row[], column: string) =>
  Math.round(rows.reduce((total, row) => total + Number(row[column]), 0) * 100) / 100

const events = new MoneyEvents()
const articles = await Promise.all(['One', 'Two', 'Three'].map((name) => world.addArticle(name)))
const START = Date.UTC(2026, 2, 2)
const HOUR = 3_600_000
/** Clicks every 31 minutes over four days, of all kinds. */
const clicks = Array.from({ length: 180 }, (_, at) => {
  const article = articles[at % articles.length]
  return events.click(`c${at}`, START + at * 31 * 60_000, {
    auctionId: article?.auctionId ?? '',
    ...{ pubId, merchId: at % 4 === 0 ? 0 : merchId, model: MODEL.cpa, termsAmount: 100_000 },
    ...{ sharePpm: 750_000, device: at % 3, country: at % 2 === 0 ? 'DE' : 'IN' },
    ...{ u1: at % 5 === 0 ? 'mail' : null, reason: at % 7 === 6 ? REASON.robot : REASON.ok },
    ...{ campaignId: null, leaseId: null, offerId: null },
  })
})
const view = (url: string, session: string, atMs: number): StoredEvent =>
  events.at(atMs, {
    type: EVENT_TYPE.pageImpression,
    ...{ lane: viewLane(pubId), pubId, sessionKey: Buffer.from(session.padEnd(16)) },
    urlKey: keyOfUrl(new URL(url)),
  })
const views = Array.from({ length: 300 }, (_, at) =>
  view(articles[at % 2]?.url ?? '', `s${at}`, START + at * 17 * 60_000),
)
const order = (name: string, click: string, atMs: number) =>
  events.order(name, atMs, { click, merchId })
await log.record(
  ...clicks.slice(0, 100),
  ...views,
  order('o1', 'c1', START + 60 * HOUR),
  order('o2', 'c2', START + 61 * HOUR),
)
await log.record(
  ...clicks.slice(100),
  { ...events.goodsBack('o1', START + 80 * HOUR, { quantity: 1 }), merchId },
  order('o3', 'c101', START + 90 * HOUR),
  events.at(START + 95 * HOUR, {
    type: EVENT_TYPE.reversal,
    body: JSON.stringify({ click_id: clickId('c5'), reason: 'test' }),
  }),
)

const GROUPS = [
  ...['day', 'hour', 'article', 'link', 'merchant', 'product', 'device', 'country', 'u1'],
]

test('every breakdown adds up to the daily statistics', async () => {
  const { stats } = (
    await get('stats_by_article_merchant_daily/?date_from=2026-03-01&date_to=2026-03-10')
  ).json
  assert.ok(sum(stats, 'pub_earnings') > 0 && sum(stats, 'clicks') > 0)
  const many = 'date_from=2026-02-20&date_to=2026-04-01' // Has totals of 28 days.
  for (const group of GROUPS) {
    const rows = await breakdown(`${DAYS}&group_by=${group}&limit=500`)
    assert.ok(rows.length > 0, group)
    if (group !== 'day' && group !== 'hour')
      assert.deepEqual(await breakdown(`${many}&group_by=${group}&limit=500`), rows, group)
    assert.equal(sum(rows, 'clicks'), sum(stats, 'clicks'), group)
    assert.equal(sum(rows, 'orders'), sum(stats, 'advertiser_attributed_sales'), group)
    assert.equal(sum(rows, 'revenue'), sum(stats, 'advertiser_attributed_revenue'), group)
    const cents = Math.abs(sum(rows, 'earnings') - sum(stats, 'pub_earnings'))
    assert.ok(cents < 0.05, `${group}: the statistics round each row to cents`)
    assert.equal(sum(rows, 'invalid_clicks'), clicks.filter(isInvalid).length + 1, group)
  }
  const byDay = await breakdown(`${DAYS}&group_by=day`)
  assert.equal(byDay.length, 10)
  for (const { day, page_views } of byDay) {
    const ofDay = stats.filter((row: Row) => row.event_date === day)
    const byArticle = new Map(ofDay.map((row: Row) => [row.article_id, Number(row.impressions)]))
    assert.equal(
      page_views,
      [...byArticle.values()].reduce<number>((all, n) => all + Number(n), 0),
    )
  }
})
const isInvalid = ({ reason }: StoredEvent) => reason !== REASON.ok

const ZONES = ['UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Kiritimati']
const localDay = (atMs: number, timeZone: string) =>
  new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' }).format(atMs)

test('a day begins at midnight in any time zone, also with half an hour', async () => {
  for (const zone of ZONES) {
    const isIn = ({ atMs }: StoredEvent) => {
      const day = localDay(atMs, zone)
      return day >= '2026-03-03' && day <= '2026-03-04'
    }
    const range = `date_from=2026-03-03&date_to=2026-03-04&time_zone=${zone}`
    const wanted = clicks.filter(isIn)
    const valid = wanted.filter((click) => !isInvalid(click)).length
    for (const group of GROUPS) {
      const rows = await breakdown(`${range}&group_by=${group}`)
      assert.equal(sum(rows, 'clicks'), valid, `${zone} ${group}`)
      assert.equal(sum(rows, 'invalid_clicks'), wanted.length - valid, `${zone} ${group}`)
      const viewed = ['day', 'hour', 'article'].includes(group) ? views.filter(isIn).length : 0
      assert.equal(sum(rows, 'page_views'), viewed, `${zone} ${group}`)
      if (viewed === 0) assert.ok(rows.every(({ page_views }) => page_views === null))
    }
    const days = await breakdown(`${range}&group_by=day`)
    for (const { day, clicks: counted } of days) {
      const ofDay = wanted.filter(
        (click) => !isInvalid(click) && localDay(click.atMs, zone) === day,
      )
      assert.equal(counted, ofDay.length, `${zone} ${day}`)
    }
  }
})

test('filters on any property combine with any group', async () => {
  const filters: [string, (click: StoredEvent) => boolean][] = [
    ['device=mobile', ({ device }) => device === 2],
    ['country=in', ({ country }) => country === 'IN'],
    ['u1=mail', ({ u1 }) => u1 === 'mail'],
    [`link=${articles[1]?.auctionId}`, ({ auctionId }) => auctionId === articles[1]?.auctionId],
    [`article=${articles[1]?.articleId}`, ({ auctionId }) => auctionId === articles[1]?.auctionId],
    [`merchant=${merchId}`, (click) => click.merchId === merchId],
    ['device=mobile&country=DE', ({ device, country }) => device === 2 && country === 'DE'],
  ]
  for (const [filter, isWanted] of filters) {
    const wanted = clicks.filter((click) => !isInvalid(click) && isWanted(click)).length
    // Click c5 was reversed.
    const reversed = Number(isWanted(clicks[5] as StoredEvent))
    for (const group of GROUPS) {
      const rows = await breakdown(`${DAYS}&group_by=${group}&${filter}&limit=500`)
      assert.equal(sum(rows, 'clicks'), wanted - reversed, `${filter} ${group}`)
    }
  }
})

test('rows are compared with the days before, and with the year before', async () => {
  const two = 'date_from=2026-03-04&date_to=2026-03-05'
  const before = await breakdown('date_from=2026-03-02&date_to=2026-03-03&group_by=day')
  const days = await breakdown(`${two}&group_by=day&compare=previous`)
  assert.deepEqual(
    days.map((row) => [row.compared_clicks, row.compared_page_views, row.compared_earnings]),
    before.map((row) => [row.clicks, row.page_views, row.earnings]),
  )
  for (const group of GROUPS) {
    const rows = await breakdown(`${two}&group_by=${group}&compare=previous`)
    assert.equal(sum(rows, 'compared_clicks'), sum(before, 'clicks'), group)
  }
  const year = 'date_from=2027-03-02&date_to=2027-03-03&compare=year'
  const yearly = await breakdown(`${year}&group_by=merchant`)
  assert.equal(sum(yearly, 'compared_clicks'), sum(before, 'clicks'))
  assert.equal(sum(yearly, 'clicks'), 0)
  const plain = await breakdown(`${two}&group_by=device`)
  assert.ok(plain.every((row) => row.compared_clicks === null))
})

test('pages and a CSV file have all rows', async () => {
  const all = await breakdown(`${DAYS}&group_by=hour&limit=500`)
  const first = (await get(`breakdown/?${DAYS}&group_by=hour&limit=100`)).json
  const second = (
    await get(`breakdown/?${DAYS}&group_by=hour&limit=100&cursor=${first.next_cursor}`)
  ).json
  assert.deepEqual([...first.data, ...second.data], all.slice(0, 200))
  const url = `/api/v1/publishers/${pubId}/breakdown/?${DAYS}&group_by=hour`
  const csv = await http.inject({ url, headers: { ...world.headers, accept: 'text/csv' } })
  assert.equal(csv.body.trim().split('\n').length, 1 + all.length)
})

test('a wrong query names its field', async () => {
  const good = `${DAYS}&group_by=day`
  const wrong = {
    ...{ date_from: 'x', date_to: '2026-02-01', group_by: 'shop', time_zone: 'Mars/Base' },
    ...{ compare: 'month', article: 'x', link: '-1', device: 'tv', country: 'Germany' },
    cursor: 'x',
  }
  for (const [field, value] of Object.entries(wrong)) {
    const query = new URLSearchParams(good)
    query.set(field, value)
    const { status, json } = await get(`breakdown/?${query}`)
    assert.equal(status, 400, field)
    assert.deepEqual(
      json.error.data.map((fault: { field: string }) => fault.field),
      [field],
    )
  }
  const { status } = await get('breakdown/?date_from=2020-01-01&date_to=2026-03-01&group_by=day')
  assert.equal(status, 400)
})

test('views count from the day of their article, also those before it was created', async () => {
  const url = 'https://gazette.example/late'
  const day = Date.UTC(2026, 3, 2)
  await log.record(
    view(url, 'x', day - HOUR),
    view(url, 'y', day + HOUR),
    view(url, 'z', day + 2 * HOUR),
  )
  const article = {
    ...{ pubId, uid, url, urlKey: keyOfUrl(new URL(url)), name: 'Late', publicationDate: null },
    ...{ at: new Date(day + 9 * HOUR), isTrusted: true },
  }
  await insertSmartLink(db, {
    article,
    url: null,
    isExclusive: false,
    auctionId: '9200000000000001',
  })
  await log.record(view(url, 'u', day + 10 * HOUR))
  const april = 'date_from=2026-04-01&date_to=2026-04-03'
  const days = await breakdown(`${april}&group_by=day`)
  assert.deepEqual(
    days.map((row) => row.page_views),
    [0, 3, 0],
  )
  const [row] = await breakdown(`${april}&group_by=article`)
  assert.deepEqual([row?.name, row?.page_views], ['Late', 3])
})
