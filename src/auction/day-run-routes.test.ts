import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../../test/support/api.ts'
import { KETTLE, makeMarket, runAuction, untilReceipt } from '../../test/support/market.ts'
import { micros } from '../platform/money/money.ts'
import { sql } from '../platform/postgres/sql.ts'

const api = await startApi({ after })
const market = await makeMarket(api)
await market.campaign(market.kettles, { bid_micros: micros(600_000) })
const { key, pubId } = market.account
const LONG_DAY = '2026-03-01'
const LONG = 40_000
const PATH = '/api/v1/what_if/'
const ask = (date: string) => api.call(PATH, { key, body: { pub_id: pubId, date } })

interface Job {
  readonly job_id: string
  readonly url: string
  readonly state: string
  readonly auctions: number
  readonly auctions_done: number
  readonly result: { readonly auctions: number } | null
}

/** A day of so many auctions: one, repeated. */
async function makeLongDay(): Promise<void> {
  await untilReceipt(api, await runAuction(api, await market.link(KETTLE)))
  await api.db.run(sql`
    insert into receipt
    select decode(md5(number::text), 'hex'), ${LONG_DAY}::timestamptz, pub_id, auction_id, merch_id,
      packed
    from generate_series(1, ${LONG}) as number,
      (select * from receipt where pub_id = ${pubId} limit 1) as one`)
}

async function untilEnded(path: string): Promise<Job> {
  while (true) {
    const job = (await api.call(path, { key })).entry<Job>()
    if (job.state === 'done' || job.state === 'failed') return job
    await sleep(50)
  }
}

test('a day that takes long is answered 202 with a URL that shows its progress and result', async () => {
  await makeLongDay()
  const answer = await ask(LONG_DAY)
  assert.equal(answer.status, 202, answer.text)
  const created = answer.entry<Job>()
  const path = answer.headers.get('location') ?? ''
  assert.equal(path, `${PATH}${created.job_id}/`)
  assert.equal(created.url, `https://souk.example${path}`)
  const job = await untilEnded(path)
  assert.deepEqual([job.state, job.auctions, job.auctions_done], ['done', LONG, LONG])
  assert.equal(job.result?.auctions, LONG)

  const stranger = await api.account({})
  assert.equal((await api.call(path, { key: stranger.key })).failure().code, 4040)
  assert.deepEqual((await api.call(`${PATH}x/`, { key })).failure().fields, ['job_id'])
})

test('of one caller one day runs at a time, the others wait and none is turned away', async () => {
  const empty = () => ask('2026-03-02')
  const answers = await Promise.all(Array.from({ length: 6 }, empty))
  assert.ok(
    answers.every(({ status }) => status === 200 || status === 202),
    String(answers.map(({ status }) => status)),
  )
  const late = answers.filter(({ status }) => status === 202)
  const jobs = await Promise.all(
    late.map(({ headers }) => untilEnded(headers.get('location') ?? '')),
  )
  assert.ok(jobs.every(({ state }) => state === 'done'))
})

test('asks a caller with 32 waiting days to try again later', async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(LONG_DAY)))
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 429).length, 8, String(statuses))
  assert.ok(Number(answers.find(({ status }) => status === 429)?.headers.get('retry-after')) > 0)
})

test('a job whose node is gone has failed', async () => {
  const [row] = await api.db.rows<{ job_id: string }>(sql`
    insert into what_if_job (uid, state, created_at, updated_at)
    values (${market.account.uid}, 'running', now(), now() - interval '2 minutes')
    returning job_id`)
  assert.equal((await untilEnded(`${PATH}${row?.job_id}/`)).state, 'failed')
})
