/** A database restored from a backup, and a log that names whom the backup lacks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { openFoldedLog } from '../../test/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/money-events.ts'
import { makePublisherWorld } from '../../test/publisher-world.ts'
import { EVENT_TYPE } from '../events/event.ts'
import { sql } from '../platform/sql.ts'

test('whoever is created next gets no number that the log names', async (t) => {
  const db = await testDatabase(t)
  const { tell } = openFoldedLog(t, db)
  const events = new MoneyEvents()
  await tell(
    events.at(START_MS, { lane: 5, type: EVENT_TYPE.placement, pubId: 4, offerId: '900' }),
    events.click('a', START_MS, { merchId: 3, campaignId: 7, pubId: 2 }),
  )

  const { publisher, merchant, addCampaign } = await makePublisherWorld(db)
  const campaignId = await addCampaign()
  const offer = await db.row(sql`select nextval('offer_id_seq') as offer_id`)

  const { pub_id } = publisher
  const { merch_id } = merchant
  assert.deepEqual([pub_id, merch_id, campaignId, offer], [5, 4, 8, { offer_id: '901' }])
})
