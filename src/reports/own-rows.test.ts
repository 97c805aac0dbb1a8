import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeBusyLog } from '../../test/support/busy-log.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { viewLane } from '../events/event.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { openReports } from './read-report.ts'
import { plainRow, type ReportName } from './report.ts'

const NOW = new Date('2026-08-01T00:00:00Z')
const db = await testDatabase()
const one = await makePublisherWorld(db)
// The views of both are in one lane of the log.
await db.run(sql`alter table publisher alter column pub_id restart with 16`)
const other = await makePublisherWorld(db, 'other')
assert.equal(viewLane(one.publisher.pub_id), viewLane(other.publisher.pub_id))
await openFoldedLog({ after }, db).record(...(await makeBusyLog(one, other)))

/** The column that identifies a row's owner, and its allowed values for a publisher. */
const OWN: Readonly<Record<ReportName, { column: string; ids: (pubId: number) => Sql }>> = {
  clicks: {
    column: 'link_id',
    ids: (pubId) => sql`
      select auction_id as id from click where pub_id = ${pubId}
      union select auction_id from link_day where pub_id = ${pubId}`,
  },
  orders: {
    column: 'checkout_id',
    ids: (pubId) => sql`select order_id as id from merchant_order where pub_id = ${pubId}`,
  },
  returns: {
    column: 'checkout_id',
    ids: (pubId) => sql`select order_id as id from merchant_order where pub_id = ${pubId}`,
  },
  payments: {
    column: 'statement_id',
    ids: (pubId) => sql`select 'S' || ${pubId}::int || '-20260' || n as id
      from generate_series(3, 8) as n`,
  },
}

for (const report of Object.keys(OWN) as ReportName[]) {
  test(`the ${report} report has no row of another publisher`, async () => {
    const { column, ids } = OWN[report]
    for (const { pub_id: pubId } of [one.publisher, other.publisher]) {
      const own = new Set((await db.rows<{ id: string }>(ids(pubId))).map(({ id }) => id))
      const source = openReports(db, { pubId, now: NOW })
      const days = { dayFrom: '2026-03-01', dayTo: '2026-08-01' }
      const page = { pubId, ...days, cursor: null, limitRows: 10_000, now: NOW }
      const { rows } = await source.page(report, page)
      assert.ok(rows.length > 0)
      const foreign = rows.map((row) => String(plainRow(row)[column])).filter((id) => !own.has(id))
      assert.deepEqual(foreign, [], `of publisher ${pubId}`)
    }
  })
}

test('a reader of two publishers has a different cookie_id with each', async () => {
  const seen = await db.row(sql`
    select count(distinct visitor_key)::int as readers, count(distinct pub_id)::int as publishers
    from click where visitor_key is not null`)
  assert.deepEqual(seen, { readers: 1, publishers: 2 })
  const cookieIds = async (pubId: number) => {
    const source = openReports(db, { pubId, now: NOW })
    const days = { dayFrom: '2026-03-01', dayTo: '2026-08-01' }
    const page = { pubId, ...days, cursor: null, limitRows: 10_000, now: NOW }
    const { rows } = await source.page('clicks', page)
    const clicks = rows.map(plainRow).filter((row) => row.is_click === 1)
    return [...new Set(clicks.map((row) => row.cookie_id))].filter((id) => id !== null)
  }
  const [ofOne, ...more] = await cookieIds(one.publisher.pub_id)
  assert.match(String(ofOne), /^[0-9a-f]{32}$/)
  assert.deepEqual(more, [])
  const [ofOther] = await cookieIds(other.publisher.pub_id)
  assert.notEqual(ofOne, ofOther)
})
