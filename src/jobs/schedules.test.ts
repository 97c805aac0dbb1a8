import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../../test/support/api.ts'
import { testDatabase } from '../../test/support/database.ts'
import { KETTLE, makeMarket, runAuction, until } from '../../test/support/market.ts'
import { openProxy } from '../../test/support/proxy.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { makeMetrics } from '../node/metrics.ts'
import type { Node } from '../node/node.ts'
import { micros } from '../platform/money/money.ts'
import { openDatabase } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { runHeavyJob } from './run-heavy-job.ts'
import { RUNNER_ENDED, startSchedules } from './run-schedules.ts'
import { SCHEDULES } from './schedules.ts'

const NEVER = '0 0 30 2 *'
let aheadMs = 0
const api = await startApi({ after }, { now: () => Date.now() + aheadMs })
const market = await makeMarket(api, { epsilon_ppm: 100_000 })
await market.campaign(market.kettles, { bid_micros: micros(600_000) })

const work = async (task: string): Promise<void> => {
  const schedule = SCHEDULES.find((item) => item.task === task)
  assert.ok(schedule, task)
  await schedule.work(api.app.node)
}
const receipts = async () => {
  const row = await api.db.row<{ n: string }>(sql`select count(*) as n from receipt`)
  return Number(row?.n)
}

test('stores receipts for RECEIPT_HOURS, and those of clicked results forever', async () => {
  const link = await market.link(KETTLE)
  await runAuction(api, link)
  await fetch(`${api.url}/${link}`, {
    redirect: 'manual',
    headers: { 'user-agent': 'Mozilla/5.0 Chrome/149.0 Safari/537.36' },
  })
  await api.app.settled()
  await until(async () => (await receipts()) === 2)
  await work('forget_receipts')
  assert.equal(await receipts(), 2)
  aheadMs += 49 * HOUR_MS
  await work('forget_receipts')
  assert.equal(await receipts(), 1)
  // New receipts are deleted in turn. The stored one is not examined again.
  await runAuction(api, link)
  await until(async () => (await receipts()) === 2)
  await work('forget_receipts')
  assert.equal(await receipts(), 2)
  aheadMs += 49 * HOUR_MS
  await work('forget_receipts')
  assert.equal(await receipts(), 1)
  // Also after a run by a fast clock.
  aheadMs += 1000 * HOUR_MS
  await work('forget_receipts')
  aheadMs -= 1000 * HOUR_MS
  await work('forget_receipts')
  await runAuction(api, link)
  await until(async () => (await receipts()) === 2)
  aheadMs += 49 * HOUR_MS
  await work('forget_receipts')
  assert.equal(await receipts(), 1)
})

test('after a day without losses exploration grows up to its maximum, but never from zero', async () => {
  aheadMs = DAY_MS
  await api.db.run(sql`update publisher set epsilon_ppm = 5000`)
  const off = await api.account({ epsilon_ppm: 0 })
  await work('guard_exploration')
  const rows = await api.db.rows<{ pub_id: number; epsilon_ppm: number }>(sql`
    select pub_id, epsilon_ppm from publisher`)
  const epsilon = new Map(rows.map((row) => [row.pub_id, row.epsilon_ppm]))
  assert.equal(epsilon.get(market.account.pubId), 100_000)
  assert.equal(epsilon.get(off.pubId), 0)
})

test('a repeated run of the exploration guard adjusts only once per day', async () => {
  const { pubId } = market.account
  await work('guard_exploration')
  await api.db.run(sql`update publisher set epsilon_ppm = 5000 where pub_id = ${pubId}`)
  await work('guard_exploration')
  const row = await api.db.row(sql`select epsilon_ppm from publisher where pub_id = ${pubId}`)
  assert.deepEqual(row, { epsilon_ppm: 5000 })
})

test('if the exploration guard fails for one publisher, no other one changes', async () => {
  await api.db.run(sql`update publisher set epsilon_ppm = 5000`)
  const last = await api.account()
  const yesterday = new Date(Date.now() + aheadMs - DAY_MS)
  await api.db.run(sql`
    insert into receipt (result_number, at, pub_id, auction_id, merch_id, packed)
    values (${Buffer.alloc(16)}, ${yesterday}, ${last.pubId}, 1, 0, ${Buffer.alloc(1)})`)
  await assert.rejects(work('guard_exploration'))
  const { pubId } = market.account
  const first = sql`select epsilon_ppm from publisher where pub_id = ${pubId}`
  assert.deepEqual(await api.db.row(first), { epsilon_ppm: 5000 })
  await api.db.run(sql`delete from receipt where pub_id = ${last.pubId}`)
})

test('every other schedule runs on an empty network', async () => {
  for (const { task } of SCHEDULES) await work(task)
})

test('the nightly reconciliation and fit run on threads, and every worker reports their results', async () => {
  const { database: db, now } = api.app.node
  const reconciledAt = async () => {
    const other = makeMetrics({ db, now, isWorker: true }) // This worker ran nothing itself.
    const text = await other.registry.metrics()
    assert.match(text, /^souk_reconcile_differences 0$/m)
    return Number(/^souk_reconcile_timestamp_seconds (\S+)$/m.exec(text)?.[1])
  }
  const models = async () => {
    const row = await api.db.row<{ models: number }>(sql`
      select count(*)::int as models from prediction_model`)
    return row?.models ?? 0
  }
  const before = [await reconciledAt(), await models()] as const
  aheadMs += DAY_MS
  await Promise.all([work('reconcile'), work('learn_model')])
  assert.ok((await reconciledAt()) > before[0])
  assert.equal(await models(), before[1] + 1, 'a model a day')
})

test('fits a model every ten minutes while it is young, and later only at night', async () => {
  const models = sql`select * from prediction_model`
  const fit = () => work('learn_young_model').then(() => api.db.rows(models))
  const young = await fit()
  assert.notDeepEqual(await fit(), young)
  await api.db.run(sql`update prediction_model set model = model || '{"delayOrders": 1000}'`)
  assert.deepEqual(await fit(), await fit())
})

test('jobs that read a month of data use their own connections without a statement timeout', async () => {
  const refuse = () =>
    Promise.reject(new Error('this is the connection of those who answer readers'))
  const { node } = api.app
  const own = { row: refuse, rows: refuse, run: refuse, transaction: refuse }
  const apart = { ...node, database: { ...node.database, ...own } }
  const tasks = ['guard_exploration', 'learn_model', 'learn_traffic', 'step_roas']
  for (const task of [...tasks, 'issue_statements', 'reconcile', 'retire_views']) {
    await SCHEDULES.find((item) => item.task === task)?.work(apart)
  }
})

test('a job on its thread does not prevent the process from stopping', async () => {
  const holding = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort')
  const before = holding()
  const job = runHeavyJob(api.app.node, 'learnModel', { limitMs: 1 })
  assert.deepEqual(holding(), before)
  await assert.rejects(job, /did not end/)
})

test('a job that fails on its thread fails its schedule, which is retried', async () => {
  const connection = { host: '127.0.0.1', port: 1 }
  const node = { ...api.app.node, database: { ...api.app.node.database, connection } }
  await assert.rejects(runHeavyJob(node, 'learnModel'), /ECONNREFUSED/)
})

test('a job without a response is ended, so that it does not block others', async () => {
  await api.db.transaction(async (tx) => {
    await tx.run(sql`lock table prediction_model`)
    await assert.rejects(
      runHeavyJob(api.app.node, 'learnModel', { limitMs: 600 }),
      /^Error: learnModel did not end within 0.01 minutes$/,
    )
  })
})

test('a database that goes away while jobs end stops neither the process nor the schedules', async (t) => {
  const traces = t.mock.method(console, 'trace')
  const { scope, database, proxy, queue } = await behindProxy(t)
  let runs = 0
  const cut = (isFailing: boolean) => async () => {
    runs += 1
    if (runs > 2) return
    proxy.setMode('refuse')
    if (isFailing) throw new Error('its work failed')
  }
  let endings = 0
  const log: Node['log'] = Object.create(api.app.node.log, {
    warn: { value: (told: unknown) => (endings += told === RUNNER_ENDED ? 1 : 0) },
  })
  const running = await startSchedules({ ...api.app.node, database, log }, [
    { task: 'cut_and_end', cron: NEVER, work: cut(false) },
    { task: 'cut_and_fail', cron: NEVER, work: cut(true) },
  ])
  scope.after(() => running.close())
  for (const [run, task] of ['cut_and_end', 'cut_and_fail', 'cut_and_end'].entries()) {
    await queue(task)
    await until(() => runs > run)
    if (run < 2) await until(() => endings > run)
    if (run === 0) await sleep(2_500) // Failing starts meanwhile are expected.
    proxy.setMode('pass')
  }
  assert.equal(endings, 2)
  assert.equal(traces.mock.callCount(), 0)
})

test('a database that goes away while schedules start and stop does not end the process', async (t) => {
  const { database, proxy } = await behindProxy(t)
  const listening = proxy.hangAt('LISTEN "jobs:insert"')
  const running = await startSchedules({ ...api.app.node, database }, [])
  await listening
  const closed = running.close()
  await sleep(50) // It gives up listening by then, and waits for that as well.
  proxy.setMode('refuse')
  await closed
  await sleep(50) // An unhandled rejection would be thrown by then.
})

test('a job whose end could not be recorded runs again when the database is back', async (t) => {
  const { scope, database, proxy, queue } = await behindProxy(t)
  let runs = 0
  const work = async () => {
    runs += 1
    if (runs > 1) return
    proxy.setMode('refuse')
    throw new Error('its work failed')
  }
  const lost = Promise.withResolvers<void>()
  const log: Node['log'] = Object.create(api.app.node.log, {
    warn: { value: (told: unknown) => told === RUNNER_ENDED && lost.resolve() },
  })
  const running = await startSchedules({ ...api.app.node, database, log }, [
    { task: 'nightly', cron: NEVER, work },
  ])
  scope.after(() => running.close())
  await queue('nightly')
  await lost.promise
  proxy.setMode('pass')
  await until(() => runs === 2)
})

test('schedules continue if one job’s end is not recorded and later ones are', async (t) => {
  const { scope, own, database, proxy, queue } = await behindProxy(t)
  const lost = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const log: Node['log'] = Object.create(api.app.node.log, {
    warn: { value: ({ schedule = '' }) => /^Failed to complete/.test(schedule) && lost.resolve() },
  })
  const [one, other, last] = [heldJob('one'), heldJob('other'), heldJob('last')]
  let isCut = false
  const cutOnce = async () => {
    if (!isCut) proxy.setMode('refuse')
    isCut = true
  }
  const running = await startSchedules({ ...api.app.node, database, log }, [
    ...[one, other, last].map(({ task, work }) => ({ task, cron: NEVER, work })),
    { task: 'cut_and_end', cron: NEVER, work: cutOnce },
    { task: 'next', cron: NEVER, work: async () => done.resolve() },
  ])
  scope.after(() => running.close())
  for (const { task, begun } of [one, other, last]) {
    await queue(task)
    await begun
  }
  await queue('cut_and_end')
  await lost.promise
  proxy.setMode('pass')
  // Separately, because ends at one moment are recorded together.
  for (const { task, end } of [one, other]) {
    end()
    const isQueued = sql`select from graphile_worker.jobs where task_identifier = ${task}`
    await until(async () => (await own.row(isQueued)) === null)
  }
  last.end()
  await queue('next')
  await done.promise
})

test('schedules that could not read their task ids try again', async (t) => {
  const scope = scopeOf(t)
  const own = await testDatabase(scope)
  const done = Promise.withResolvers<void>()
  const node = { ...api.app.node, database: own }
  await (await startSchedules(node, [])).close() // Creates the library's tables.
  await own.run(sql`create sequence asked`)
  await own.run(sql`
    create function fail_once() returns trigger language plpgsql as $$ begin
      if nextval('asked') = 1 then raise sqlstate '53100'; end if;
      return null; end $$`)
  await own.run(sql`
    create trigger fails before insert on graphile_worker._private_tasks
    for each statement execute function fail_once()`)
  const running = await startSchedules(node, [
    { task: 'next', cron: NEVER, work: async () => done.resolve() },
  ])
  scope.after(() => running.close())
  await until(async () => (await own.row(sql`select from asked where is_called`)) !== null)
  await own.run(sql`select graphile_worker.add_job('next')`)
  await done.promise
})

/** A job that signals its start, and ends on request. */
function heldJob(task: string) {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const work = () => {
    begun.resolve()
    return over.promise
  }
  return { task, work, begun: begun.promise, end: over.resolve }
}

async function behindProxy(t: Parameters<typeof scopeOf>[0]) {
  const scope = scopeOf(t)
  const own = await testDatabase(scope)
  const { host, port, ...who } = own.connection
  const proxy = await openProxy({ path: `${host}/.s.PGSQL.${port}` }, 'pass')
  scope.after(() => proxy.close())
  const connection = { ...who, host: '127.0.0.1', port: proxy.port }
  const database = openDatabase({ connection, applicationName: 'souk: test' })
  scope.after(() => database.close())
  const queue = (task: string) => own.run(sql`select graphile_worker.add_job(${task})`)
  return { scope, own, database, proxy, queue }
}

test('a stop does not wait for running jobs, and the next start runs them again', async () => {
  const begun = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const work = () => {
    begun.resolve()
    return over.promise
  }
  const running = await startSchedules(api.app.node, [{ task: 'endless', cron: NEVER, work }])
  const turn = sql`select graphile_worker.add_job('endless', job_key => 'endless')`
  await api.db.run(turn)
  await begun.promise
  await api.db.run(turn) // Its next turn comes while it runs, and replaces it.
  await running.close()
  const again = Promise.withResolvers<void>()
  const next = await startSchedules(api.app.node, [
    { task: 'endless', cron: NEVER, work: async () => again.resolve() },
  ])
  await again.promise
  await next.close()
  const left = sql`select from graphile_worker.jobs where task_identifier = 'endless'`
  assert.deepEqual(await api.db.rows(left), [])
  over.resolve()
})

test('only the last turn of a job that always fails is retried', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const anHourAgo = new Date(Date.now() - HOUR_MS)
  const cron = `${anHourAgo.getUTCMinutes()} ${anHourAgo.getUTCHours()} * * *`
  let runs = 0
  const work = async () => {
    runs += 1
    throw new Error('it fails')
  }
  const nightly = [{ task: 'nightly', cron, isMadeUpFor: true, work }]
  const untilRuns = async (wanted: number) => {
    const running = await startSchedules({ ...api.app.node, database }, nightly)
    await until(() => runs === wanted)
    await running.close()
  }
  const known = await startSchedules({ ...api.app.node, database }, nightly)
  const turn = sql`
    update graphile_worker._private_known_crontabs
    set known_since = now() - interval '2 days', last_execution = null`
  await until(async () => (await database.run(turn)) === 1)
  await known.close()
  await untilRuns(1)
  await database.run(turn)
  await untilRuns(2)
  const jobs = await database.rows(sql`select from graphile_worker.jobs`)
  assert.equal(jobs.length, 1)
})

test('a nightly job missed while the service was off runs once at its start', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const anHourAgo = new Date(Date.now() - HOUR_MS)
  const cron = `${anHourAgo.getUTCMinutes()} ${anHourAgo.getUTCHours()} * * *`
  let [nightly, other] = [0, 0]
  const schedules = [
    { task: 'nightly', cron, isMadeUpFor: true, work: async () => (nightly += 1) },
    { task: 'other', cron, work: async () => (other += 1) },
  ]
  const restart = async () => {
    const running = await startSchedules({ ...api.app.node, database }, schedules)
    scope.after(() => running.close())
  }
  await restart()
  // The runner records its known tasks only after it has started.
  const age = sql`
    update graphile_worker._private_known_crontabs set known_since = now() - interval '2 days'`
  await until(async () => (await database.run(age)) === schedules.length)
  await restart()
  await until(() => nightly === 1)
  await restart()
  await database.run(sql`select graphile_worker.add_job('other')`)
  await until(() => other === 1)
  assert.equal(nightly, 1)
})
