/** Concurrency limits of the statistics endpoints. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase, untilWaiting } from '../../test/support/database.ts'
import { until } from '../../test/support/market.ts'
import { makePublisherWorld, type PublisherWorld } from '../../test/support/publisher-world.ts'
import { startQuietHttp } from '../../test/support/quiet-http.ts'
import { shortenTimeouts } from '../../test/support/short-timeouts.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { FairLimiter } from '../platform/concurrency/concurrency-limiter.ts'
import { sql } from '../platform/postgres/sql.ts'
import { makeLogger } from '../platform/process/log.ts'
import { statsRoutes } from './routes.ts'

const db = await testDatabase()
const http = await startQuietHttp({ after })
const keys = makeKeyGuard({
  db,
  brandWords: ['service'],
  limits: null,
  baseUrl: 'http://127.0.0.1',
  now: () => new Date(),
})
await http.register(statsRoutes({ db, keys }))
/** Of pino's levels. */
const WARN = 40
const [one, other] = [await makePublisherWorld(db), await makePublisherWorld(db, 'weekly')]

async function ask(
  { publisher, headers }: PublisherWorld,
  query: string,
  of = http,
): Promise<number> {
  const path = `/api/v1/publishers/${publisher.pub_id}/stats_by_article_merchant_daily/`
  return (await of.inject({ url: path + query, headers: { ...headers } })).statusCode
}

const askChanges = (count: number) =>
  Array.from({ length: count }, () => ask(one, 'changes/?since=2026-03-01'))

test('many concurrent pages of changes leave connections for other calls', async () => {
  const asked = await db.transaction(async (tx) => {
    await tx.run(sql`lock table page_day in access exclusive mode`)
    const pages = askChanges(12)
    await untilWaiting(db, Promise.all(pages))
    assert.notEqual(await db.row(sql`select 1`), null)
    return pages
  })
  for (const status of await Promise.all(asked)) assert.equal(status, 200)
})

test('many pages of one publisher do not delay another publisher’s statistics', async (t) => {
  const limiter = t.mock.method(FairLimiter.prototype, 'run')
  const answered: string[] = []
  const asked = await db.transaction(async (tx) => {
    await tx.run(sql`lock table page_day in access exclusive mode`)
    const pages = askChanges(20).map((page) => page.then(() => answered.push('a page')))
    await untilWaiting(db, Promise.all(pages))
    const days = ask(other, '?date_from=2026-03-01&date_to=2026-03-31')
    await until(() => limiter.mock.callCount() === 21) // It also waits, behind all of them.
    return [...pages, days.then((status) => answered.push(`the other's: ${status}`))]
  })
  await Promise.all(asked)
  assert.ok(answered.indexOf("the other's: 200") < 6, answered.join())
})

test('a call that waits too long is asked to retry, and leaves the queue', async (t) => {
  shortenTimeouts(t)
  const logged: { level: number; reason?: string; err?: object }[] = []
  const stream = { write: (line: string) => void logged.push(JSON.parse(line)) }
  const hasty = await startQuietHttp({ after }, makeLogger({ level: 'warn', stream }))
  await hasty.register(statsRoutes({ db, keys }))
  const askHasty = () => ask(one, '?date_from=2026-03-01&date_to=2026-03-31', hasty)
  const first = await db.transaction(async (tx) => {
    await tx.run(sql`lock table page_day in access exclusive mode`)
    const asked = [askHasty(), askHasty()]
    await untilWaiting(db, Promise.all(asked))
    assert.equal(await askHasty(), 503)
    return asked
  })
  assert.deepEqual(await Promise.all(first), [200, 200])
  assert.deepEqual(
    logged.map(({ level, reason, err }) => [level, reason, err]),
    [[WARN, 'Too many such requests wait; retry shortly', undefined]],
    'a line for the operator, and not as a failure of ours',
  )
})
