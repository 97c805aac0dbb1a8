/** Jobs of a process that died, or that only seems to have died. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../../test/support/api.ts'
import { type Scope, testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/market.ts'
import { openProxy } from '../../test/support/proxy.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { claimNode } from '../platform/postgres/node-registry.ts'
import { type Database, openDatabase } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { makeLogger } from '../platform/process/log.ts'
import { startSchedules } from './run-schedules.ts'

const NEVER = '0 0 30 2 *'
const CHECK_MS = 50
const api = await startApi({ after })

const start = async (scope: Scope, database: Database, work: () => Promise<unknown>) => {
  const running = await startSchedules(
    { ...api.app.node, database, log: makeLogger({ level: 'silent' }) },
    [{ task: 'nightly', cron: NEVER, work }],
    { leftCheckMs: CHECK_MS },
  )
  scope.after(() => running.close())
}
const joinWorkers = (db: Database) =>
  claimNode({
    ...{ db, host: 'here', pid: 1, roles: 'api,edge,worker', knowsCountries: false },
    onLost: () => undefined,
    onError: () => undefined,
  })
const job = sql`select graphile_worker.add_job('nightly', job_key => 'nightly')`
const underWay = sql`select from graphile_worker._private_jobs where locked_by is not null`
const held = sql`select from pg_locks where locktype = 'advisory' and classid = 1381322323
  and database = (select oid from pg_database where datname = current_database())`

test('a job of a killed process runs again after a minute, not after hours', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  let runs = 0
  await start(scope, database, async () => (runs += 1))
  const [own, killed] = [await joinWorkers(database), await joinWorkers(database)]
  scope.after(() => own.release({ isSpoolEmpty: true }))
  // In the future, so that nobody takes it before another worker has it. A task is created with its
  // first job.
  await database.run(sql`
    select graphile_worker.add_job('nightly', job_key => 'nightly', run_at => now() + '1 hour')`)
  await database.run(sql`
    update graphile_worker._private_jobs
    set locked_by = 'pool-killed', locked_at = now(), run_at = now(), attempts = 1`)
  await until(async () => (await database.row(held)) !== null)
  await sleep(6 * CHECK_MS)
  const why = 'its worker may only have lost its connection, or hold no locks'
  assert.ok(await database.row(underWay), why)
  await killed.release({ isSpoolEmpty: true })
  await until(() => runs === 1)
})

test('a job whose worker loses its connection for a moment is not started twice', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const { host, port, ...who } = database.connection
  const proxy = await openProxy({ path: `${host}/.s.PGSQL.${port}` }, 'pass')
  scope.after(() => proxy.close())
  const connection = { ...who, host: '127.0.0.1', port: proxy.port }
  const behind = openDatabase({ connection, applicationName: 'souk: test' })
  scope.after(() => behind.close())
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await start(scope, behind, () => {
    begun.resolve()
    return over.promise
  })
  const [one, other] = [await joinWorkers(database), await joinWorkers(database)]
  scope.after(() => one.release({ isSpoolEmpty: true }))
  await database.run(job)
  await begun.promise
  await start(scope, database, async () => undefined)
  const holders = async () => (await database.rows(held)).length
  proxy.setMode('refuse')
  await until(async () => (await holders()) === 1)
  await sleep(6 * CHECK_MS)
  assert.ok(await database.row(underWay), 'fewer hold locks than live')
  proxy.setMode('pass')
  await until(async () => (await holders()) > 1)
  // From here on only its locks show that it is alive.
  await other.release({ isSpoolEmpty: true })
  await sleep(6 * CHECK_MS)
  assert.ok(await database.row(underWay), 'its lock is held')
  over.resolve()
})
