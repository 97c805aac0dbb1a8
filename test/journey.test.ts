/**
 * The main job from end to end: commands, a feed, HTTP, and the statistics, with the server and
 * PostgreSQL killed on the way.
 */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS, utcDay } from '../src/platform/time/timestamp.ts'
import { BROWSER } from './support/app.ts'
import { freePort } from './support/free-port.ts'
import { type Environment, serve, souk } from './support/souk.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const FEED = `id,title,link,price,availability,gtin,brand,image_link
K-1,"Stagwell Kettle, 0.9 L",https://www.kettles.example/p/k-1?utm_source=feed,49.99 USD,in stock,9521000000018,Ostrava,https://img.example/k1.jpg
K-2,Plume Kettle,https://www.kettles.example/p/k-2,89.00 USD,in stock,9521000000025,Ostrava,
`

test('a feed becomes offers, a link is auctioned, clicked, paid and counted, across kill -9', async (t) => {
  const dataDir = await temporaryFolder(t, 'souk journey ') // With a space in it.
  const env = { SOUK_DATA: dataDir, PORT: String(await freePort()), LOG_LEVEL: 'error' }
  const { key, pubId, merchId } = await makeNetwork(env, dataDir)

  let server = await serve(env)
  // Stopped instead of killed at the end, so that its PostgreSQL stops as well.
  t.after(() => server.stop())
  const created = await createLink(server.url, key)
  const first = await auction(server.url, created.auction_id)
  assert.equal(first.auction_result.product.price, '49.99')
  assert.equal(first.auction_result.product.merchant.id, merchId)
  await sleep(320) // The service treats a click within 300 ms as a program's.
  const location = await click(server.url, first.auction_result.redirect_url)
  assert.match(
    location,
    /^https:\/\/kettles\.example\/p\/k-1\?utm_medium=article&cid=[0-9a-f]{32}$/,
  )

  // Everything dies the moment the click was answered; the answered click is durable (I2).
  await server.kill()
  await killPostgres(dataDir)
  server = await serve(env)
  await untilStats(server.url, { key, pubId }, { clicks: 1, earnings: '0.45' })

  // Only PostgreSQL dies: the reader is redirected, and the click is counted once it is back.
  const second = await auction(server.url, created.auction_id)
  await sleep(320)
  await killPostgres(dataDir)
  await click(server.url, second.auction_result.redirect_url)
  // The same result again, as an impatient reader does: redirected, recorded, not paid.
  await click(server.url, second.auction_result.redirect_url)
  await untilStats(server.url, { key, pubId }, { clicks: 2, earnings: '0.90' })

  const report = await souk<{ clicks: number; differences: unknown[] }>(env, 'reconcile')
  assert.deepEqual(report.differences, [])
  assert.equal(await server.stop(), 0)
})

async function makeNetwork(env: Environment, dataDir: string) {
  await souk(env, 'user', 'create', '--email', 'pat@press.example', '--password', 'longenough1')
  const publisher = await souk<{ pub_id: number }>(
    ...[env, 'publisher', 'create', '--name', 'Press', '--slug', 'press'],
    ...['--user', 'pat@press.example', '--share', '0.75', '--domain', 'press.example'],
  )
  const user = ['--user', 'pat@press.example']
  const { key } = await souk<{ key: string }>(
    ...[env, 'key', 'create', ...user, '--description', 'journey'],
  )
  const merchant = await souk<{ merch_id: number }>(
    ...[env, 'merchant', 'create', '--name', 'Kettles', '--domain', 'kettles.example'],
  )
  const merchId = String(merchant.merch_id)
  const feed = join(dataDir, 'feed.csv')
  await writeFile(feed, FEED)
  const imported = await souk<{ rows: number; offers_upserted: number }>(
    ...[env, 'feed', 'import', '--merchant', merchId, '--file', feed],
  )
  assert.deepEqual([imported.rows, imported.offers_upserted], [2, 2])
  await souk(
    ...[env, 'campaign', 'create', '--merchant', merchId, '--model', 'cpc', '--bid', '0.60'],
    ...['--exclusive-bid', '0.60', '--daily-budget', '100', '--budget', '1000'],
  )
  return { key, pubId: publisher.pub_id, merchId: merchant.merch_id }
}

interface CreatedLink {
  readonly auction_id: string
  readonly smart_link_url: string
}

async function createLink(url: string, key: string): Promise<CreatedLink> {
  const response = await fetch(`${url}/api/v1/smart_links/`, {
    method: 'POST',
    headers: { authorization: `SERVICE-API-KEY ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      url: 'https://kettles.example/p/k-1?utm_medium=article',
      article_name: 'Kettles, poured',
      article_url: 'https://press.example/kettles',
      // Locked, so that the price is the posted one and the earnings are known.
      exclusive_match_requested: true,
    }),
  })
  assert.equal(response.status, 201)
  return ((await response.json()) as { data: [CreatedLink] }).data[0]
}

interface AuctionEntry {
  readonly auction_result: {
    readonly redirect_url: string
    readonly product: { price: string; merchant: { id: number } }
  }
}

async function auction(url: string, auctionId: string): Promise<AuctionEntry> {
  const query = new URLSearchParams({ a: auctionId, t: '1', uuid: crypto.randomUUID() })
  const response = await fetch(`${url}/api/v1/auction/?${query}`, {
    headers: { 'user-agent': BROWSER },
  })
  assert.equal(response.status, 200)
  return ((await response.json()) as { data: [AuctionEntry] }).data[0]
}

async function click(url: string, redirectUrl: string): Promise<string> {
  const response = await fetch(redirectUrl.replace(/^http:\/\/[^/]+/, url), {
    redirect: 'manual',
    headers: { 'user-agent': BROWSER },
  })
  assert.equal(response.status, 302)
  return response.headers.get('location') ?? ''
}

/**
 * Waits until the statistics show this (within 5 s while everything is up); around midnight of two
 * days.
 */
async function untilStats(
  url: string,
  { key, pubId }: { key: string; pubId: number },
  wanted: { readonly clicks: number; readonly earnings: string },
): Promise<void> {
  const day = (offset: number) => utcDay(Date.now() + offset * DAY_MS)
  const query = new URLSearchParams({ date_from: day(-1), date_to: day(1) })
  const path = `/api/v1/publishers/${pubId}/stats_by_article_merchant_daily/?${query}`
  const deadline = Date.now() + 60_000
  for (;;) {
    const response = await fetch(url + path, {
      headers: { authorization: `SERVICE-API-KEY ${key}` },
    })
    const { stats } = response.ok
      ? ((await response.json()) as { stats: { clicks: number; pub_earnings: string }[] })
      : { stats: [] }
    const seen = {
      clicks: stats.reduce((sum, row) => sum + row.clicks, 0),
      earnings: stats.reduce((sum, row) => sum + Number(row.pub_earnings), 0).toFixed(2),
    }
    if (JSON.stringify(seen) === JSON.stringify(wanted)) return
    if (Date.now() > deadline) assert.deepEqual(seen, wanted)
    await sleep(100)
  }
}

/** kill -9 of the embedded server, by the process id in its folder. */
async function killPostgres(dataDir: string): Promise<void> {
  const pid = Number(
    (await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0],
  )
  process.kill(pid, 'SIGKILL')
}
