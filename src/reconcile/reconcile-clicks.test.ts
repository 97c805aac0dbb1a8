/** The fold and reconcile's SQL judge clicks alike, however crowded the keys they go by are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import type { StoredEvent } from '../events/event.ts'
import { REASON, reasonName } from '../events/reason.ts'
import { sql } from '../platform/postgres/sql.ts'
import { HOUR_MS } from '../platform/time/timestamp.ts'
import { reconcile } from './reconcile.ts'

const CLICKS = 3_000

test('reconcile gives every click of a crowded log the reason that the fold gave it', async (t) => {
  const db = await testDatabase(t)
  const world = await makePublisherWorld(db)
  const log = openFoldedLog(t, db)
  const campaigns = [await world.addCampaign(), await world.addCampaign(), null]
  const seed = Date.now()
  const random = seededRandom(seed)
  const pick = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const key = (name: string) => Buffer.from(name.padEnd(16))
  const events = new MoneyEvents()
  let atMs = START_MS
  const clicks = Array.from({ length: CLICKS }, (_none, index): StoredEvent => {
    atMs += random() < 0.04 ? 10 * HOUR_MS : pick(0, 1, 500, 1_000, 2_000, 200_000)
    const address = pick('a1', 'a2')
    const isLocal = random() < 0.1
    return events.click(`c${index}`, atMs - pick(0, 0, 0, 5_000), {
      ...{ pubId: world.publisher.pub_id, merchId: world.merchant.merch_id },
      ...{
        campaignId: pick(...campaigns),
        auctionId: `920000000000000000${1 + Math.floor(random() * 9)}`,
      },
      reason: random() < 0.1 ? REASON.robot : REASON.ok,
      visitorKey: pick(null, key(`new ${index}`), key('v1'), key('v2'), key('v3')),
      visitorReturned: pick(0, 0, 1, null),
      addressKey: key(address),
      agentKey: isLocal ? null : key(`${address} ${pick('chrome', 'safari')}`),
      ...pick(
        { addressHourMax: 10, addressDayMax: 50 },
        { addressHourMax: 10, addressDayMax: 50 },
        { addressHourMax: 10, addressDayMax: 50 },
        { addressHourMax: 3, addressDayMax: 5 },
        { addressHourMax: 1_000, addressDayMax: 2 },
        { addressHourMax: null, addressDayMax: null },
      ),
    })
  })
  for (let at = 0; at < clicks.length; ) {
    const batch = clicks.slice(at, at + pick(1, 10, 300))
    await log.record(...batch)
    at += batch.length
  }
  const given = await db.rows<{ reason: number }>(sql`select distinct reason from click`)
  const { ok, robot, duplicateVisitor, visitorLimit, scanner, addressLimit } = REASON
  assert.deepEqual(
    given.map(({ reason }) => reasonName(reason)).sort(),
    [ok, robot, duplicateVisitor, visitorLimit, scanner, addressLimit].map(reasonName).sort(),
  )
  const { differences } = await reconcile(db, { from: null, to: null })
  assert.deepEqual(differences, [], `with seed ${seed}`)
})
