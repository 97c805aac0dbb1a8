/** `souk doctor`: each check fails when what it looks at is wrong, and says what to do. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { test } from 'node:test'
import type { Scope } from '../../test/support/database.ts'
import { makeInstallation } from '../../test/support/doctor-installation.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents } from '../../test/support/money-events.ts'
import { startNats } from '../../test/support/nats.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { EVENT_TYPE, MODEL } from '../events/event.ts'
import { EventStream } from '../events/jetstream/event-stream.ts'
import { addStoredBytes } from '../platform/limits/storage-quota-store.ts'
import { claimNode, readInstallation } from '../platform/postgres/node-registry.ts'
import type { Database, Db } from '../platform/postgres/postgres.ts'
import { identifier, sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'

const SECOND_MS = 1_000

/** Another process that serves, as far as the database knows. */
const serve = (db: Database) =>
  claimNode({
    ...{ db, host: 'here', pid: 1, roles: 'api,edge', knowsCountries: false },
    ...{ onLost: () => undefined, onError: (error) => assert.fail(String(error)) },
  })

async function serveBeside(scope: Scope, db: Database) {
  const claim = await serve(db)
  scope.after(() => claim.release({ isSpoolEmpty: true }))
}

test('all is well with a fresh installation but what is wrong with the tests’ own server', async (t) => {
  const { check } = await makeInstallation(t)
  for (const name of [
    'migrations',
    'connections',
    'clock',
    'lag',
    'fold',
    'reconciled',
    'feeds',
    'search',
    'leases',
    'keys',
    'settings',
    'quotas',
    'addresses',
    'disk',
    'spool',
    'secrets',
    'browser',
  ]) {
    assert.equal((await check(name)).ok, true, name)
  }
  const database = await check('database') // It runs without fsync.
  assert.equal(database.ok, false)
  assert.match(
    database.detail,
    /DATABASE_URL.*fsync off.*a crash would lose paid clicks: set both to on/,
  )
})

test('paid clicks from local addresses are reported, and fail a service with a public address', async (t) => {
  for (const [linkUrl, ok] of [
    ['https://go.souk.example', false],
    ['http://localhost:8080', true],
    ['http://10.0.0.7', true],
  ] as const) {
    const { db, check, now, scope } = await makeInstallation(t, { LINK_URL: linkUrl })
    const { publisher, merchant, addCampaign } = await makePublisherWorld(db)
    const paid = {
      ...{ pubId: publisher.pub_id, merchId: merchant.merch_id, campaignId: await addCampaign() },
      ...{ model: MODEL.cpc, termsAmount: 400_000, reservedMicros: 400_000 },
    }
    const log = openFoldedLog(scope, db)
    const events = new MoneyEvents()
    const key = Buffer.alloc(16, 1)
    await log.record(
      events.click('reader', now.ms, {
        ...paid,
        visitorReturned: 0,
        agentKey: key,
        addressKey: key,
      }),
      events.click('old', now.ms, { ...paid, visitorReturned: null }),
      events.click('yesterday', now.ms - DAY_MS, { ...paid, visitorReturned: 0 }),
      events.click('free', now.ms, { ...paid, visitorReturned: 0, model: MODEL.cpa }),
    )
    assert.match((await check('addresses')).detail, /^no paid click/)
    await log.record(events.click('local', now.ms, { ...paid, visitorReturned: 0 }))
    const finding = await check('addresses')
    assert.match(
      finding.detail,
      /^1 paid clicks of the last 24 hours.*add your proxy to TRUSTED_PROXIES/,
    )
    assert.equal(finding.ok, ok, linkUrl)
  }
})

test('reports what an unusable database lacks', async (t) => {
  const { db, check } = await makeInstallation(t)
  const name = identifier(String(db.connection.database))
  await db.run(sql`alter database ${name} set default_transaction_read_only = on`)
  const { ok, detail } = await check('database')
  await db.run(sql`alter database ${name} reset default_transaction_read_only`)
  assert.equal(ok, false)
  assert.match(detail, /takes no writes/)
})

test('a database that is silent is waited for no longer than seconds', async (t) => {
  const { check, openings } = await makeInstallation(t)
  await check('database')
  assert.deepEqual(openings[0], { statementTimeoutMs: 5_000 })
})

test('reports a database of another version of the program, and the fix', async (t) => {
  const { db, check } = await makeInstallation(t)
  const newest = sql`select max(name) from migration`
  await db.run(sql`update migration set name = '9999_later' where name = (${newest})`)
  assert.match((await check('migrations')).detail, /at migration 9999 .* the newer program/)
  await db.run(sql`delete from migration where name = '9999_later'`)
  const { ok, detail } = await check('migrations')
  assert.equal(ok, false)
  assert.match(detail, /run souk migrate/)
  for (const name of ['lag', 'fold', 'leases']) {
    const unseen = { name, ok: true, detail: 'not looked at: see migrations' }
    assert.deepEqual(await check(name), unseen)
  }
  await db.run(sql`delete from migration`)
  const empty = 'empty: the first start or command migrates it'
  assert.deepEqual(await check('migrations'), { name: 'migrations', ok: true, detail: empty })
})

test('reports fewer connections than nodes and a command need, whichever limit causes it', async (t) => {
  const { scope, db, check } = await makeInstallation(t)
  const name = identifier(String(db.connection.database))
  await db.run(sql`alter database ${name} connection limit 33`)
  const { ok, detail } = await check('connections')
  assert.equal(ok, false)
  assert.match(detail, /^33 are allowed, a node and a command take up to 34: raise max_connections/)
  await db.run(sql`alter database ${name} connection limit 34`)
  assert.equal((await check('connections')).ok, true)
  await serveBeside(scope, db)
  await serveBeside(scope, db)
  assert.match((await check('connections')).detail, /2 nodes and a command take up to 64/)
})

test('reports a fetched feed without an import for a day, with its error', async (t) => {
  const { db, now, check } = await makeInstallation(t)
  const { merchant } = await makePublisherWorld(db)
  const fed = (ageMs: number) =>
    db.run(sql`update merchant set feed_imported_at = ${new Date(now.ms - ageMs)}`)
  await fed(2 * DAY_MS)
  assert.equal((await check('feeds')).ok, true, 'its feed is brought by hand')
  await db.run(sql`
    insert into feed_source (merch_id, url, format, tried_at, error)
    values (${merchant.merch_id}, 'https://shop.example/f.csv', 'auto', now(), 'it answered 503')`)
  const { ok, detail } = await check('feeds')
  assert.equal(ok, false)
  assert.match(detail, /^1 could not be imported for a day; merchant \d+: it answered 503$/)
  await db.run(sql`update feed_source set error = null`)
  assert.match((await check('feeds')).detail, /no worker has tried/)
  await fed(DAY_MS - SECOND_MS)
  assert.equal((await check('feeds')).ok, true)
})

test('reports uploaded feeds that are too old to bid, where a campaign waits', async (t) => {
  const { db, now, check } = await makeInstallation(t)
  const { addCampaign } = await makePublisherWorld(db)
  await db.run(sql`update merchant set feed_imported_at = ${new Date(now.ms - 2 * DAY_MS)}`)
  assert.doesNotMatch((await check('feeds')).detail, /by hand/, 'nothing of it is to bid')
  await addCampaign()
  assert.match(
    (await check('feeds')).detail,
    /; of 1 brought by hand no offer bids, .* merchant \d+$/,
  )
  await db.run(sql`update merchant set feed_imported_at = ${new Date(now.ms)}`)
  assert.doesNotMatch((await check('feeds')).detail, /by hand/)
})

test('reports a clock that is off by more than leases allow', async (t) => {
  const { check } = await makeInstallation(t)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60 * SECOND_MS })
  const { ok, detail } = await check('clock')
  assert.equal(ok, false)
  assert.match(detail, /synchronise the clocks/)
})

test('reports an event that the fold set aside, with its error', async (t) => {
  const { db, check } = await makeInstallation(t)
  await db.run(sql`
    insert into unfolded_event (lane, seq, event_id, day, error)
    values (0, 7, 12, '2026-03-02', 'event 12 cannot be folded: out of range')`)
  const { ok, detail } = await check('fold')
  assert.equal(ok, false)
  assert.match(detail, /1 set aside, the first of 2026-03-02: event 12 cannot be folded: out of/)
})

test('reports merchants and publishers that figures name and the database lacks', async (t) => {
  const { scope, db, now, check } = await makeInstallation(t)
  const { publisher, merchant } = await makePublisherWorld(db)
  const { record } = openFoldedLog(scope, db)
  const events = new MoneyEvents()
  const [pubId, merchId] = [publisher.pub_id, merchant.merch_id]
  await record(
    events.click('a', now.ms, { pubId, merchId }),
    events.payment(now.ms, 100, { merchId }),
  )
  assert.equal((await check('fold')).detail, 'no event was set aside')

  await record(events.click('b', now.ms, { pubId: 8 }), events.payment(now.ms, 100, { merchId: 9 }))
  const { ok, detail } = await check('fold')
  assert.equal(ok, true)
  assert.match(detail, /figures stand under merchant 9, publisher 8, which the database has lost$/)
})

test('events that wait are a lag beside a server, and nothing wrong after the last one stopped', async (t) => {
  const { scope, db, now, check } = await makeInstallation(t)
  const log = openFoldedLog(scope, db)
  const events = new MoneyEvents()
  const view = () => events.at(now.ms, { type: EVENT_TYPE.linkImpression, lane: 3 })
  await log.append([events.click('a', now.ms), view(), view()])
  const first = await serve(db)
  assert.equal((await check('lag')).ok, true, 'a moment is no lag')
  await first.release({ isSpoolEmpty: true })
  now.ms += 11 * SECOND_MS
  assert.match(
    (await check('lag')).detail,
    /not folded yet: 3, the first since 20\d\d-.*Z: no server runs/,
  )
  assert.equal((await check('lag')).ok, true)

  const claim = await serve(db)
  const { ok, detail } = await check('lag')
  assert.equal(ok, false)
  assert.match(detail, /role worker/)
  await claim.release({ isSpoolEmpty: true })
  await log.fold()
  assert.equal((await check('lag')).detail, 'everything is folded')
})

test('reports an impossible folder, records set aside, and open or damaged secrets', async (t) => {
  const { dataDir, check, write } = await makeInstallation(t)
  write('spool/1/segment')
  assert.equal((await check('spool')).ok, true)
  write('spool/1/aside/segment')
  assert.match((await check('spool')).detail, /1 damaged or refused files/)

  const secret = write('secrets/sealing-keys')
  assert.match((await check('secrets')).detail, /sealing-keys is damaged: .* restore it/)
  writeFileSync(secret, `1:${Buffer.alloc(32).toString('base64')}`)
  assert.equal((await check('secrets')).ok, true)
  await chmod(secret, 0o644)
  const open = await check('secrets')
  assert.equal(open.ok, false)
  assert.match(open.detail, /others may read .*sealing-keys: chmod 600/)

  await rm(dataDir, { recursive: true })
  assert.equal((await check('disk')).ok, true, 'it is made at the first start')
  writeFileSync(dataDir, 'in the way')
  assert.equal((await check('disk')).ok, false)
})

/** The stream of the installation whose database it is. */
async function openStream(natsUrl: string, db: Db): Promise<EventStream> {
  const installation = await readInstallation(db)
  return EventStream.open({ natsUrl, streamName: 'SOUK', installation })
}

test('checks JetStream where it is used, and reports when it is full or does not answer', async (t) => {
  const nats = await startNats(scopeOf(t))
  const { db, check } = await makeInstallation(t, { NATS_URL: nats.url })
  assert.deepEqual(await check('jetstream'), {
    name: 'jetstream',
    ok: true,
    detail: 'no stream yet: the first start makes it',
  })
  const stream = await openStream(nats.url, db)
  assert.equal((await check('jetstream')).detail, 'stream SOUK: 0 messages, 1 replicas')
  await stream.publish(0, Buffer.from('one'), 'one')
  await nats.fillStreams()
  const full = await check('jetstream')
  assert.equal(full.ok, false)
  assert.match(full.detail, /^stream SOUK: 1 messages, 1 replicas, and it is full: .*max_bytes/)
  await stream.close()
  await nats.kill()
  const away = await check('jetstream')
  assert.equal(away.ok, false)
  assert.match(away.detail, /^NATS_URL: JetStream is away \(.*ECONNREFUSED/)
})

test('reports the stream of another installation, if it knows its own', async (t) => {
  const nats = await startNats(scopeOf(t))
  const { db, check } = await makeInstallation(t, { NATS_URL: nats.url })
  const installation = randomUUID()
  await (await EventStream.open({ natsUrl: nats.url, streamName: 'SOUK', installation })).close()
  const { ok, detail } = await check('jetstream')
  assert.equal(ok, false)
  assert.match(detail, /^the stream SOUK of NATS_URL holds events of another database: give each/)
  await db.run(sql`delete from migration where name = (select max(name) from migration)`)
  assert.equal((await check('jetstream')).detail, 'stream SOUK: 0 messages, 1 replicas')
})

test('reports a NATS user that may not publish, because nothing else looks wrong', async (t) => {
  const nats = await startNats(scopeOf(t), { denied: 'souk.event.>' })
  const { db, check } = await makeInstallation(t, { NATS_URL: nats.url })
  const installation = await readInstallation(db)
  await (await EventStream.open({ natsUrl: nats.url, streamName: 'SOUK', installation })).close()
  const { ok, detail } = await check('jetstream')
  assert.equal(ok, false)
  assert.match(detail, /^stream SOUK: 0 messages, .* let it publish to souk\.event\.SOUK\.\*/)
})

test('reports spooled events while a server runs, because the log does not accept them', async (t) => {
  const { scope, db, now, check, write } = await makeInstallation(t)
  write('spool/1/00000001.spool')
  assert.equal((await check('spool')).ok, true, 'a moment is nothing')
  now.ms += 11 * SECOND_MS
  const off = await check('spool')
  assert.equal(off.ok, true)
  assert.match(off.detail, /some for 11 s: no server runs/)
  await serveBeside(scope, db)
  const stuck = await check('spool')
  assert.equal(stuck.ok, false)
  assert.match(stuck.detail, /some for 11 s: does a server run on this SOUK_DATA\?/)
})

test('reports messages that nobody carries into the log', async (t) => {
  const scope = scopeOf(t)
  const nats = await startNats(scope)
  const { db, now, check } = await makeInstallation(t, { NATS_URL: nats.url })
  const stream = await openStream(nats.url, db)
  scope.after(() => stream.close())
  for (const place of ['one', 'two', 'three']) await stream.publish(0, Buffer.from(place), place)
  await db.run(sql`
    insert into stream_position (stream, created, position)
    values ('SOUK', ${await stream.created()}, 1)`)
  const held = 'stream SOUK: 3 messages, 1 replicas'
  const fresh = await check('jetstream')
  assert.deepEqual([fresh.ok, fresh.detail], [true, `${held}, 2 not in the log yet`])
  now.ms += 11 * SECOND_MS
  const off = await check('jetstream')
  assert.deepEqual([off.ok, off.detail], [true, `${held}, 2 not in the log yet: no server runs`])
  await serveBeside(scope, db)
  const stuck = await check('jetstream')
  assert.equal(stuck.ok, false)
  assert.match(stuck.detail, /role worker and NATS_URL/)
  await db.run(sql`update stream_position set position = 3`)
  assert.equal((await check('jetstream')).detail, held)
})

test('reports last night’s figures that disagree with the log, and the command that lists them', async (t) => {
  const { db, check } = await makeInstallation(t)
  const night = (at: string, differences: number) =>
    db.run(sql`
      insert into reconciliation (at, from_day, to_day, events, differences)
      values (${at}, '2026-07-01', '2026-07-08', 5000, ${differences})`)
  await night('2026-07-08T03:10:00Z', 2)
  assert.deepEqual(await check('reconciled'), {
    name: 'reconciled',
    ok: false,
    detail:
      '2026-07-08T03:10:00Z: 5000 events, 2 differences: ' +
      'souk reconcile --from 2026-07-01 --to 2026-07-08 names them',
  })
  await night('2026-07-09T03:10:00Z', 0)
  await night('2126-07-09T03:10:00Z', 2) // by a clock that is right again
  assert.equal((await check('reconciled')).ok, true)
})

test('rows that a storage quota left out are named, with whose and how many', async (t) => {
  const { db, check } = await makeInstallation(t)
  const today = utcDay(Date.now())
  const views = { day: today, kind: 'views', organizationId: 3, bytes: 10 }
  await addStoredBytes(db, [{ ...views, leftOut: 0 }])
  assert.equal((await check('quotas')).ok, true)
  await addStoredBytes(db, [{ ...views, leftOut: 12 }])
  const { ok, detail } = await check('quotas')
  assert.equal(ok, false)
  assert.match(detail, new RegExp(`12 views of publisher 3 on ${today}`))
})
