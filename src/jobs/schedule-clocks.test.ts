import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/market.ts'
import { scopeOf } from '../../test/support/scope.ts'
import type { Node } from '../node/node.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { RUNNER_ENDED, startSchedules } from './run-schedules.ts'
import { SCHEDULES } from './schedules.ts'

const NEVER = '0 0 30 2 *'
const api = await startApi({ after })

test('a changed clock, or a machine that slept, has the effect of a stopped service', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const anHourAgo = new Date(Date.now() - HOUR_MS)
  const cron = `${anHourAgo.getUTCMinutes()} ${anHourAgo.getUTCHours()} * * *`
  let sleptMs = 0
  let nightly = 0
  const node = { ...api.app.node, database, now: () => Date.now() + sleptMs }
  const schedules = [
    { task: 'nightly', cron, isMadeUpFor: true, work: async () => (nightly += 1) },
    { task: 'never', cron: NEVER, work: async () => undefined },
  ]
  const running = await startSchedules(node, schedules, { leftCheckMs: 50 })
  scope.after(() => running.close())
  const age = sql`
    update graphile_worker._private_known_crontabs set known_since = now() - interval '2 days'`
  await until(async () => (await database.run(age)) === 2)
  sleptMs += HOUR_MS
  await until(() => nightly === 1)

  // By another worker with a fast clock. Until that time the job would not be due again.
  await database.run(sql`
    update graphile_worker._private_known_crontabs set last_execution = now() + interval '2 years'`)
  const ahead = sql`
    select from graphile_worker._private_known_crontabs where last_execution > now()`
  await until(async () => (await database.rows(ahead)).length === 0)
  assert.equal(nightly, 1)
})

test('after a clock change, a running job does not delay the others', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const begun = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const next = Promise.withResolvers<void>()
  const long = () => {
    begun.resolve()
    return over.promise
  }
  let setMs = 0
  const stepped = Promise.withResolvers<void>()
  const log: Node['log'] = Object.create(api.app.node.log, {
    warn: { value: (told: unknown) => told === RUNNER_ENDED && stepped.resolve() },
  })
  const node = { ...api.app.node, database, log, now: () => Date.now() + setMs }
  const running = await startSchedules(node, [
    { task: 'long', cron: NEVER, work: long },
    { task: 'next', cron: NEVER, work: async () => next.resolve() },
  ])
  scope.after(() => running.close())
  scope.after(async () => over.resolve())
  await database.run(sql`select graphile_worker.add_job('long')`)
  await begun.promise
  setMs += HOUR_MS
  await stepped.promise
  await database.run(sql`select graphile_worker.add_job('next')`)
  await next.promise
  over.resolve()
  const jobs = sql`select from graphile_worker.jobs`
  await until(async () => (await database.rows(jobs)).length === 0)
})

test('a worker with a fast clock deletes and issues by the database’s clock', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const node = { ...api.app.node, database, now: () => Date.now() + 500 * DAY_MS }
  const { promise: told, resolve } = Promise.withResolvers<number>()
  const schedules = [
    { task: 'forget', cron: NEVER, work: async ({ now }: typeof node) => resolve(now()) },
  ]
  const running = await startSchedules(node, schedules)
  scope.after(() => running.close())
  await database.run(sql`select graphile_worker.add_job('forget')`)
  assert.ok(Math.abs((await told) - Date.now()) < HOUR_MS)
})

test('a start after days fetches feeds at once, because old offers do not bid', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const node = { ...api.app.node, database }
  let rounds = 0
  const schedules = SCHEDULES.filter(({ task }) => task === 'refetch_feeds').map((schedule) => ({
    ...schedule,
    work: async () => (rounds += 1),
  }))
  const before = await startSchedules(node, schedules)
  const off = sql`
    update graphile_worker._private_known_crontabs
    set known_since = now() - interval '2 days', last_execution = now() - interval '2 days'`
  await until(async () => (await database.run(off)) === 1)
  await before.close()
  const running = await startSchedules(node, schedules)
  scope.after(() => running.close())
  await until(() => rounds > 0)
  await database.run(sql`select graphile_worker.add_job('refetch_feeds')`)
  const jobs = sql`select from graphile_worker.jobs`
  await until(async () => (await database.rows(jobs)).length === 0)
  assert.equal(rounds, 2, 'one for all the turns that were missed, and the one asked for')
})
