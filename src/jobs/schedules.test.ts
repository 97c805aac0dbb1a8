import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { KETTLE, makeMarket, runAuction, until } from '../../test/support/market.ts'
import { makeMetrics } from '../node/metrics.ts'
import { micros } from '../platform/money/money.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { runHeavyJob } from './run-heavy-job.ts'
import { SCHEDULES } from './schedules.ts'

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
  await api.app.untilFolded()
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
  tasks.push('sum_open_clicks', 'issue_statements', 'reconcile', 'retire_views')
  for (const task of tasks) {
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
