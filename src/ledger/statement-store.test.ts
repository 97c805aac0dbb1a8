import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase, whileWritten } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { listDifferences } from '../../test/support/reconciled.ts'
import { EVENT_TYPE, MODEL } from '../events/event.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { issueStatements } from './statement-store.ts'

/** A publisher with a click of $60 at each of these times, paid in advance. */
async function makeReleased(t: TestContext, clickTimes = [START_MS]) {
  const db = await testDatabase(t)
  const { publisher, merchant } = await makePublisherWorld(db)
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const { merch_id: merchId } = merchant
  const price = { termsAmount: 60_000_000, reservedMicros: 60_000_000 }
  const body = {
    reference: 'r',
    paid_on: '2026-03-02',
    amount_micros: 60_000_000 * clickTimes.length,
  }
  const logged = [
    events.at(START_MS, { type: EVENT_TYPE.payment, merchId, body: JSON.stringify(body) }),
    ...clickTimes.map((atMs, at) =>
      events.click('abc'.charAt(at), atMs, {
        ...{ pubId: publisher.pub_id, merchId, campaignId: null, model: MODEL.cpc, ...price },
      }),
    ),
  ]
  await log.record(...logged)
  return db
}

test('if another process issues a month meanwhile, the next run continues from that statement', async (t) => {
  const db = await makeReleased(t)
  const now = new Date('2026-05-02T12:00:00Z')
  // It differs from our own statement of the month.
  const other = sql`
    insert into statement (pub_id, month, opening_micros, released_micros, reversed_micros,
      payout_micros, closing_micros, issued_at, position)
    select pub_id, '2026-03-01', 0, 50000000, 0, 20000000, 30000000, now(), 0 from publisher`
  assert.deepEqual(await whileWritten(db, other, () => issueStatements(db, { now })), [])
  const issued = await issueStatements(db, { now })
  assert.deepEqual(
    issued.map(({ month, openingMicros }) => [month, openingMicros]),
    [['2026-04', 30_000_000]],
  )
})

test('a month with unfolded events is not issued, and a fully folded one is', async (t) => {
  const aprilMs = Date.UTC(2026, 3, 1)
  const db = await makeReleased(t, [START_MS, aprilMs - 1, aprilMs])
  const foldOnly = (clicks: number) =>
    db.run(sql`
      update lane set position = (
        select max(seq) from (
          select seq from event where lane = 0 and type = ${EVENT_TYPE.click} order by seq
          limit ${clicks}
        ) as folded
      ) where lane = 0`)
  const now = new Date('2026-04-02T00:00:00Z')
  await foldOnly(1)
  await assert.rejects(issueStatements(db, { now }), /events of 2026-03 are not folded yet/)
  assert.deepEqual(await db.rows(sql`select from statement`), [])
  await foldOnly(2)
  const issued = await issueStatements(db, { now })
  assert.deepEqual(
    issued.map(({ month }) => month),
    ['2026-03'],
  )
})

test('an interrupted run has issued and reported nothing, and the next one does everything', async (t) => {
  const db = await makeReleased(t)
  const now = new Date('2026-05-02T12:00:00Z')
  const cut = async () => {
    throw new Error('the machine stopped')
  }
  await assert.rejects(issueStatements(db, { now, onIssued: cut }), /the machine stopped/)
  // Otherwise a payout file of the month would miss publishers that the run had not reached.
  assert.deepEqual(await db.rows(sql`select from statement`), [])
  const months: string[] = []
  await issueStatements(db, {
    now,
    onIssued: async (_, issued) => void months.push(...issued.map(({ month }) => month)),
  })
  assert.deepEqual(months, ['2026-03', '2026-04'])
})

test('a publisher without earnings does not make the nightly job settle the debts of others', async (t) => {
  const db = await makeReleased(t)
  await makePublisherWorld(db, 'unread')
  const queries: string[] = []
  const counting = {
    ...db,
    rows: <T>(query: Parameters<typeof db.rows>[0]) => {
      if (query.text.includes('from merchant_payment') && query.text.includes('order by at')) {
        queries.push(query.text)
      }
      return db.rows<T>(query)
    },
  }
  const now = new Date('2026-05-02T12:00:00Z')
  assert.equal((await issueStatements(counting, { now })).length, 2)
  assert.ok(queries.splice(0).length > 0)
  assert.deepEqual(await issueStatements(counting, { now }), [])
  assert.deepEqual(queries, [])
})

test("a day's clicks fall due when it is over, so those of a month's last day in the next month", async (t) => {
  const times = ['2026-03-30T23:59:59Z', '2026-03-31T00:00:00Z', '2026-03-31T23:59:59Z']
  const db = await makeReleased(t, times.map(Date.parse))
  const issued = await issueStatements(db, { now: new Date('2026-05-02T12:00:00Z') })
  assert.deepEqual(
    issued.map(({ month, payoutMicros }) => [month, payoutMicros]),
    [
      ['2026-03', 60_000_000],
      ['2026-04', 120_000_000],
    ],
  )
})

test('a purchase whose lines change after its statement is corrected on the next one', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant } = await makePublisherWorld(db)
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const { merch_id: merchId } = merchant
  const terms = { model: MODEL.epp, termsAmount: 100_000, sharePpm: 750_000 }
  const purchase = (atMs: number, products: readonly string[]) => {
    const lines = products.map((id) => orderLine(id, 500, 1))
    return events.order('o1', atMs, { merchId, click: 'a', report: { lines } })
  }
  // Of ten cents for three lines, four pay for the first: a third of the publisher's part.
  const body = { reference: 'r', paid_on: '2026-03-02', amount_micros: 40_000 }
  await log.record(
    events.click('a', START_MS, { pubId: publisher.pub_id, merchId, campaignId: null, ...terms }),
    purchase(START_MS, ['a', 'b', 'c']),
    events.at(START_MS, { type: EVENT_TYPE.payment, merchId, body: JSON.stringify(body) }),
  )
  const issue = async (now: string) =>
    (await issueStatements(db, { now: new Date(now) })).map(({ releasedMicros }) => releasedMicros)
  assert.deepEqual(await issue('2026-04-02T12:00:00Z'), [25_000])
  assert.deepEqual(await listDifferences(db), [])
  // Of ten cents for one line, four are four tenths.
  await log.record(purchase(START_MS + 40 * DAY_MS, ['a']))
  assert.deepEqual(await listDifferences(db), [])
  assert.deepEqual(await issue('2026-05-02T12:00:00Z'), [5_000])
  assert.deepEqual(await listDifferences(db), [])
})

test('a publisher that first earned in a month with issued statements is paid with the next month', async (t) => {
  const db = await testDatabase(t)
  const worlds = [await makePublisherWorld(db), await makePublisherWorld(db, 'herald')] as const
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const click = ({ publisher, merchant }: (typeof worlds)[number], name: string) =>
    events.click(name, START_MS, {
      ...{ pubId: publisher.pub_id, merchId: merchant.merch_id, campaignId: null },
      ...{ model: MODEL.cpc, termsAmount: 60_000_000, reservedMicros: 60_000_000 },
    })
  const body = JSON.stringify({ reference: 'r', paid_on: '2026-03-02', amount_micros: 60_000_000 })
  await log.record(
    ...worlds.map(({ merchant: { merch_id: merchId } }) =>
      events.at(START_MS, { type: EVENT_TYPE.payment, merchId, body }),
    ),
    click(worlds[0], 'a'),
  )
  const issue = async (now: string) =>
    (await issueStatements(db, { now: new Date(now) })).map(({ pubId, month, payoutMicros }) => [
      ...[pubId, month, payoutMicros],
    ])
  const [first, second] = worlds.map(({ publisher }) => publisher.pub_id)
  assert.deepEqual(await issue('2026-04-02T12:00:00Z'), [[first, '2026-03', 60_000_000]])
  // The payout file of March is written and paid, then a spool delivers a click of March.
  await log.record(click(worlds[1], 'b'))
  assert.deepEqual(await issue('2026-04-05T12:00:00Z'), [])
  assert.deepEqual(await issue('2026-05-02T12:00:00Z'), [
    [first, '2026-04', 0],
    [second, '2026-04', 60_000_000],
  ])
  assert.deepEqual(await listDifferences(db), [])
})

test('a click reversed on the day before its own pays nobody, and reconcile agrees', async (t) => {
  const db = await testDatabase(t)
  const worlds = [await makePublisherWorld(db), await makePublisherWorld(db, 'herald')] as const
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const merchId = worlds[0].merchant.merch_id
  const click = (name: string, atMs: number, { publisher }: (typeof worlds)[number]) =>
    events.click(name, atMs, {
      ...{ pubId: publisher.pub_id, merchId, campaignId: null, model: MODEL.cpc },
      ...{ termsAmount: 60_000_000, reservedMicros: 60_000_000 },
    })
  const body = JSON.stringify({ click_id: clickId('ahead'), reason: 'bought' })
  await log.record(
    click('owed', START_MS - DAY_MS, worlds[0]),
    click('ahead', START_MS + DAY_MS, worlds[1]),
    events.at(START_MS, { type: EVENT_TYPE.reversal, merchId, body }),
  )
  const issued = await issueStatements(db, { now: new Date('2026-04-02T12:00:00Z') })
  assert.deepEqual(
    issued.map(({ pubId, payoutMicros }) => [pubId, payoutMicros]),
    [[worlds[1].publisher.pub_id, 0]],
  )
  assert.deepEqual(await listDifferences(db), [])
})
