/** Many concurrent report pages queue. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase, untilWaiting } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { startQuietHttp } from '../../test/support/quiet-http.ts'
import { shortenTimeouts } from '../../test/support/short-timeouts.ts'
import { operationRoutes } from '../accounts/operation-routes.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { sql } from '../platform/postgres/sql.ts'
import { webhookOperations } from '../webhooks/webhook-operations.ts'
import { reportRoutes } from './routes.ts'

const PAYMENTS = 'reports/payments/?date_from=2026-03-01&date_to=2026-03-31'

async function start(t: TestContext) {
  const db = await testDatabase(t)
  const { publisher, headers } = await makePublisherWorld(db)
  const http = await startQuietHttp(t)
  const now = () => new Date('2026-04-01T00:00:00Z')
  const keys = makeKeyGuard({
    db,
    brandWords: ['service'],
    limits: null,
    baseUrl: 'http://127.0.0.1',
    now,
  })
  await http.register(reportRoutes({ db, keys, now }))
  await http.register(operationRoutes({ db, keys, now }, webhookOperations()))
  const path = `/api/v1/publishers/${publisher.pub_id}/`
  const get = async (rest: string) => {
    const answer = await http.inject({ url: path + rest, headers: { ...headers } })
    return answer.statusCode
  }
  return { db, get }
}

test('many concurrent report pages leave connections for other calls', async (t) => {
  const { db, get } = await start(t)
  const pages = await db.transaction(async (tx) => {
    await tx.run(sql`lock table merchant_payment in access exclusive mode`)
    const asked = Array.from({ length: 12 }, () => get(PAYMENTS))
    await untilWaiting(db, Promise.all(asked))
    assert.equal(await get('webhooks/'), 200)
    return asked
  })
  for (const status of await Promise.all(pages)) assert.equal(status, 200)
})

test('a report that waited too long gets Retry-After, and its query never runs', async (t) => {
  shortenTimeouts(t)
  const { db, get } = await start(t)
  const first = await db.transaction(async (tx) => {
    await tx.run(sql`lock table merchant_payment in access exclusive mode`)
    const asked = get(PAYMENTS)
    await untilWaiting(db, asked)
    assert.equal(await get(PAYMENTS), 503)
    assert.equal(await get(`${PAYMENTS}&format=csv`), 503)
    return { asked }
  })
  assert.equal(await first.asked, 200)
})
