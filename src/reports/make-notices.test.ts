import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { openFoldedLog } from '../../test/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/money-events.ts'
import { makePublisherWorld } from '../../test/publisher-world.ts'
import type { StoredEvent } from '../events/event.ts'
import type { Db } from '../platform/postgres.ts'
import { createWebhook } from './create-webhook.ts'
import { makeNotices } from './make-notices.ts'

test('a webhook made during a run is told of what comes after it', async (t) => {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { auctionId } = await addArticle('Ten mugs')
  const [{ pub_id: pubId }, { merch_id: merchId }] = [publisher, merchant]
  const events = new MoneyEvents()
  const tell = async (...batch: StoredEvent[]) => {
    await log.append(batch.map(({ seq: _, day: __, ...event }) => event))
    await log.fold()
  }
  let isMade = false
  const meanwhile: Db = {
    ...db,
    row: async (query) => {
      if (!isMade && query.text.includes('max(change_id)')) {
        isMade = true
        const url = 'https://hooks.example/'
        await createWebhook(db, { owner: { pubId }, url, events: ['order.attributed'] })
        await tell(events.click('a', START_MS, { merchId, pubId, auctionId }), {
          ...events.order('o1', START_MS, { click: 'a' }),
          merchId,
        })
      }
      return db.row(query)
    },
  }
  assert.equal(await makeNotices(meanwhile, new Date(START_MS)), 1)
})
