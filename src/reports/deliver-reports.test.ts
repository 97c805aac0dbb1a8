import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { freePort } from '../../test/support/free-port.ts'
import { startServer } from '../../test/support/local-server.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { deliverReports, readBucket } from './deliver-reports.ts'
import {
  deleteReportDelivery,
  listReportDeliveries,
  type NewReportDelivery,
  upsertReportDelivery,
} from './delivery-store.ts'

const NOW = new Date(START_MS + DAY_MS)

const target = (changes: Partial<NewReportDelivery>): NewReportDelivery => ({
  pub_id: 1,
  target: '/nowhere',
  endpoint: null,
  region: null,
  access_key: null,
  secret_key: null,
  is_gzip: false,
  is_guarded: false,
  ...changes,
})

const storageTarget = (changes: Partial<NewReportDelivery>): NewReportDelivery =>
  target({ target: 's3://bucket', access_key: 'AKID', secret_key: 'secret', ...changes })

test('the last seven days of every report go to a folder and to storage, with the same bytes each time', async (t) => {
  const db = await testDatabase(t)
  const world = await makePublisherWorld(db)
  const { pub_id } = world.publisher
  const log = openFoldedLog(t, db)
  await log.record(new MoneyEvents().click('a', START_MS, { pubId: pub_id }))

  const stored = new Map<string, { authorization: string; body: string }>()
  const { url: endpoint } = await startServer(t, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('latin1')
    const { authorization = '' } = request.headers
    stored.set(`${request.method} ${request.url}`, { authorization, body })
    response.end()
  })
  const folder = await temporaryFolder(t, 'souk-delivery-')
  await upsertReportDelivery(db, target({ pub_id, target: folder }))
  await upsertReportDelivery(
    db,
    target({
      pub_id,
      target: 's3://reports-bucket/souk/daily',
      endpoint,
      region: 'eu-west-1',
      access_key: 'AKIDEXAMPLE',
      secret_key: 'secret',
      is_gzip: true,
    }),
  )
  const file = join(folder, 'file')
  await writeFile(file, 'not a folder')
  await upsertReportDelivery(db, target({ pub_id, target: file }))

  const results = await deliverReports(db, NOW)
  assert.deepEqual(
    results.map(({ files, error }) => [files, error === null]),
    [
      [28, true],
      [28, true],
      [0, false],
    ],
  )
  const names = await readdir(join(folder, 'gazette/2026/03'))
  assert.equal(names.length, 12) // 1 to 3 March; the four days before are in February.
  const clicks = 'souk_log_files_clicks_20260302.csv'
  const text = await readFile(join(folder, 'gazette/2026/03', clicks), 'utf8')
  assert.equal(text.trim().split('\n').length, 2)

  const path = `PUT /reports-bucket/souk/daily/gazette/2026/03/${clicks}.gz`
  const first = stored.get(path)
  assert.match(first?.authorization ?? '', /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/.*eu-west-1/)
  assert.ok(first?.body.startsWith('\x1f\x8b'), 'gzip')
  await deliverReports(db, NOW)
  assert.equal(stored.get(path)?.body, first?.body)

  const [good, , bad] = await listReportDeliveries(db)
  assert.equal(good?.error, null)
  assert.deepEqual(good?.delivered_at, NOW)
  assert.match(bad?.error ?? '', /ENOTDIR|EEXIST/)
  assert.equal(bad?.delivered_at, null)
})

test('the next run starts with the target that the last run did not reach', async (t) => {
  const db = await testDatabase(t)
  const { pub_id } = (await makePublisherWorld(db)).publisher
  const order = async (now: Date) => (await deliverReports(db, now)).map((run) => run.delivery_id)
  const orders: number[][] = []
  const { url: endpoint } = await startServer(t, async (request, response) => {
    await request.toArray()
    // The first run gets no further than this when the next one starts.
    if (orders.push([]) === 1) orders[0] = await order(new Date(NOW.getTime() + 1))
    response.writeHead(403).end()
  })
  const failing = await upsertReportDelivery(db, storageTarget({ pub_id, endpoint }))
  const folder = await temporaryFolder(t, 'souk-delivery-')
  const good = await upsertReportDelivery(db, target({ pub_id, target: folder }))
  await order(NOW)
  assert.deepEqual(orders[0], [good, failing])
})

test('after a longer break the files continue from the day of the last delivery', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const folder = await temporaryFolder(t, 'souk-delivery-')
  await upsertReportDelivery(db, target({ pub_id: publisher.pub_id, target: folder }))
  const files = async (day: number) => {
    const now = new Date(NOW.getTime() + day * DAY_MS)
    return (await deliverReports(db, now)).map((run) => run.files)
  }
  assert.deepEqual(await files(0), [4 * 7])
  assert.deepEqual(await files(6), [4 * 7])
  assert.deepEqual(await files(26), [4 * 21])
  assert.deepEqual(await files(26), [4 * 7])
})

test('an upload to storage leaves no file on this machine, even if the process is killed', async (t) => {
  const db = await testDatabase(t)
  const slug = 'left-nowhere'
  const { publisher } = await makePublisherWorld(db, slug)
  const seen = new Set<string>()
  const { url: endpoint } = await startServer(t, async (request, response) => {
    await request.toArray()
    const names = await readdir(tmpdir())
    for (const name of names) if (existsSync(join(tmpdir(), name, slug))) seen.add(name)
    response.end()
  })
  await upsertReportDelivery(db, storageTarget({ pub_id: publisher.pub_id, endpoint }))
  const [run] = await deliverReports(db, NOW)
  assert.deepEqual([run?.error, run?.files, [...seen]], [null, 28, []])
})

test('a storage that redirects an upload has not received the file', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const { url: endpoint } = await startServer(t, async (request, response) => {
    await request.toArray()
    const isElsewhere = request.url === '/sign-in'
    response.writeHead(isElsewhere ? 200 : 303, { location: '/sign-in' }).end()
  })
  await upsertReportDelivery(db, storageTarget({ pub_id: publisher.pub_id, endpoint }))
  const [run] = await deliverReports(db, NOW)
  assert.match(run?.error ?? '', /the storage answered 303$/)
})

test("each file has its own place below a storage's URL, whatever the URL's query", async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const asked = new Set<string>()
  const { url: address } = await startServer(t, async (request, response) => {
    await request.toArray()
    asked.add(request.url ?? '')
    response.end()
  })
  const endpoint = `${address}/storage/?tenant=1`
  await upsertReportDelivery(db, storageTarget({ pub_id: publisher.pub_id, endpoint }))
  await deliverReports(db, NOW)
  const places = [...asked].filter((url) => /^\/storage\/bucket\/\S+\.csv\?tenant=1$/.test(url))
  assert.equal(places.length, 28)
})

test("a busy storage is retried and receives each file's length", async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  let requests = 0
  const { url: endpoint } = await startServer(t, async (request, response) => {
    const { length } = Buffer.concat(await request.toArray())
    requests += 1
    const isRight = request.headers['content-length'] === String(length)
    response.writeHead(requests < 3 ? 503 : isRight ? 200 : 411).end()
  })
  await upsertReportDelivery(db, storageTarget({ pub_id: publisher.pub_id, endpoint }))
  const [run] = await deliverReports(db, NOW)
  assert.deepEqual([run?.error, requests], [null, 28 + 2])
})

test('a storage that does not answer is given up in time, also after garbage collection', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const { url: endpoint } = await startServer(t, () => undefined)
  await upsertReportDelivery(db, storageTarget({ pub_id: publisher.pub_id, endpoint }))
  setFlagsFromString('--expose-gc')
  const collecting = setInterval(runInNewContext('gc'), 50)
  t.after(() => clearInterval(collecting))
  const [run] = await deliverReports(db, NOW, { uploadMs: 500 })
  assert.match(run?.error ?? '', /timeout/)
})

test("a storage's response body is not read, because it may never end", async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const said = { answers: 0, toTheEnd: 0 }
  // More than the system buffers between two processes of which one does not read.
  const pages = Array(64).fill(Buffer.alloc(2 ** 20, 'x'))
  const { url: endpoint } = await startServer(t, async (request, response) => {
    await request.toArray()
    said.answers += 1
    await pipeline(pages, response).then(
      () => (said.toTheEnd += 1),
      () => undefined,
    )
  })
  await upsertReportDelivery(db, storageTarget({ pub_id: publisher.pub_id, endpoint }))
  const [run] = await deliverReports(db, NOW)
  assert.deepEqual([run?.error, run?.files], [null, 28])
  assert.deepEqual(said, { answers: 28, toTheEnd: 0 })
})

test('a target that fails or is deleted does not affect another one', async (t) => {
  const db = await testDatabase(t)
  const { pub_id } = (await makePublisherWorld(db)).publisher
  const folder = await temporaryFolder(t, 'souk-delivery-')
  const file = join(folder, 'file')
  await writeFile(file, '')
  const good = await upsertReportDelivery(db, target({ pub_id, target: join(folder, 'good') }))
  const bad = await upsertReportDelivery(db, target({ pub_id, target: file }))
  await deliverReports(db, NOW)
  const deliveries = (await listReportDeliveries(db)).map((one) => [
    one.delivered_at,
    one.error !== null,
  ])
  assert.deepEqual(deliveries, [
    [NOW, false],
    [null, true],
  ])
  assert.equal(await deleteReportDelivery(db, bad), true)
  assert.deepEqual(
    (await listReportDeliveries(db)).map(({ delivery_id }) => delivery_id),
    [good],
  )
})

test('an unreachable storage is reported with the reason', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const endpoint = `http://127.0.0.1:${await freePort()}`
  await upsertReportDelivery(db, storageTarget({ pub_id: publisher.pub_id, endpoint }))
  const [run] = await deliverReports(db, NOW)
  assert.match(run?.error ?? '', /^connect ECONNREFUSED/)
})

test('a target is a folder or a bucket with a prefix', () => {
  assert.equal(readBucket('s3://bucket'), 'bucket')
  assert.equal(readBucket('s3://bucket/a/b/'), 'bucket/a/b')
  for (const wrong of ['s3://', 's3://B', 's3://bucket/?x', '/folder', 'https://x']) {
    assert.equal(readBucket(wrong), null, wrong)
  }
})
