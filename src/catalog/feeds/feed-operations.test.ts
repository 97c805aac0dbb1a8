import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startApi } from '../../../test/support/api.ts'
import { startServer } from '../../../test/support/local-server.ts'
import { until } from '../../../test/support/market.ts'
import { makeMerchantWorld } from '../../../test/support/merchant-roles.ts'
import { sql } from '../../platform/postgres/sql.ts'

const api = await startApi({ after }, { env: { ALLOW_PRIVATE_FETCH: 'on' } })
const shop = await makeMerchantWorld(api, { name: 'Shop' })
const other = await makeMerchantWorld(api, { name: 'Other' })
const { keys } = shop

const put = (body: object) => shop.call('feed/', { method: 'PUT', body })
interface Import {
  readonly import_id: string
  readonly state: string
  readonly error: string | null
  readonly [name: string]: unknown
}

/** Sends a file and waits until its import has ended. */
async function upload(file: string | Buffer, query = '', type = 'text/csv'): Promise<Import> {
  const answer = await fetch(`${api.url}/api/v1/merchants/${shop.merchId}/feed/imports/${query}`, {
    method: 'POST',
    headers: { 'content-type': type, authorization: `SERVICE-API-KEY ${keys.manager}` },
    body: file,
  })
  const text = await answer.text()
  assert.equal(answer.status, 202, text)
  const started: Import = JSON.parse(text).data[0]
  assert.deepEqual([started.state, started.bytes_read], ['waiting', Buffer.byteLength(file)])
  return ended(started.import_id)
}

async function ended(id: string): Promise<Import> {
  let found: Import | null = null
  await until(async () => {
    found = (await shop.call(`feed/imports/${id}/`)).entry<Import>()
    return ['done', 'failed'].includes(found.state)
  })
  return found as unknown as Import
}

const sources = async () =>
  (await shop.call('feed/')).json<{ data: Record<string, unknown>[] }>().data

const offers = async () =>
  (
    await api.db.rows<{ sku: string }>(sql`
      select sku from offer join merchant using (merch_id)
      where merch_id = ${shop.merchId} and from_generation <= generation
        and coalesce(to_generation > generation, true) order by sku`)
  ).map(({ sku }) => sku)

const row = (id: string, price = '10 USD') =>
  `${id},Product ${id},https://shop.example/${id},${price}`
const csv = (...rows: string[]) => ['id,title,link,price', ...rows, ''].join('\n')

test('a source is set, answered without its password, and deleted', async () => {
  assert.deepEqual(await sources(), [])
  const url = 'https://feeds.shop.example/all.csv?v=1'
  const settings = { url, username: 'ann', password: 'pass:word', schedule: 'daily' }
  const set = await put({ ...settings, map: { id: 'Nr', image_link: ['Bild'] } })
  assert.equal(set.status, 200, set.text)
  const entry = set.entry()
  assert.deepEqual(
    [entry.url, entry.username, entry.has_password, entry.schedule, entry.format, entry.map],
    [url, 'ann', true, 'daily', 'auto', { id: ['Nr'], image_link: ['Bild'] }],
  )
  const stored = async () =>
    (await api.db.row<{ url: string }>(sql`select url from feed_source`))?.url ?? ''
  assert.equal(new URL(await stored()).password, 'pass%3Aword')
  await put({ url, username: 'ann' })
  assert.equal(new URL(await stored()).password, 'pass%3Aword', 'stays')
  await put({ url: 'https://elsewhere.example/', username: 'ann' })
  assert.equal(new URL(await stored()).password, '', 'is not sent to another host')
  assert.ok(!JSON.stringify(await shop.audit()).includes('pass'.concat(':word')))
  assert.ok(!JSON.stringify(await shop.audit()).includes('pass%3Aword'))
  assert.equal((await shop.call('feed/', { method: 'DELETE' })).status, 200)
  assert.deepEqual(await sources(), [])
  const actions = (await shop.audit()).map(({ action }) => action)
  assert.deepEqual(actions, ['feed.update', 'feed.update', 'feed.update', 'feed.delete'])
})

test('of two people who set the source, the second one learns of the first', async () => {
  const url = 'https://feeds.shop.example/all.csv'
  const { etag } = (await put({ url })).entry()
  const read = await shop.call('feed/')
  assert.deepEqual([read.entry().etag, read.headers.get('etag')], [etag, `"${etag}"`])
  const set = (schedule: string) =>
    shop.call('feed/', {
      ...{ method: 'PUT', body: { url, schedule }, headers: { 'if-match': `"${etag}"` } },
    })
  assert.equal((await set('daily')).status, 200)
  assert.equal((await set('hourly')).status, 412)
  await shop.call('feed/', { method: 'DELETE' })
})

test('wrong values of a source are refused by the names of their fields', async () => {
  const wrong: [object, string][] = [
    [{ url: 'ftp://shop.example/feed' }, 'url'],
    [{ url: null }, 'url'],
    [{ username: 'x'.repeat(256) }, 'username'],
    [{ password: 1 }, 'password'],
    [{ format: 'xlsx' }, 'format'],
    [{ map: { nothing: 'x' } }, 'map.nothing'],
    [{ map: { id: [] } }, 'map.id'],
    [{ map: [] }, 'map'],
    [{ default_currency: 'EURO' }, 'default_currency'],
    [{ element: '<a b>' }, 'element'],
    [{ schedule: 'weekly' }, 'schedule'],
  ]
  for (const [body, field] of wrong) {
    const answer = await put({ url: 'https://shop.example/feed', ...body })
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.deepEqual(answer.failure().fields, [field], JSON.stringify(body))
  }
  assert.deepEqual(await sources(), [])
})

test('an uploaded file of any content type is imported, and its rejected rows say how to fix them', async () => {
  const file = csv(row('a'), row('b', 'free'), row('c'), `d,,https://shop.example/d,1 USD`)
  const run = await upload(gzipSync(file), '', 'application/gzip')
  assert.equal(run.state, 'done', run.error ?? '')
  assert.deepEqual(
    [run.source, run.rows, run.offers_upserted, run.offers_removed, run.rejects_stored],
    ['upload', 4, 2, 0, 2],
  )
  assert.deepEqual(run.rejected, { price_unparsable: 1, title_missing: 1 })
  assert.deepEqual(run.noted, { gtin_missing: 2 })
  assert.deepEqual(await offers(), ['a', 'c'])
  const path = `feed/imports/${run.import_id}/rejects/`
  const { data } = (await shop.call(path)).json<{ data: Record<string, unknown>[] }>()
  const [first] = data
  assert.deepEqual(
    [first?.line, first?.id, first?.column, first?.value, first?.reason],
    [3, 'b', 'price', 'free', 'price_unparsable'],
  )
  assert.match(String(first?.fix), /number and a currency code/)
  assert.equal(data.length, 2)
  const only = await shop.call(`${path}?reason=title_missing`)
  assert.equal(only.json<{ data: unknown[] }>().data.length, 1)
  const file2 = await shop.call(path, { headers: { accept: 'text/csv' } })
  assert.match(file2.text, /^reject_id,line,id,column,value,reason,detail,fix,/)
  assert.equal((await other.call(`feed/imports/${run.import_id}/`)).status, 404)
})

test('a dry run judges every row and changes nothing', async () => {
  const before = await offers()
  const run = await upload(csv(row('a', '20 USD'), row('z')), '?dry_run=true')
  assert.deepEqual(
    [run.state, run.dry_run, run.offers_upserted, run.offers_removed],
    ['done', true, 2, 1],
  )
  assert.deepEqual(await offers(), before)
  const real = await upload(csv(row('a', '20 USD'), row('z')))
  assert.deepEqual([real.offers_upserted, real.offers_removed], [2, 1])
  assert.deepEqual(await offers(), ['a', 'z'])
})

test('an import lists its columns, also when they are refused, and takes a map for them', async () => {
  const file = 'Nr,Titel,link,price,Farbe\nm,Mug,https://shop.example/m,5 USD,red\n'
  const refused = await upload(file, '?dry_run=true')
  assert.equal(refused.state, 'failed')
  assert.deepEqual(refused.columns, [
    { name: 'Nr', field: null },
    { name: 'Titel', field: null },
    { name: 'link', field: 'link' },
    { name: 'price', field: 'price' },
    { name: 'Farbe', field: null },
  ])
  const map = encodeURIComponent('{"id":"Nr","title":"Titel"}')
  const mapped = await upload(file, `?dry_run=true&map=${map}`)
  assert.equal(mapped.state, 'done', mapped.error ?? '')
  assert.deepEqual((mapped.columns as { field: string | null }[])[0]?.field, 'id')
  const lines = await upload('{"sku":"m","name":"Mug","extra":1}\n', '?dry_run=true')
  assert.deepEqual(lines.columns, [
    { name: 'sku', field: 'id' },
    { name: 'name', field: 'title' },
    { name: 'extra', field: null },
  ])
})

test('a file without a good row fails with its reason, and changes nothing', async () => {
  const before = await offers()
  for (const [file, error] of [
    [csv(row('a', '')), /^none of the 1 rows is good/],
    ['<html>Not found</html>', /./],
  ] as const) {
    const run = await upload(file)
    assert.equal(run.state, 'failed')
    assert.match(run.error ?? '', error)
  }
  assert.deepEqual(await offers(), before)
  const answer = await shop.call('feed/imports/', { method: 'POST' })
  assert.deepEqual([answer.status, answer.failure().code], [409, 4091], 'no source is set')
})

test('an import from the source fetches it with its credentials, and one runs at a time', async (t) => {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  let credentials = ''
  const server = await startServer(t, async (req, res) => {
    credentials = String(req.headers.authorization)
    asked.resolve()
    await answer.promise
    res.end(csv(row('s')))
  })
  await put({ url: `${server.url}/feed.csv`, username: 'ann', password: 'pw', schedule: 'manual' })
  const started = await shop.call('feed/imports/', { method: 'POST', body: {} })
  assert.equal(started.status, 202, started.text)
  const { import_id: id } = started.entry<Import>()
  await asked.promise
  const second = await shop.call('feed/imports/', { method: 'POST' })
  assert.deepEqual([second.status, second.failure().code], [409, 4091])
  answer.resolve()
  const run = await ended(id)
  assert.deepEqual([run.state, run.source], ['done', 'url'])
  assert.equal(credentials, `Basic ${Buffer.from('ann:pw').toString('base64')}`)
  assert.deepEqual(await offers(), ['s'])
  server.server.closeAllConnections()
  server.server.close()
  const gone = (await shop.call('feed/imports/', { method: 'POST' })).entry<Import>()
  assert.equal((await ended(gone.import_id)).state, 'failed')
  assert.match(String((await shop.call('feed/')).entry().error), /could not be fetched/)
  assert.deepEqual(await offers(), ['s'])
})

test('an upload that breaks off ends its import, and leaves no file', async () => {
  const left = async () =>
    (await readdir(tmpdir())).filter((name) => name.startsWith('souk-feed-')).length
  const before = await left()
  const sent = request(`${api.url}/api/v1/merchants/${shop.merchId}/feed/imports/`, {
    method: 'POST',
    headers: { authorization: `SERVICE-API-KEY ${keys.owner}`, 'content-length': 1_000_000 },
  })
  sent.on('error', () => undefined)
  sent.write(csv(row('x')))
  const first = async () => (await shop.call('feed/imports/?limit=1')).entry<Import>()
  await until(async () => (await first()).state === 'receiving')
  sent.destroy()
  await until(async () => (await first()).state === 'failed')
  assert.match((await first()).error ?? '', /broke off/)
  assert.equal(await left(), before)
  assert.deepEqual(await offers(), ['s'])
})

test('an upload over the limit is refused before any of it is read', async () => {
  const answer = await new Promise<number | undefined>((resolve) => {
    const sent = request(`${api.url}/api/v1/merchants/${shop.merchId}/feed/imports/`, {
      method: 'POST',
      headers: { authorization: `SERVICE-API-KEY ${keys.owner}`, 'content-length': 2 ** 30 + 1 },
    })
    sent.on('error', () => undefined)
    sent.on('response', ({ statusCode }) => {
      resolve(statusCode)
      sent.destroy()
    })
    sent.flushHeaders()
  })
  assert.equal(answer, 413)
})

test('an import whose process has ended counts as failed and makes way for the next', async () => {
  const row_ = await api.db.row<{ import_id: string }>(sql`
    insert into feed_run (merch_id, source, is_dry_run, state, alive_at)
    values (${shop.merchId}, 'upload', false, 'importing', now() - interval '1 minute')
    returning import_id`)
  const run = await ended(row_?.import_id ?? '')
  assert.match(run.error ?? '', /was stopped; nothing was changed/)
  assert.equal((await upload(csv(row('n')))).state, 'done')
})
