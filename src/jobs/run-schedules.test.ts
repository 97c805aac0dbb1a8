/** How workers share the scheduled jobs, and what happens when a worker or the database fails. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { type Scope, testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/market.ts'
import { openProxy } from '../../test/support/proxy.ts'
import { scopeOf } from '../../test/support/scope.ts'
import type { Node } from '../node/node.ts'
import { type Database, openDatabase } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { makeLogger } from '../platform/process/log.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { claimJob, queueJob, renewLeases } from './job-store.ts'
import { startSchedules } from './run-schedules.ts'
import type { Schedule } from './schedules.ts'

const NEVER = '0 0 30 2 *'
const HOURLY = '0 * * * *'
const LEASE_MS = 400
const FAST = { leaseMs: LEASE_MS, pollMs: 20 }
const api = await startApi({ after })

const start = async (scope: Scope, database: Database, schedules: readonly Schedule[]) => {
  const node: Node = { ...api.app.node, database, log: makeLogger({ level: 'silent' }) }
  const running = await startSchedules(node, schedules, FAST)
  scope.after(() => running.close())
  return running
}
const job = (database: Database, task: string) =>
  database.row<{ next_at: Date; worker: string | null; error: string | null; failures: number }>(
    sql`select next_at, worker, error, failures from job where task = ${task}`,
  )

/** A job that signals each start, and ends on request. */
function heldJob(task: string, cron = NEVER) {
  const over = Promise.withResolvers<void>()
  const held = { task, cron, runs: 0, end: over.resolve }
  const work = () => {
    held.runs += 1
    return over.promise
  }
  return Object.assign(held, { work })
}

test('a job that is due runs on one of two workers only', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const [one, other] = [heldJob('nightly'), heldJob('nightly')]
  await start(scope, database, [one])
  await start(scope, database, [other])
  await queueJob(database, 'nightly')
  await until(() => one.runs + other.runs > 0)
  await new Promise((resolve) => setTimeout(resolve, 3 * LEASE_MS)) // Longer than the lease.
  assert.equal(one.runs + other.runs, 1, 'its worker renews the lease')
  one.end()
  other.end()
  await until(async () => (await job(database, 'nightly'))?.worker === null)
  assert.equal(one.runs + other.runs, 1)
})

test('a job of a killed worker runs again when its lease expires', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const mine = heldJob('nightly')
  await (await start(scope, database, [mine])).close() // Registers the job.
  await queueJob(database, 'nightly')
  const lease = { worker: 'killed', tasks: ['nightly'], leaseMs: HOUR_MS }
  assert.equal(await claimJob(database, lease), 'nightly')
  const next = heldJob('nightly')
  await start(scope, database, [next])
  await new Promise((resolve) => setTimeout(resolve, 5 * FAST.pollMs))
  assert.equal(next.runs, 0, 'its lease holds')
  await renewLeases(database, { ...lease, leaseMs: 0 })
  await until(() => next.runs === 1)
  next.end()
})

test('a stop does not wait for running jobs, and the next start runs them again', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const endless = heldJob('endless')
  const running = await start(scope, database, [endless])
  await queueJob(database, 'endless')
  await until(() => endless.runs === 1)
  await running.close()
  const again = heldJob('endless')
  await start(scope, database, [again])
  await until(() => again.runs === 1)
  again.end()
  await until(async () => (await job(database, 'endless'))?.worker === null)
  endless.end()
})

test('a run asked for while the job runs follows it', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const mail = heldJob('send_mail')
  await start(scope, database, [mail])
  await queueJob(database, 'send_mail')
  await until(() => mail.runs === 1)
  await database.run(sql`
    insert into outgoing_mail (kind, recipient, subject, body, due_at, datetime_created)
    values ('text', 'ada@example.org', 'Hello', 'Ada', now(), now())`)
  mail.end()
  await until(() => mail.runs === 2)
})

test('a failed job is retried before its next time, with its error on record', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const isFailing = { value: true }
  const work = async () => {
    if (isFailing.value) throw new Error('out of luck')
  }
  await start(scope, database, [{ task: 'nightly', cron: HOURLY, work }])
  await queueJob(database, 'nightly')
  await until(async () => (await job(database, 'nightly'))?.failures === 1)
  const failed = await job(database, 'nightly')
  assert.equal(failed?.error, 'out of luck')
  const delayMs = Number(failed?.next_at) - Date.now()
  assert.ok(delayMs > 0 && delayMs < 5_000, `${delayMs} ms`)
  isFailing.value = false
  await queueJob(database, 'nightly') // Does not wait for the retry.
  await until(async () => (await job(database, 'nightly'))?.failures === 0)
  assert.equal((await job(database, 'nightly'))?.error, null)
})

test('a job missed while the service was off runs once at its start', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  let runs = 0
  const nightly = { task: 'nightly', cron: HOURLY, work: async () => (runs += 1) }
  await (await start(scope, database, [nightly])).close()
  await database.run(sql`update job set next_at = now() - interval '2 days'`)
  await start(scope, database, [nightly])
  await until(async () => Number((await job(database, 'nightly'))?.next_at) > Date.now())
  assert.equal(runs, 1)
})

test('a time set by a fast clock, or by an earlier schedule, is corrected', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const nightly = { task: 'nightly', cron: HOURLY, work: async () => undefined }
  await (await start(scope, database, [nightly])).close()
  await database.run(sql`update job set next_at = now() + interval '2 years'`)
  await start(scope, database, [nightly])
  assert.ok(Number((await job(database, 'nightly'))?.next_at) <= Date.now() + HOUR_MS)
})

test('a worker with a fast clock deletes and issues by the database’s clock', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const node = { ...api.app.node, database, now: () => Date.now() + 500 * DAY_MS }
  const { promise: nowInJob, resolve } = Promise.withResolvers<number>()
  const work = async ({ now }: Node) => resolve(now())
  const running = await startSchedules(node, [{ task: 'forget', cron: NEVER, work }], FAST)
  scope.after(() => running.close())
  await queueJob(database, 'forget')
  assert.ok(Math.abs((await nowInJob) - Date.now()) < HOUR_MS)
})

test('a job whose end could not be recorded runs again when the database is back', async (t) => {
  const scope = scopeOf(t)
  const own = await testDatabase(scope)
  const { host, port, ...who } = own.connection
  const proxy = await openProxy({ path: `${host}/.s.PGSQL.${port}` }, 'pass')
  scope.after(() => proxy.close())
  const connection = { ...who, host: '127.0.0.1', port: proxy.port }
  const database = openDatabase({ connection, applicationName: 'souk: test' })
  scope.after(() => database.close())
  let runs = 0
  const cut = async () => {
    runs += 1
    if (runs > 1) return
    proxy.setMode('refuse')
    throw new Error('its work failed')
  }
  await start(scope, database, [{ task: 'nightly', cron: NEVER, work: cut }])
  await queueJob(own, 'nightly')
  await until(() => runs === 1)
  proxy.setMode('pass')
  await until(() => runs === 2)
  await until(async () => (await job(own, 'nightly'))?.worker === null)
})
