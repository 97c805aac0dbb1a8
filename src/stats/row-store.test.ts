import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { MoneyEvents, START_MS } from '../../test/money-events.ts'
import { makePublisherWorld } from '../../test/publisher-world.ts'
import { EVENT_TYPE } from '../events/event.ts'
import { foldMoney } from './fold-money.ts'
import { listStats } from './row-store.ts'
import { ORDER_COLUMNS } from './schema.ts'

test('any limit cuts the same order, also between other networks’ rows of one article', async (t) => {
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
