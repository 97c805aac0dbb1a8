/** Jobs, reconciliations, health and settings of the network, over HTTP. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { until } from '../../test/support/market.ts'
import { makeNetworkApi } from '../../test/support/network-api.ts'
import { sql } from '../platform/postgres/sql.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'

const SECRET = Buffer.alloc(32, 7).toString('base64')
const api = await startApi({ after }, { env: { SOUK_SECRETS: `1:${SECRET}` } })
const network = await makeNetworkApi(api)

const listOf = async <T = Record<string, unknown>>(path: string) =>
  (await network.call(path)).json<{ data: T[] }>().data
const jobOf = async (job: string) => (await listOf('jobs/')).find((row) => row.job === job)
const post = (path: string) => network.call(path, { method: 'POST' })

test('a reconciliation runs now, on a worker, and its result is first in the list', async () => {
  const started = await post('reconciliation/run/')
  assert.equal(started.status, 202, started.text)
  const audit = await network.lastAudit()
  assert.deepEqual([audit?.action, audit?.target], ['job.run', 'job:reconcile'])
  await until(async () => (await listOf('reconciliation/')).length > 0)
  const [last] = await listOf('reconciliation/')
  assert.deepEqual([last?.differences, last?.first_differences], [0, []])
  assert.equal(last?.datetime_created, formatTimestamp(new Date(Number(last?.reconciliation_id))))
  await until(async () => (await jobOf('reconcile'))?.state === 'idle')
  const job = await jobOf('reconcile')
  assert.deepEqual([job?.schedule, job?.error], ['10 3 * * *', null])
  assert.ok(job?.datetime_succeeded !== null && job?.datetime_next !== null)
})

test('a job that is running is not started again, and its error is shown', async () => {
  const { database: db } = api.app.node
  assert.equal((await post('jobs/none/run/')).status, 404)
  await db.run(sql`
    update job set worker = 'another', leased_until = now() + interval '1 minute',
      next_at = 'infinity', error = 'out of luck'
    where task = 'guard_exploration'`)
  assert.equal((await jobOf('guard_exploration'))?.error, 'out of luck')
  assert.equal((await jobOf('guard_exploration'))?.state, 'running')
  const refused = await post('jobs/guard_exploration/run/')
  assert.deepEqual([refused.status, refused.failure().code], [409, 4091])
})

test('health shows every check, this node, the fold, and events set aside', async () => {
  await api.app.untilFolded()
  await api.db.run(sql`
    insert into unfolded_event (lane, seq, event_id, day, error)
    values (0, 1, 77, '2026-03-02', 'broken body')`)
  interface Health {
    readonly is_ok: boolean
    readonly checks: readonly { name: string; is_ok: boolean; detail: string }[]
    readonly nodes: readonly { roles: string[]; is_alive: boolean }[]
    readonly fold: { readonly lag_seconds: number; readonly events_waiting: number }
    readonly unfolded_events: readonly { event_id: string; error: string }[]
  }
  const health = (await network.call('health/')).entry<Health>()
  const failed = health.checks.filter(({ is_ok }) => !is_ok).map(({ name }) => name)
  assert.ok(failed.includes('fold'), 'an event was set aside')
  assert.equal(health.is_ok, false)
  for (const name of ['database', 'migrations', 'lag', 'spool', 'secrets', 'disk']) {
    assert.ok(
      health.checks.some((check) => check.name === name),
      name,
    )
  }
  assert.deepEqual(health.nodes[0]?.roles.toSorted(), ['api', 'edge', 'worker'])
  assert.deepEqual([health.fold.lag_seconds, health.fold.events_waiting], [0, 0])
  assert.deepEqual(
    health.unfolded_events.map(({ event_id, error }) => [event_id, error]),
    [['77', 'broken body']],
  )
})

test('settings are listed without secrets', async () => {
  const answer = await network.call('settings/')
  const settings = new Map(
    answer
      .json<{ data: { name: string; value: string | null }[] }>()
      .data.map(({ name, value }) => [name, value]),
  )
  assert.equal(settings.get('BASE_URL'), 'https://souk.example')
  assert.deepEqual([settings.get('SOUK_SECRETS'), settings.get('NATS_URL')], ['set', null])
  assert.ok(!answer.text.includes(SECRET))
  assert.ok(!answer.text.includes('postgres'))
})

test('staff read all of it and start nothing', async () => {
  const staff = await makeNetworkApi(api, 'staff')
  for (const path of ['jobs/', 'reconciliation/', 'health/', 'settings/']) {
    assert.equal((await staff.call(path)).status, 200, path)
  }
  for (const path of ['jobs/reconcile/run/', 'reconciliation/run/']) {
    assert.equal((await staff.call(path, { method: 'POST' })).failure().code, 4305, path)
  }
})

test('a worker stores the state of the fold, and deletes it after a day', async () => {
  const { database: db } = api.app.node
  await db.run(sql`
    insert into health_sample values (now() - interval '25 hours', 1, 1, 1)`)
  assert.equal((await post('jobs/sample_health/run/')).status, 202)
  await until(async () => (await listOf('health/history/')).length > 0)
  const [sample] = await listOf('health/history/')
  assert.deepEqual([sample?.nodes_alive, sample?.events_waiting], [1, 0])
  await until(async () => (await jobOf('sample_health'))?.state === 'idle')
  const row = await db.row<{ n: number }>(sql`
    select count(*)::int as n from health_sample where at < now() - interval '24 hours'`)
  assert.equal(row?.n, 0)
})
