import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { EVENT_TYPE } from '../events/event.ts'
import { foldMoney } from '../fold/fold-money.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import { sql } from '../platform/postgres/sql.ts'
import { listStats } from './row-store.ts'
import { ORDER_COLUMNS } from './schema.ts'

test('every limit cuts the same order, also between other networks’ rows of one article', async (t) => {
  const db = await testDatabase(t)
  const { pub_id: pubId } = (await makePublisherWorld(db)).publisher
  const events = new MoneyEvents()
  const type = EVENT_TYPE.networkRow
  const shared = { import_id: '1', report_date: '2026-03-01' }
  const rows = Array.from({ length: 12 }, (_, row) => {
    const figures = { clicks: row % 2, sales: row % 3, revenue_micros: (row % 4) * 1e6 }
    const where = { kind: 'row', row, article_id: 0, advertiser: `shop ${(row * 7) % 12}` }
    const body = JSON.stringify({ ...shared, ...where, ...figures, earnings_micros: row })
    return events.at(START_MS, { type, pubId, body })
  })
  const end = { kind: 'partition', ...shared, network: 'n', account: '', rows: rows.length }
  const body = JSON.stringify({ ...end, rows_hash: '00' })
  await db.transaction((tx) => foldMoney(tx, [...rows, events.at(START_MS, { type, body })]))

  const range = { pubId, dayFrom: '2026-03-01', dayTo: '2026-03-31', asOf: null }
  for (const orderBy of ORDER_COLUMNS) {
    for (const isAscending of [true, false]) {
      const order = { orderBy, isAscending, isOutOfNetwork: true }
      const all = await listStats(db, { ...range, ...order, limitRows: 99 })
      assert.equal(all.length, rows.length)
      for (let limitRows = 1; limitRows < rows.length; limitRows += 1) {
        const cut = await listStats(db, { ...range, ...order, limitRows })
        assert.deepEqual(cut, all.slice(0, limitRows), `${orderBy} ${limitRows}`)
      }
    }
  }
})

test('sorts an article without figures among the others, by value and then by day', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { pub_id: pubId } = publisher
  const [sold, seen] = [await addArticle('Ten mugs'), await addArticle('Ten plates')]
  const day = '2026-03-02'
  await db.run(sql`
    insert into stats_day (day, pub_id, article_id, merch_id, clicks)
    values (${day}, ${pubId}, ${sold.articleId}, ${merchant.merch_id}, 3)`)
  await db.run(sql`
    insert into page_day (pub_id, url_key, day, impressions)
    values (${pubId}, ${keyOfUrl(new URL(seen.url))}, ${day}, 9)`)
  const dayBefore = '2026-03-01'
  await db.run(sql`
    insert into stats_day (day, pub_id, article_id, merch_id)
    values (${dayBefore}, ${pubId}, ${sold.articleId}, ${merchant.merch_id})`)
  const first = async (orderBy: 'clicks' | 'pub_earnings', isAscending: boolean, dayTo = day) => {
    const order = { orderBy, isAscending, isOutOfNetwork: false, limitRows: 1 } as const
    const rows = await listStats(db, { pubId, dayFrom: dayBefore, dayTo, asOf: null, ...order })
    return rows.map(({ article_id, clicks, impressions }) => [article_id, clicks, impressions])
  }
  assert.deepEqual(await first('clicks', true), [[seen.articleId, 0, 9]])
  assert.deepEqual(await first('clicks', false), [[sold.articleId, 3, 0]])
  await db.run(sql`delete from stats_day where day = ${day}`)
  assert.deepEqual(await first('pub_earnings', false), [[seen.articleId, 0, 9]])
  assert.deepEqual(await first('pub_earnings', false, dayBefore), [[sold.articleId, 0, 0]])
})

test('shows sums beyond exact numbers to the cent', async (t) => {
  const db = await testDatabase(t)
  const { pub_id: pubId } = (await makePublisherWorld(db)).publisher
  const day = '2026-03-02'
  // As a number it would be half a cent and round up.
  const belowHalf = '9007199254754999'
  await db.run(sql`
    insert into stats_day (day, pub_id, article_id, merch_id, earnings_micros)
    values (${day}, ${pubId}, 0, 1, ${belowHalf}), (${day}, ${pubId}, 0, 2, 15000)`)
  const order = { orderBy: 'merch_id', isAscending: true, isOutOfNetwork: false } as const
  const asked = { pubId, dayFrom: day, dayTo: day, asOf: null, limitRows: 9, ...order }
  assert.deepEqual(
    (await listStats(db, asked)).map(({ pub_earnings }) => pub_earnings),
    ['9007199254.75', '0.02'],
  )
})
