import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import {
  countReceipts,
  deleteUnclickedReceipts,
  receiptsOfDay,
  receiptsOfPublisher,
} from './receipt-store.ts'

test('a receipt stays while a click on its result may be unfolded', async (t) => {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const left = async () => {
    await deleteUnclickedReceipts(db, new Date(START_MS + 30 * DAY_MS))
    const rows = await db.rows<{ name: string }>(sql`
      select convert_from(result_number, 'UTF8') as name from receipt order by at`)
    return rows.map(({ name }) => name)
  }
  const hold = (name: string, atMs: number) =>
    db.run(sql`
      insert into receipt values (${Buffer.from(name)}, ${new Date(atMs)}, 5, 1, 1, 'packed')`)
  await hold('too old to be clicked then', START_MS - DAY_MS - 1)
  await hold('clicked', START_MS - DAY_MS)
  await hold('not clicked', START_MS)
  const resultNumber = Buffer.from('clicked')
  await log.append([new MoneyEvents().click('a', START_MS, { resultNumber })])
  assert.deepEqual(await left(), ['clicked', 'not clicked'])

  await db.run(sql`update lane set position = 1 where lane = 0`)
  await db.run(sql`
    insert into unfolded_event (lane, seq, event_id, day, error)
    select lane, seq, id, day, 'a test' from event`)
  assert.deepEqual(await left(), ['clicked', 'not clicked'])

  await db.run(sql`delete from unfolded_event`)
  await db.run(sql`update lane set position = 0 where lane = 0`)
  await log.fold()
  assert.deepEqual(await left(), ['clicked'])
})

test('an unclicked receipt at the exact time limit is deleted in the next run', async (t) => {
  const db = await testDatabase(t)
  const before = new Date(START_MS)
  assert.equal(await deleteUnclickedReceipts(db, before), 0)
  await db.run(sql`insert into receipt values ('one', ${before}, 5, 1, 1, 'packed')`)
  assert.equal(await deleteUnclickedReceipts(db, before), 0)
  assert.equal(await deleteUnclickedReceipts(db, new Date(START_MS + DAY_MS)), 1)
})

test('the receipts of a day are read once each, also thousands of one instant', async (t) => {
  const db = await testDatabase(t)
  await db.run(sql`
    insert into receipt
    select convert_to('r' || number, 'UTF8'), '2026-03-02T00:00:00Z', 5, 1, 1,
      convert_to(number::text, 'UTF8')
    from generate_series(1, 2001) as number
    union all values ('before'::bytea, '2026-03-01T23:59:59.999Z'::timestamptz, 5, 1, 1, '0'::bytea),
      ('after', '2026-03-03T00:00:00Z', 5, 1, 1, '0')`)
  const read: number[] = []
  for await (const rows of receiptsOfDay(db, '2026-03-02')) {
    assert.ok(rows.length <= 1_000 && read.length < 2_001)
    for (const { packed } of rows) read.push(Number(packed))
  }
  assert.equal(read.length, 2_001)
  assert.equal(new Set(read).size, 2_001)
  assert.ok(!read.includes(0))
})

test("a share of a publisher's day is an even sample, and a share of one is all", async (t) => {
  const db = await testDatabase(t)
  await db.run(sql`
    insert into receipt
    select decode(md5(number::text), 'hex'), '2026-03-02T00:00:00Z', 5 + number % 2, 1, 1, 'packed'
    from generate_series(1, 8000) as number`)
  const day = { pubId: 5, day: '2026-03-02' }
  const read = async (share?: number) => {
    let found = 0
    const wanted = share === undefined ? day : { ...day, share }
    for await (const rows of receiptsOfPublisher(db, wanted)) found += rows.length
    return found
  }
  assert.equal(await countReceipts(db, day), 4_000)
  assert.equal(await countReceipts(db, { ...day, day: '2026-03-01' }), 0)
  assert.equal(await read(), 4_000)
  assert.equal(await read(1), 4_000)
  const tenth = await read(0.1)
  // Four standard deviations, and always the same.
  assert.ok(tenth > 320 && tenth < 480, `${tenth}`)
})
