import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/market.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { MERCHANT_DEFAULTS } from '../merchant.ts'
import { insertMerchant, requireMerchant } from '../merchant-store.ts'
import {
  dropFeedSource,
  isStillDue,
  noteFeedError,
  saveFeedSource,
  takeDueFeed,
  whileNobodyFetches,
} from './feed-source-store.ts'

/** Longer than a busy machine keeps this process from saying that it goes on. */
const PATIENTLY = { silenceMsMax: 2_000 }
const BRIEFLY = { silenceMsMax: 500 }

test('a worker that fetches for long keeps the others from it', async (t) => {
  const db = await testDatabase(t)
  const work = async () => {
    await sleep(3_000)
    return whileNobodyFetches(db, async () => 'second', PATIENTLY)
  }
  assert.equal(await whileNobodyFetches(db, work, PATIENTLY), null)
  assert.equal(await whileNobodyFetches(db, async () => 'third', PATIENTLY), 'third')
})

test('a worker that stands still while it fetches keeps no other from it', async (t) => {
  const db = await testDatabase(t)
  t.mock.timers.enable({ apis: ['setInterval'] }) // It says nothing more.
  const begins = Promise.withResolvers<void>()
  const goesOn = Promise.withResolvers<string>()
  const work = () => {
    begins.resolve()
    return goesOn.promise
  }
  const first = whileNobodyFetches(db, work, BRIEFLY)
  await begins.promise
  await until(async () => (await whileNobodyFetches(db, async () => true, BRIEFLY)) === true)
  goesOn.resolve('its unfinished work')
  assert.equal(await first, 'its unfinished work')
  assert.equal(await whileNobodyFetches(db, async () => 'next', BRIEFLY), 'next')
})

const NOON = new Date('2026-03-02T12:00:00Z')
const hoursBefore = (hours: number) => new Date(NOON.getTime() - hours * 3_600_000)

/** Merchants whose feeds were imported and tried so many hours before noon. */
async function makeFeeds(t: TestContext, hours: { imported: number | null; tried: number }[]) {
  const db = await testDatabase(t)
  const feeds = []
  for (const [at, { imported, tried }] of hours.entries()) {
    const settings = { ...MERCHANT_DEFAULTS, name: 'Shop', domains: [`shop${at}.example`] }
    const { merch_id } = await insertMerchant(db, settings)
    const importedAt = imported === null ? null : hoursBefore(imported)
    await db.run(sql`
      update merchant set feed_imported_at = ${importedAt} where merch_id = ${merch_id}`)
    const feed = {
      merch_id,
      url: `https://shop${at}.example/feed`,
      format: 'csv' as const,
      ...SAID,
    }
    await saveFeedSource(db, { ...feed, at: hoursBefore(tried) })
    feeds.push(feed)
  }
  return { db, feeds }
}

const SAID = { map: null, currency: null, element: null }

test('a feed is due six hours after its import, the longest untried first, and once a round', async (t) => {
  const { db, feeds } = await makeFeeds(t, [
    { imported: 7, tried: 2 },
    { imported: null, tried: 3 },
    { imported: 6, tried: 9 },
    { imported: 30, tried: 1 },
  ])
  const [first, never, recent, last] = feeds
  assert.ok(recent && first)
  for (const expected of [never, first, last, null]) {
    assert.deepEqual(await takeDueFeed(db, NOON), expected)
  }
  assert.deepEqual(await takeDueFeed(db, new Date(NOON.getTime() + 1)), recent)
  assert.equal(await isStillDue(db, { ...recent, at: NOON }), false)
  assert.equal(await isStillDue(db, { ...first, at: NOON }), true)
  assert.equal(await isStillDue(db, { ...first, url: 'https://new.example/', at: NOON }), false)
})

test('what is noted of a feed is of its merchant alone, and of the address it has by now', async (t) => {
  const { db, feeds } = await makeFeeds(t, [
    { imported: 7, tried: 2 },
    { imported: 7, tried: 2 },
  ])
  const [one, other] = feeds
  assert.ok(one && other)
  const sources = async () => {
    const both = [
      await requireMerchant(db, one.merch_id),
      await requireMerchant(db, other.merch_id),
    ]
    return both.map(({ feed_url, feed_error }) => [feed_url, feed_error])
  }
  await noteFeedError(db, { ...one, error: 'gone' })
  assert.deepEqual(await sources(), [
    [one.url, 'gone'],
    [other.url, null],
  ])
  const moved = { ...one, url: 'https://moved.example/feed', format: 'xml' as const }
  await saveFeedSource(db, { ...moved, at: NOON })
  await noteFeedError(db, { ...one, error: 'of the address before' })
  assert.deepEqual(await sources(), [
    [moved.url, null],
    [other.url, null],
  ])
  assert.deepEqual(await takeDueFeed(db, NOON), other, 'the other was tried just now')
  await dropFeedSource(db, other.merch_id)
  assert.deepEqual(await takeDueFeed(db, new Date(NOON.getTime() + 1)), moved)
})
