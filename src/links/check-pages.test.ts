import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { guardedAgent } from '../platform/net/fetch-guard.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { checkPages } from './check-pages.ts'
import { afterCheck, verdictOf } from './page-check.ts'

const asked: { readonly method: string; readonly path: string; readonly atMs: number }[] = []
let nowMs = Date.UTC(2026, 2, 2, 12)
const statuses: Record<string, number> = { '/ok': 200, '/gone': 404, '/shy': 403, '/head': 405 }
const server = createServer(({ method = '', url = '' }, response) => {
  asked.push({ method, path: url, atMs: nowMs })
  if (url === '/robots.txt') {
    response.end('User-agent: *\nDisallow: /private')
  } else if (url === '/moved') {
    response.writeHead(301, { location: '/gone' }).end()
  } else {
    const isHeadOnly = url === '/head' && method === 'GET'
    response.writeHead(isHeadOnly ? 200 : (statuses[url] ?? 200)).end()
  }
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => server.close())
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const db = await testDatabase({ after })
const world = await makePublisherWorld(db)
const links = new Map<string, string>()
for (const path of ['/ok', '/gone', '/shy', '/head', '/moved', '/private']) {
  const { auctionId } = await world.addArticle(path, base + path)
  links.set(path, auctionId)
  await db.run(sql`
    insert into figure_day (pub_id, property, day, value, clicks, invalid_clicks, orders,
      revenue_micros, earnings_micros)
    values (${world.publisher.pub_id}, 'link', '2026-03-02', ${auctionId}, 1, 0, 0, 0, 100000)`)
}
const agent = guardedAgent({ allowPrivate: true })
after(() => agent.close())
const check = () =>
  checkPages({
    ...{ db, agent, now: () => new Date(nowMs) },
    sleep: async (ms) => {
      nowMs += ms
    },
  })
const deadPaths = async () => {
  const rows = await db.rows<{ url: string }>(sql`
    select url from link_check where dead_since is not null order by url`)
  return rows.map(({ url }) => new URL(url).pathname)
}

test('a page is dead after two failures an hour apart, and each page is checked once a day', async () => {
  assert.equal(await check(), 6)
  assert.deepEqual(await deadPaths(), [])
  assert.equal(await check(), 0, 'nothing is due')
  nowMs += HOUR_MS
  assert.equal(await check(), 2, 'the two that failed')
  assert.deepEqual(await deadPaths(), ['/gone', '/moved'])
  statuses['/gone'] = 200
  nowMs += DAY_MS
  await check()
  assert.deepEqual(await deadPaths(), [])
})

test('a host is asked once a second, by HEAD first, and where its robots.txt allows it', () => {
  assert.ok(asked.every(({ path }) => path !== '/private'))
  assert.equal(asked[0]?.path, '/robots.txt')
  const first = asked.find(({ path }) => path === '/ok')
  assert.equal(first?.method, 'HEAD')
  for (const [at, { atMs }] of asked.entries()) {
    const before = asked[at - 1]
    if (before !== undefined) assert.ok(atMs - before.atMs >= 1_000, `request ${at}`)
  }
})

test('a host without a public address is not asked, and its pages are not dead', async () => {
  const guarded = guardedAgent({ allowPrivate: false })
  const before = asked.length
  nowMs += 2 * DAY_MS
  await db.run(sql`update figure_day set day = ${new Date(nowMs)}`)
  for (let run = 0; run < 2; run += 1) {
    await checkPages({
      db,
      agent: guarded,
      now: () => new Date(nowMs),
      sleep: async () => undefined,
    })
    nowMs += DAY_MS
  }
  await guarded.close()
  assert.equal(asked.length, before)
  assert.deepEqual(await deadPaths(), [])
})

test('only missing pages and failing servers are failures', () => {
  const kinds = [200, 302, 401, 403, 404, 410, 429, 500, 503].map(
    (status) => verdictOf(status).kind,
  )
  assert.deepEqual(kinds, [
    ...['there', 'there', 'unknown', 'unknown', 'gone', 'gone', 'unknown', 'gone', 'gone'],
  ])
  const now = new Date(nowMs)
  const failed = afterCheck({ failedAt: null, deadSince: null }, { kind: 'gone', detail: 'x' }, now)
  assert.deepEqual([failed.deadSince, failed.dueAt.getTime()], [null, nowMs + HOUR_MS])
})
