import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { openDatabase } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { makeMetrics } from './metrics.ts'

test('a stopped fold shows in the age of waiting events and in the events set aside', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  await makePublisherWorld(db)
  const log = openFoldedLog(scope, db)
  let nowMs = Date.UTC(2026, 2, 2)
  const { registry } = makeMetrics({ db, now: () => nowMs, isWorker: true })
  const readMetric = async (name: string) =>
    (await registry.getSingleMetric(name)?.get())?.values[0]?.value

  await log.append([new MoneyEvents().click('a', nowMs)])
  nowMs += 90_000
  assert.equal(await readMetric('souk_fold_waiting_seconds'), 90)
  await log.fold()
  assert.equal(await readMetric('souk_fold_waiting_seconds'), 0)

  assert.equal(await readMetric('souk_unfolded_events'), 0)
  await db.run(sql`
    insert into unfolded_event (lane, seq, event_id, day, error)
    values (0, 7, 12, '2026-03-02', 'out of range')`)
  assert.equal(await readMetric('souk_unfolded_events'), 1)
})

test('reports metrics during a database outage, except those that need the database', async (t) => {
  const away = { host: '127.0.0.1', port: 1 }
  const db = openDatabase({ connection: away, applicationName: 'souk: test' })
  t.after(() => db.close())
  const text = await makeMetrics({ db, now: Date.now, isWorker: true }).registry.metrics()
  assert.match(text, /^souk_fold_waiting_seconds Nan$/im)
  assert.match(text, /^souk_unrecorded_clicks_total 0$/m)
})

test('a counter to alert on starts at 0, so that its first increment counts as growth', async (t) => {
  const away = { host: '127.0.0.1', port: 1 }
  const db = openDatabase({ connection: away, applicationName: 'souk: test' })
  t.after(() => db.close())
  const text = await makeMetrics({ db, now: Date.now, isWorker: false }).registry.metrics()
  assert.match(text, /^souk_unrecorded_clicks_total 0$/m)
  assert.match(text, /^souk_events_total\{outcome="unavailable"\} 0$/m)
})

test('counts events by outcome, each one separately', async () => {
  const db = openDatabase({
    connection: { host: '127.0.0.1', port: 1 },
    applicationName: 'souk: test',
  })
  const { registry, append } = makeMetrics({ db, now: Date.now, isWorker: false })
  append.spooled(1)
  append.drained(20)
  append.refused(300)
  append.unavailable(4_000)
  append.unavailable(1)
  const counted = (await registry.getSingleMetric('souk_events_total')?.get())?.values
  assert.deepEqual(
    counted?.map(({ labels, value }) => [labels.outcome, value]),
    [
      ['spooled', 1],
      ['drained', 20],
      ['refused', 300],
      ['unavailable', 4_001],
    ],
  )
  await db.close()
})
