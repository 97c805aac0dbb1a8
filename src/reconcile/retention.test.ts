/** Deletion of views after RETENTION_DAYS, and the totals that replace them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { foldBusyLog } from '../../test/support/busy-log.ts'
import { testDatabase } from '../../test/support/database.ts'
import { START_MS } from '../../test/support/money-events.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { EVENT_TYPE, type LogEvent, newEvent } from '../events/event.ts'
import { ensureEventPartitions } from '../events/partitions.ts'
import { type Keys, retireViews } from '../events/view-totals.ts'
import { type Db, openDatabase } from '../platform/postgres/postgres.ts'
import { constantSql, type Sql, sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { reconcile } from './reconcile.ts'

const RETENTION_DAYS = 31
/** On this day the views of 2, 3 and 4 March are older than that; those of 5 to 7 March stay. */
const NOW_MS = Date.UTC(2026, 2, 5 + RETENTION_DAYS, 4)
const KEYS: Keys = [{ id: 7, key: Buffer.alloc(32, 7) }]
const EVERYTHING = { from: null, to: null }

async function makeWorld(t: TestContext) {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  await ensureEventPartitions(db, START_MS)
  const { log, events } = await foldBusyLog(scope, db)
  const retire = (keys = KEYS, nowMs = NOW_MS) =>
    retireViews(db, { nowMs, retentionDays: RETENTION_DAYS, keys })
  const check = (keys = KEYS) => reconcile(db, { ...EVERYTHING, keys })
  const text = (query: Sql) => db.rows(sql`select row::text from (${query}) as row order by 1`)
  return { db, log, events, retire, check, text }
}

const VIEWS = sql`select * from event where lane > 0`
const MONEY = sql`select * from event where lane = 0`
const TOTALS = sql`select * from view_total natural join (select day, lane from view_day) as days`
const FIGURES = sql`select 'page' as of, p::text as row from page_day p union all
  select 'link', l::text from link_day l union all select 'stats', s::text from stats_day s`
const isOld = ({ lane, atMs }: LogEvent) => lane > 0 && atMs < NOW_MS - RETENTION_DAYS * DAY_MS

test('views older than RETENTION_DAYS are deleted, and their totals, the figures and all money stay', async (t) => {
  const { events, retire, check, text } = await makeWorld(t)
  const [money, figures] = [await text(MONEY), await text(FIGURES)]
  const old = events.filter(isOld)
  assert.equal(await retire(), old.length)
  assert.equal(
    (await text(VIEWS)).length,
    events.filter(({ lane }) => lane > 0).length - old.length,
  )
  assert.deepEqual(await text(MONEY), money)
  assert.deepEqual(await text(FIGURES), figures)
  const { differences, totals } = await check()
  assert.deepEqual(differences, [])
  // The sessions of the days after the deleted ones began on deleted days.
  const views = events.filter(({ lane }) => lane > 0).length
  assert.deepEqual(totals, { from: '2026-03-02', to: '2026-03-07', events: views })

  const before = await text(TOTALS)
  assert.equal(await retire(), 0, 'a second night finds nothing to do')
  assert.deepEqual(await text(TOTALS), before)
})

test('reconcile lists the days for which it used totals, and any range of days agrees', async (t) => {
  const { db, log, events, retire } = await makeWorld(t)
  const [page] = events.filter(({ type }) => type === EVENT_TYPE.pageImpression)
  assert.ok(page)
  await log.record(newEvent({ ...page, id: '1000001', atMs: Date.UTC(2026, 3, 5) }))
  const checkDays = (from: string, to: string) => reconcile(db, { from, to, keys: KEYS })
  assert.equal((await checkDays('2026-03-02', '2026-03-07')).totals, null)
  await retire()
  for (const [from, to, used] of [
    ['2026-03-02', '2026-03-02', { from: '2026-03-02', to: '2026-03-02' }],
    ['2026-03-04', '2026-03-06', { from: '2026-03-04', to: '2026-03-06' }],
    ['2026-03-07', '2026-04-05', { from: '2026-03-07', to: '2026-03-07' }],
    ['2026-04-04', '2026-04-05', null],
  ] as const) {
    const { differences, totals, unchecked } = await checkDays(from, to)
    assert.deepEqual(differences, [], `${from} to ${to}`)
    assert.equal(
      unchecked.some((text) => text.startsWith('page_slot: ')),
      used !== null,
    )
    assert.deepEqual(totals && { from: totals.from, to: totals.to }, used)
  }
})

/** Each entry breaks one statement of the nightly job. */
const BREAKS: readonly { readonly where: string; readonly trigger: string }[] = [
  { where: 'while totals are written', trigger: 'before insert on view_total for each row' },
  { where: 'before totals are signed', trigger: 'before insert on view_day for each row' },
  {
    where: 'between the totals and the drop',
    trigger: `before update on view_day for each row when (new.state = 'dropping')`,
  },
  { where: 'while events are deleted', trigger: 'before delete on event_20260303 for each row' },
  {
    where: 'before the drop is recorded',
    trigger: `before update on view_day for each row when (new.state = 'dropped')`,
  },
]

for (const { where, trigger } of BREAKS) {
  test(`a crash ${where} loses and doubles nothing, and the next night continues`, async (t) => {
    const { db, events, retire, check, text } = await makeWorld(t)
    const figures = await text(FIGURES)
    await db.run(sql`
      create function crash() returns trigger language plpgsql as
      $$ begin raise exception 'the machine is gone'; end $$`)
    await db.run(constantSql(`create trigger crash ${trigger} execute function crash()`))
    await assert.rejects(retire(), /the machine is gone/)
    assert.deepEqual((await check()).differences, [])
    await db.run(sql`drop function crash cascade`)

    await retire()
    assert.equal(
      (await text(sql`select * from event where day < '2026-03-05' and lane > 0`)).length,
      0,
    )
    assert.deepEqual(await text(FIGURES), figures)
    const { differences, totals } = await check()
    assert.deepEqual(differences, [])
    assert.equal(totals?.events, events.filter(({ lane }) => lane > 0).length)
  })
}

test('a manipulated, missing or added total is found, and nothing more is deleted', async (t) => {
  const { db, retire, check, text } = await makeWorld(t)
  await retire()
  for (const change of [
    sql`update view_total set counted = counted + 1 where day = '2026-03-02' and type = 1`,
    sql`delete from view_total where day = '2026-03-02' and type = 4`,
    sql`insert into view_total select day, lane, 2, 9, 77, null, 1, null, 1, 1 from view_day
        where day = '2026-03-02'`,
    sql`update view_day set events = events + 1 where day = '2026-03-02'`,
    sql`update view_day set seq = seq + 1 where day = '2026-03-02'`,
  ]) {
    const views = await text(VIEWS)
    await db.run(sql`create table kept_total as select * from view_total`)
    await db.run(sql`create table kept_day as select * from view_day`)
    await db.run(change)
    const { differences } = await check()
    assert.ok(
      differences.some(({ table, cause }) => table === 'view_total' && /signed/.test(cause)),
    )
    await db.run(sql`update view_day set state = 'dropping'`)
    await assert.rejects(retire(), /2026-03-02, lane \d+ are not what was signed by key 7/)
    assert.deepEqual(await text(VIEWS), views)
    await db.run(sql`truncate view_total, view_day`)
    await db.run(sql`insert into view_total select * from kept_total`)
    await db.run(sql`insert into view_day select * from kept_day`)
    await db.run(sql`drop table kept_total, kept_day`)
    assert.deepEqual((await check()).differences, [])
  }
})

test('a manipulated total is found even if nothing has happened since its day', async (t) => {
  const { db, log, events, retire, check } = await makeWorld(t)
  const page = events.find(({ type }) => type === EVENT_TYPE.pageImpression)
  assert.ok(page)
  const atMs = Math.max(...events.map((event) => event.atMs)) + DAY_MS
  await log.record(newEvent({ ...page, id: '1000001', atMs, sessionKey: Buffer.alloc(16, 1) }))
  await retire(KEYS, atMs + (RETENTION_DAYS + 1) * DAY_MS)
  await db.run(sql`
    update view_day set signature = '\\x00' where day = (select max(day) from view_day)`)
  const { to, totals, differences } = await check()
  assert.equal(to, totals?.to)
  assert.match(differences[0]?.cause ?? '', /not what was signed by key 7/)
})

test('a manipulated figure of a deleted day is found by its total', async (t) => {
  const { db, retire, check } = await makeWorld(t)
  await retire()
  await db.run(sql`update page_day set impressions = impressions + 1 where day = '2026-03-02'`)
  await db.run(sql`update link_day set viewable_impressions = 0 where day = '2026-03-03'`)
  await db.run(sql`update stats_day set placements = 9 where day = '2026-03-04'`)
  const { differences } = await check()
  assert.deepEqual(
    differences.map(({ table, column, expected, found }) => [table, column, expected, found]),
    [
      ['stats_day', 'placements', '1', '9'],
      ['page_day', 'impressions', '1', '2'],
      ['page_span', 'impressions', '4', '3'],
      ['page_span', 'impressions', '4', '3'],
      ['link_day', 'viewable_impressions', '1', '0'],
    ],
  )
})

test('events that arrive after their day was deleted count, and are deleted later', async (t) => {
  const { db, log, events, retire, check, text } = await makeWorld(t)
  await retire()
  const page = events.find(({ type }) => type === EVENT_TYPE.pageImpression)
  const link = events.find(({ type }) => type === EVENT_TYPE.linkImpression)
  assert.ok(page && link)
  const late = [
    newEvent({ ...page, id: '1000001', sessionKey: Buffer.from('a late session'.padEnd(16)) }),
    newEvent({ ...link, id: '1000002' }),
  ]
  await log.record(...late)
  assert.deepEqual((await check()).differences, [])
  assert.equal(await retire(), 2)
  const { differences, totals } = await check()
  assert.deepEqual(differences, [])
  assert.equal(totals?.events, events.filter(({ lane }) => lane > 0).length + 2)
  assert.equal((await text(sql`select * from event where id >= 1000001`)).length, 0)
  const left = await db.rows(sql`select distinct state from view_day where day < '2026-03-05'`)
  assert.deepEqual(left, [{ state: 'dropped' }])
})

test('what another worker adds to a day during its deletion does not count as manipulated', async (t) => {
  const { db, log, events, retire, check, text } = await makeWorld(t)
  const page = events.find(({ type }) => type === EVENT_TYPE.pageImpression)
  assert.ok(page)
  const late = newEvent({ ...page, id: '1000001', sessionKey: Buffer.alloc(16, 1) })
  const meanwhile: Db = {
    ...db,
    rows: async <T>(query: Sql) => {
      const found = await db.rows<T>(query)
      if (!query.text.includes("state <> 'dropped'")) return found
      await log.record(late)
      await retire()
      return found
    },
  }
  await retireViews(meanwhile, { nowMs: NOW_MS, retentionDays: RETENTION_DAYS, keys: KEYS })
  assert.deepEqual((await check()).differences, [])
  assert.equal((await text(sql`select * from event where id = 1000001`)).length, 0)
})

test('after a rotation of SOUK_SECRETS totals are signed again while the old key is known', async (t) => {
  const { retire, check } = await makeWorld(t)
  await retire()
  const newer = { id: 8, key: Buffer.alloc(32, 8) }
  await retire([newer, ...KEYS])
  assert.deepEqual((await check([newer])).differences, [])
  const { differences } = await check([{ id: 9, key: newer.key }])
  assert.match(differences[0]?.cause ?? '', /signed by key 8, which SOUK_SECRETS lacks/)
  const forged = await check([{ id: 8, key: Buffer.alloc(32, 1) }])
  assert.match(forged.differences[0]?.cause ?? '', /not what was signed by key 8/)
})

test('manipulated totals are never signed again, nor extended and then signed', async (t) => {
  const { db, log, events, retire, check } = await makeWorld(t)
  await retire()
  await db.run(sql`update view_total set counted = counted + 1 where day = '2026-03-02'`)
  const newer = { id: 8, key: Buffer.alloc(32, 8) }
  await assert.rejects(retire([newer, ...KEYS]), /not what was signed by key 7/)
  const page = events.find(({ type }) => type === EVENT_TYPE.pageImpression)
  assert.ok(page)
  await log.record(newEvent({ ...page, id: '1000001', sessionKey: Buffer.alloc(16, 1) }))
  await assert.rejects(retire(), /not what was signed by key 7/)
  const found = (await check([newer, ...KEYS])).differences.map(({ cause }) => cause)
  assert.ok(found.some((cause) => /not what was signed by key 7/.test(cause ?? '')))
})

test('unfolded events are neither totalled nor deleted', async (t) => {
  const { db, events, log, retire, check } = await makeWorld(t)
  const page = events.find(({ type }) => type === EVENT_TYPE.pageImpression)
  assert.ok(page)
  await log.append([newEvent({ ...page, id: '1000001', sessionKey: Buffer.alloc(16, 1) })])
  await retire()
  const waiting = await db.rows(sql`select id from event where id = 1000001`)
  assert.equal(waiting.length, 1)
  await log.fold()
  assert.deepEqual((await check()).differences, [])
})

test('the totals of a day take time in proportion to its views', async (t) => {
  const scope = scopeOf(t)
  const { connection, ...db } = await testDatabase(scope)
  await ensureEventPartitions(db, START_MS)
  const views = 16_000
  await db.run(sql`
    insert into event (day, id, lane, type, at, pub_id, session_key, url_key)
    select '2026-03-02', n, 1, ${EVENT_TYPE.pageImpression}, '2026-03-02T12:00:00Z', 1,
      decode(md5((n / 2)::text), 'hex'), decode(md5('page'), 'hex')
    from generate_series(0, ${views - 1}::int) as n`)
  await db.run(sql`update lane set position = (select max(seq) from event) where lane = 1`)
  // As autovacuum does, which leaves the partitioned table out.
  await db.run(sql`analyze event_20260302`)
  const hasty = openDatabase({ connection, applicationName: 'hasty', statementTimeoutMs: 5_000 })
  scope.after(() => hasty.close())
  const retention = { nowMs: NOW_MS, retentionDays: RETENTION_DAYS, keys: KEYS }
  assert.equal(await retireViews(hasty, retention), views)
  const total = await db.row(sql`select events::int, counted::int from view_total`)
  assert.deepEqual(total, { events: views, counted: views / 2 })
})
