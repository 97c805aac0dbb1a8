import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../../test/support/commands.ts'
import { testDatabase } from '../../test/support/database.ts'
import { startServer } from '../../test/support/local-server.ts'
import { until } from '../../test/support/market.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { ownTemporaryFolder, temporaryFolder } from '../../test/support/temporary-folder.ts'
import { onlyDollars } from '../catalog/feeds/check-offer.ts'
import { saveFeedSource } from '../catalog/feeds/feed-source-store.ts'
import { type RefetchOptions, refetchFeeds } from '../catalog/feeds/refetch-feeds.ts'
import { MERCHANT_DEFAULTS } from '../catalog/merchant.ts'
import { insertMerchant, requireMerchant } from '../catalog/merchant-store.ts'
import { readConfig } from '../node/config.ts'
import { listLostFeeds } from '../operator/health-store.ts'
import { micros } from '../platform/money/money.ts'
import { sql } from '../platform/postgres/sql.ts'
import { HOUR_MS } from '../platform/time/timestamp.ts'

const [LINK, HEAD] = ['https://shop.example/p', 'id,title,link,price,availability\n']

/** A shop that serves its feed, with one product at a price; null: it answers 503. */
async function makeShop(t: TestContext) {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  const feed = () => `${HEAD}p,Tea,${LINK},${shop.price} USD,in stock\n`
  const shop = {
    price: '10.00' as string | null,
    type: 'text/csv',
    feed: feed as () => string | Buffer,
    onRequest: () => Promise.resolve(),
  }
  const server = createServer(async (_request, response) => {
    await shop.onRequest()
    response.writeHead(shop.price === null ? 503 : 200, { 'content-type': shop.type })
    response.end(shop.feed())
  }).listen(0, '127.0.0.1')
  scope.after(async () => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://feeds:secret@127.0.0.1:${(server.address() as AddressInfo).port}/feed.csv`
  const settings = { ...MERCHANT_DEFAULTS, name: 'Shop', domains: ['shop.example'] }
  const { merch_id: merchId } = await insertMerchant(db, settings)
  const config = readConfig({ ALLOW_PRIVATE_FETCH: 'on' })
  const start = Date.now()
  return {
    ...{ db, shop, merchId, folder: await temporaryFolder(scope, 'feed '), feed },
    importFrom: async (source: string, ...options: string[]) => {
      const args = ['feed', 'import', '--merchant', `${merchId}`, '--file', source, ...options]
      const { code, err } = await runCommand(args, { db, now: new Date(start), config })
      assert.equal(code, 0, err)
    },
    run: async (...options: string[]) => {
      const args = ['feed', 'import', '--merchant', `${merchId}`, ...options, '--json']
      const { code, out, err } = await runCommand(args, { db, now: new Date(start), config })
      return { code, err, result: out === '' ? null : JSON.parse(out) }
    },
    url,
    refetch: (hours: number, options: Partial<RefetchOptions> = {}) =>
      refetchFeeds(db, {
        at: new Date(start + hours * HOUR_MS),
        ...{ allowPrivate: true, toDollars: onlyDollars, seed: 1 },
        ...options,
      }),
    lost: (hours: number) => listLostFeeds(db, new Date(start + hours * HOUR_MS)),
    price: async () => {
      const row = await db.row<{ price_micros: string }>(sql`
        select price_micros from offer join merchant using (merch_id)
        where from_generation <= generation and coalesce(to_generation > generation, true)`)
      return Number(row?.price_micros) / 1e6
    },
    record: () => requireMerchant(db, merchId),
  }
}

test('fetches a feed with a URL again every six hours, and never shows its password', async (t) => {
  const { shop, importFrom, url, refetch, price, db, merchId } = await makeShop(t)
  await importFrom(url)
  shop.price = '12.00'
  assert.deepEqual(await refetch(5), [], 'it is new enough')
  assert.equal(await price(), 10)
  assert.deepEqual(await refetch(7), [{ merchId, error: null }])
  assert.equal(await price(), 12)
  const { out } = await runCommand(['merchant', 'list', '--json'], { db, now: new Date() })
  const [listed] = JSON.parse(out)
  assert.deepEqual([listed.feed_url, listed.feed_error], [url.replace('feeds:secret@', ''), null])
})

test('fetches a feed again only from an allowed address, in its format and by today’s rates', async (t) => {
  const { shop, importFrom, url, refetch, price, feed } = await makeShop(t)
  await importFrom(url, '--format', 'csv')
  const [refused] = await refetch(7, { allowPrivate: false })
  assert.match(refused?.error ?? '', /127\.0\.0\.1 is not a public address/)
  const product = { id: 'p', title: 'Tea', link: LINK, price: '11 USD' }
  shop.feed = () => `${JSON.stringify(product)}\n`
  const [other] = await refetch(8)
  assert.match(other?.error ?? '', /line 1 does not look like a header: .*"p"/)
  shop.feed = () => feed().replace('USD', 'EUR')
  const toDollars = (amount: string) => micros(Number(amount) * 1_100_000)
  assert.equal((await refetch(9, { toDollars }))[0]?.error, null)
  assert.equal(await price(), 11)
})

test('reads a feed in the charset that its server names, at each fetch', async (t) => {
  const { db, shop, importFrom, url, refetch, price } = await makeShop(t)
  shop.type = 'text/csv; charset=windows-1251'
  shop.feed = () => {
    const tea = Buffer.from('d7e0e9', 'hex')
    return Buffer.concat([
      Buffer.from(`${HEAD}p,`),
      tea,
      Buffer.from(`,${LINK},${shop.price} USD,in stock\n`),
    ])
  }
  const titles = async () =>
    (await db.rows<{ title: string }>(sql`select distinct title from offer`)).map(
      ({ title }) => title,
    )
  await importFrom(url)
  assert.deepEqual(await titles(), ['Чай'])
  shop.price = '12.00'
  assert.equal((await refetch(7))[0]?.error, null)
  assert.equal(await price(), 12)
  assert.deepEqual(await titles(), ['Чай'])
})

test('fetches no feed for an unknown merchant, and leaves the file of rejects unchanged', async (t) => {
  const { db, shop, url, folder } = await makeShop(t)
  let requests = 0
  shop.onRequest = async () => void requests++
  const rejects = join(folder, 'rejects.jsonl')
  await writeFile(rejects, 'of another import')
  const args = ['feed', 'import', '--merchant', '99', '--file', url, '--rejects', rejects]
  const config = readConfig({ ALLOW_PRIVATE_FETCH: 'on' })
  const { code, err } = await runCommand(args, { db, now: new Date(), config })
  assert.deepEqual({ code, err, requests }, { code: 1, err: 'No merchant 99\n', requests: 0 })
  assert.equal(await readFile(rejects, 'utf8'), 'of another import')
})

test('an import without a good row keeps the URL of the previous feed', async (t) => {
  const { shop, importFrom, run, url, refetch, record, folder } = await makeShop(t)
  await importFrom(url)
  const bad = join(folder, 'bad.csv')
  await writeFile(bad, `${HEAD}p,Tea,${LINK},many USD,in stock\n`)
  shop.feed = () => `${HEAD}p,Tea,${LINK},many USD,in stock\n`
  for (const source of [bad, `${url}?bad`]) {
    const { code, result, err } = await run('--file', source)
    assert.deepEqual([code, result.rows, result.rejected], [1, 1, { price_unparsable: 1 }])
    const { price_unparsable: first } = result.first_rejected
    assert.match(first, /^line 2: the price is "many USD"; it has no number; write one amount/)
    assert.equal(err, `none of the 1 rows is good, so nothing was changed; ${first}\n`)
  }
  assert.equal((await record()).feed_url, url)
  shop.feed = () => `${HEAD}p,Tea,${LINK},9.00 USD,in stock\n`
  assert.equal((await refetch(7))[0]?.error, null)
})

test('deletes each fetched file, also those of a process that died', async (t) => {
  const { importFrom, url, refetch } = await makeShop(t)
  const folder = await ownTemporaryFolder(scopeOf(t))
  await importFrom(url)
  const left = join(folder, 'souk-feed-left')
  await mkdir(left)
  await utimes(left, 0, 0)
  assert.equal((await refetch(7)).length, 1)
  assert.deepEqual(await readdir(folder), [])
})

test('a failed fetch keeps the offers, is retried hourly, and is reported after a day', async (t) => {
  const { shop, importFrom, url, refetch, price, record, lost, merchId } = await makeShop(t)
  await importFrom(url)
  shop.price = null
  for (const hours of [7, 8]) {
    const [tried] = await refetch(hours)
    assert.match(tried?.error ?? '', /could not be fetched: .*503/)
  }
  assert.equal(await price(), 10)
  assert.match((await record()).feed_error ?? '', /503/)
  assert.deepEqual(await lost(23), [])
  assert.deepEqual(
    (await lost(25)).map(({ merch_id }) => merch_id),
    [merchId],
  )
})

test('stores an error that quotes a NUL of the feed, and continues with other feeds', async (t) => {
  const { shop, importFrom, url, refetch, record } = await makeShop(t)
  await importFrom(url)
  shop.price = 'ask\0us'
  assert.equal((await refetch(7)).length, 1)
  assert.match((await record()).feed_error ?? '', /the price is "ask us USD"/)
})

test('importing a file ends the scheduled fetches of the previous URL', async (t) => {
  const { importFrom, url, refetch, folder, feed, record } = await makeShop(t)
  await importFrom(url)
  const path = join(folder, 'feed.csv')
  await writeFile(path, feed())
  await importFrom(path)
  assert.deepEqual(await refetch(7), [])
  assert.equal((await record()).feed_url, null)
})

test('a file that is imported during a scheduled fetch wins over it', async (t) => {
  const { shop, importFrom, url, refetch, folder, feed, price, record } = await makeShop(t)
  await importFrom(url)
  const path = join(folder, 'feed.csv')
  shop.price = '11.00'
  await writeFile(path, feed())
  shop.price = '12.00'
  shop.onRequest = () => importFrom(path)
  await refetch(7)
  assert.equal(await price(), 11)
  assert.deepEqual([(await record()).feed_url, (await record()).feed_error], [null, null])
})

test('a server that does not respond delays no other merchant’s feed', async (t) => {
  const { shop, importFrom, url, refetch, price, db } = await makeShop(t)
  await importFrom(url)
  const held: ServerResponse[] = []
  const slow = await startServer(t, (_request, response) => held.push(response))
  const settings = { ...MERCHANT_DEFAULTS, name: 'Slow', domains: ['slow.example'] }
  const { merch_id } = await insertMerchant(db, settings)
  await saveFeedSource(db, { merch_id, url: slow.url, format: 'csv', at: new Date(0) })
  shop.price = '11.00'
  const round = refetch(7)
  await until(async () => (await price()) === 11)
  assert.equal(held.length, 1)
  held[0]?.end()
  assert.equal((await round).length, 2)
})

test('starts no second run while feeds are being fetched', async (t) => {
  const { shop, importFrom, url, refetch, merchId } = await makeShop(t)
  await importFrom(url)
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  shop.onRequest = () => {
    asked.resolve()
    return answer.promise
  }
  const first = refetch(7)
  await asked.promise
  assert.deepEqual(await refetch(8), [])
  answer.resolve()
  assert.deepEqual(await first, [{ merchId, error: null }])
})

test('a scheduled import that could not read the whole feed removes nothing and says so', async (t) => {
  const { shop, importFrom, url, refetch, record, feed, db } = await makeShop(t)
  shop.feed = () => `${feed()}q,Pot,${LINK}/q,5.00 USD,in stock\n`
  await importFrom(url)
  shop.feed = () => `${feed()}lost\n`
  const said =
    'the feed was not read whole, so no offer was removed; ' +
    'line 3: the row has 1 cells, the header has 5'
  assert.equal((await refetch(7))[0]?.error, said)
  assert.equal((await record()).feed_error, said)
  assert.equal((await db.rows(sql`select from current_offer`)).length, 2)
  shop.feed = feed
  assert.equal((await refetch(14))[0]?.error, null)
  assert.equal((await record()).feed_error, null)
  assert.equal((await db.rows(sql`select from current_offer`)).length, 1)
})

test('a feed without a good row renews no offer, and reports why', async (t) => {
  const { shop, importFrom, url, refetch, price, record, lost, merchId } = await makeShop(t)
  await importFrom(url)
  shop.price = 'ask us'
  const fault = /none of the 1 rows is good, .*; line 2: the price is "ask us USD"/
  assert.match((await refetch(7))[0]?.error ?? '', fault)
  assert.equal(await price(), 10)
  assert.match((await record()).feed_error ?? '', fault)
  assert.deepEqual(
    (await lost(25)).map(({ merch_id }) => merch_id),
    [merchId],
  )
})

test('stores a map, a currency and an element with the URL of a feed', async (t) => {
  const { shop, run, refetch, price, url, folder, record } = await makeShop(t)
  const map = join(folder, 'map.json')
  await writeFile(map, '{"id": "nr", "title": ["was"], "price": "kostet"}')
  const toDollars = (amount: string, currency: string) =>
    micros(Number(amount) * (currency === 'EUR' ? 1_100_000 : 1_000_000))
  shop.feed = () =>
    `<a><b><nr>p</nr><was>Tea</was><url>${LINK}</url><kostet>${shop.price}</kostet></b></a>`
  assert.equal((await run('--file', url)).code, 1, 'nobody knows these names')
  const said = ['--map', map, '--element', 'b']
  const first = await run('--file', url, ...said)
  assert.deepEqual([first.code, first.result.noted], [0, { currency_assumed: { USD: 1 } }])
  await run('--file', url, ...said, '--currency', 'usd')
  shop.price = '12.00'
  assert.deepEqual(
    (await refetch(7, { toDollars })).map(({ error }) => error),
    [null],
  )
  assert.equal(await price(), 12)
  assert.equal((await record()).feed_error, null)
})

test('refuses an unsupported scheme, an invalid map and an unknown currency, and names valid values', async (t) => {
  const { run, folder } = await makeShop(t)
  const map = join(folder, 'map.json')
  await writeFile(map, '{"flavour": "x", "price": 7}')
  const cases: [string[], RegExp][] = [
    [['--file', 'ftp://shop.example/feed.csv'], /ftp:\/\/ .*http:\/\/ or https:\/\//],
    [['--file', 'sftp://shop.example/feed.csv'], /sftp:\/\/ .*http:\/\/ or https:\/\//],
    [['--file', 'feed.csv', '--map', map], /map.flavour: is no field.*\n.*map.price: must be/s],
    [['--file', 'feed.csv', '--currency', 'DEM'], /currency: must be a currency of ISO 4217/],
    [['--file', 'feed.csv', '--element', '<a b>'], /element: must be the name of an XML element/],
  ]
  for (const [options, message] of cases) {
    const { code, err } = await run(...options)
    assert.equal(code, 1, options.join(' '))
    assert.match(err, message)
  }
})

test('sets, shows and removes a merchant’s default currency, which must be in use', async (t) => {
  const { db, merchId } = await makeShop(t)
  const update = async (currency: string) => {
    const args = ['merchant', 'update', '--id', `${merchId}`, '--default-currency', currency]
    const { code, out, err } = await runCommand([...args, '--json'], { db, now: new Date() })
    return code === 0 ? JSON.parse(out).default_currency : err
  }
  assert.equal(await update('eur'), 'EUR')
  assert.match(await update('DEM'), /default_currency: must be a currency of ISO 4217/)
  assert.equal(await update(''), null)
})
