import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { openFoldedLog } from '../../test/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/money-events.ts'
import { makePublisherWorld } from '../../test/publisher-world.ts'
import { MODEL } from '../events/event.ts'
import { openReports } from './read-report.ts'

const DAY_MS = 86_400_000

test('for a page of orders the debts of merchants are settled whose orders on it are locked', async (t) => {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { auctionId } = await addArticle('Mugs')
  const of = { pubId: publisher.pub_id, merchId: merchant.merch_id }
  const events = new MoneyEvents()
  const told = [
    events.click('a', START_MS, { ...of, auctionId, model: MODEL.cpa }),
    { ...events.order('o', START_MS, { click: 'a' }), merchId: of.merchId },
  ]
  await log.append(told.map(({ seq: _, day: __, ...event }) => event))
  await log.fold()

  const asked = (now: Date) => {
    const settled: string[] = []
    const counting = {
      ...db,
      rows: <T>(query: Parameters<typeof db.rows>[0]) => {
        if (query.text.includes('merchant_payment')) settled.push(query.text)
        return db.rows<T>(query)
      },
    }
    const source = openReports(counting, { pubId: of.pubId, now })
    const day = '2026-03-02'
    const page = { ...of, dayFrom: day, dayTo: day, cursor: null, limitRows: 1, now }
    return { settled, read: async () => (await source.page('orders', page)).rows.length }
  }
  const early = asked(new Date(START_MS + 90 * DAY_MS - 1))
  assert.deepEqual([await early.read(), early.settled.length], [1, 0])
  const late = asked(new Date(START_MS + 90 * DAY_MS))
  assert.deepEqual([await late.read(), await late.read(), late.settled.length], [1, 1, 1])
})
