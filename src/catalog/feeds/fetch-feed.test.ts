import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chown, readFile, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { startServer } from '../../../test/support/local-server.ts'
import { NOBODY } from '../../platform/postgres/postgres-binaries.ts'
import { fetchFeed, isWebAddress, removeLeftFeeds } from './fetch-feed.ts'

const FEED = 'id,title\n1,Tea\n'

test('a feed is fetched whole, packed or not, through redirects, and removed afterwards', async (t) => {
  const base = await listen(t)
  for (const path of ['/feed.csv', '/moved']) {
    const fetched = await fetchFeed(base + path, { allowPrivate: true })
    assert.equal(await readFile(fetched.path, 'utf8'), FEED)
    await fetched.remove()
    assert.equal(existsSync(fetched.path), false)
  }
  const packed = await fetchFeed(`${base}/encoded`, { allowPrivate: true })
  t.after(packed.remove)
  assert.equal(gunzipSync(await readFile(packed.path)).toString(), FEED)
})

test('the charset that a server names goes with the feed, whatever else it says of it', async (t) => {
  const base = await listen(t)
  for (const [type, servedAs] of [
    ['text/csv; charset="Shift_JIS"; header=present', 'Shift_JIS'],
    ['text/csv', undefined],
    ['feed', undefined],
  ] as const) {
    const path = `/as?${encodeURIComponent(type)}`
    const fetched = await fetchFeed(base + path, { allowPrivate: true })
    t.after(fetched.remove)
    assert.equal(fetched.servedAs, servedAs, type)
  }
})

test('a packed feed is asked for as it is: a server that packs everything would do it twice', async (t) => {
  const base = await listen(t)
  for (const path of ['/feed.csv.gz', '/FEED.CSV.GZ?day=1']) {
    const packed = await fetchFeed(base + path, { allowPrivate: true })
    t.after(packed.remove)
    assert.equal(gunzipSync(await readFile(packed.path)).toString(), FEED)
  }
})

test('what a process that was ended has left is deleted after a day, and nothing else', async (t) => {
  const base = await listen(t)
  const get = () => fetchFeed(`${base}/feed.csv`, { allowPrivate: true })
  const [left, inUse] = [await get(), await get()]
  t.after(inUse.remove)
  const longAgo = Date.now() / 1_000 - 90_000
  await utimes(dirname(left.path), longAgo, longAgo)
  await removeLeftFeeds()
  assert.deepEqual(
    [left, inUse].map(({ path }) => existsSync(path)),
    [false, true],
  )
})

const IS_ROOT = process.geteuid?.() === 0
const asRoot = { skip: IS_ROOT ? false : 'needs root: only root can give a folder away' }

test(
  'what another user of the machine has in the temporary folder is left alone',
  asRoot,
  async (t) => {
    const base = await listen(t)
    const theirs = await fetchFeed(`${base}/feed.csv`, { allowPrivate: true })
    t.after(theirs.remove)
    const folder = dirname(theirs.path)
    const longAgo = Date.now() / 1_000 - 90_000
    await utimes(folder, longAgo, longAgo)
    await chown(folder, NOBODY, NOBODY)
    await removeLeftFeeds()
    assert.equal(existsSync(theirs.path), true)
  },
)

test('private addresses are refused unless they are allowed', async (t) => {
  const base = await listen(t)
  const refused = { message: /127\.0\.0\.1 is not a public address; set ALLOW_PRIVATE_FETCH/ }
  await assert.rejects(fetchFeed(`${base}/feed.csv`, { allowPrivate: false }), refused)
})

test('an error, a download that breaks off and one without end are failures', async (t) => {
  const base = await listen(t)
  const get = (path: string) => fetchFeed(base + path, { allowPrivate: true, bytesMax: 10_000 })
  await assert.rejects(get('/missing'), /could not be fetched: .* answered 404/)
  await assert.rejects(get('/part'), /could not be fetched: .* answered 206/)
  await assert.rejects(get('/broken'), /could not be fetched/)
  await assert.rejects(get('/endless'), /it has more than 10000 bytes/)
  await assert.rejects(fetchFeed('http://', { allowPrivate: true }), /not an absolute http/)
})

test('what begins as a web address is fetched, anything else is a path', () => {
  for (const source of ['http://x', 'HTTPS://x/y']) assert.ok(isWebAddress(source))
  for (const source of ['./http.csv', '/a/b', 'C:\\feeds\\a.csv']) assert.ok(!isWebAddress(source))
})

function* endless(): Generator<string> {
  for (;;) yield 'x'.repeat(4096)
}

async function listen(t: TestContext): Promise<string> {
  const { url } = await startServer(t, (request, response) => {
    const [path, query = ''] = (request.url ?? '').split('?')
    if (request.url === '/feed.csv') response.end(FEED)
    else if (path === '/as') {
      response.writeHead(200, { 'content-type': decodeURIComponent(query) }).end(FEED)
    } else if (request.url === '/moved') response.writeHead(301, { location: '/feed.csv' }).end()
    else if (request.url === '/encoded') {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(FEED))
    } else if (/\.gz\b/i.test(request.url ?? '')) {
      const isPackedAgain = /gzip/.test(String(request.headers['accept-encoding']))
      const packed = gzipSync(FEED)
      response.writeHead(200, isPackedAgain ? { 'content-encoding': 'gzip' } : {})
      response.end(isPackedAgain ? gzipSync(packed) : packed)
    } else if (request.url === '/part') response.writeHead(206).end(FEED)
    else if (request.url === '/broken') {
      response.writeHead(200, { 'content-length': 1000 }).write('id,ti')
      setImmediate(() => response.destroy())
    } else if (request.url === '/endless') {
      Readable.from(endless()).pipe(response)
    } else response.writeHead(404).end()
  })
  return url
}
