/** Many concurrent product feeds queue, and no other call waits for them. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeMerchant } from '../../test/support/catalogue.ts'
import { testDatabase, untilWaiting } from '../../test/support/database.ts'
import { until } from '../../test/support/market.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { startQuietHttp } from '../../test/support/quiet-http.ts'
import { shortenTimeouts } from '../../test/support/short-timeouts.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { FairLimiter } from '../platform/concurrency/concurrency-limiter.ts'
import { sql } from '../platform/postgres/sql.ts'
import { feedRoutes } from './feed-routes.ts'

async function start() {
  const db = await testDatabase()
  const http = await startQuietHttp({ after })
  const keys = makeKeyGuard({
    db,
    brandWords: ['service'],
    limits: null,
    baseUrl: 'http://127.0.0.1',
    now: () => new Date(),
  })
  const urls = { baseUrl: 'https://api.example', linkUrl: 'https://go.example' }
  await http.register(feedRoutes({ db, keys, ...urls, isOwnPage: () => true }))
  const { publisher, headers } = await makePublisherWorld(db)
  const offers = [{ id: 'A-1', link: 'https://kettles.example/p/1' }]
  const { merchId } = await makeMerchant(db, { name: 'Mill', domain: 'kettles.example', offers })
  const url = `/api/v1/publishers/${publisher.pub_id}/product_feeds/${merchId}/`
  return { db, ask: () => http.inject({ url, headers: { ...headers } }) }
}

test('many concurrent product feeds leave connections for other calls', async (t) => {
  const limiter = t.mock.method(FairLimiter.prototype, 'run')
  const { db, ask } = await start()
  const asked = await db.transaction(async (tx) => {
    await tx.run(sql`lock table offer in access exclusive mode`)
    const feeds = Array.from({ length: 12 }, ask)
    await untilWaiting(db, Promise.all(feeds))
    await until(() => limiter.mock.callCount() === feeds.length) // The others wait in the queue.
    assert.notEqual(await db.row(sql`select 1`), null)
    return feeds
  })
  for (const feed of await Promise.all(asked)) {
    assert.equal(feed.statusCode, 200)
    assert.match(feed.body, /"A-1"/)
  }
})

test('a product feed that waited too long gets Retry-After, and its query never runs', async (t) => {
  shortenTimeouts(t)
  const { db, ask } = await start()
  const first = await db.transaction(async (tx) => {
    await tx.run(sql`lock table offer in access exclusive mode`)
    const asked = ask()
    await untilWaiting(db, asked)
    assert.equal((await ask()).statusCode, 503)
    return { asked }
  })
  assert.equal((await first.asked).statusCode, 200)
})
