import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openProxy } from '../../test/support/proxy.ts'
import { writeAudit } from '../accounts/audit-store.ts'
import { SHELL } from '../accounts/caller.ts'
import { NETWORK } from '../accounts/permission.ts'
import { moneyEvents } from '../events/append-money.ts'
import { EVENT_TYPE, MONEY_LANE, newEvent } from '../events/event.ts'
import { readConfig } from '../node/config.ts'
import { type Database, type Db, openDatabase } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { CommandContext } from './command.ts'
import { withEventWriter } from './event-writer.ts'

const contextOver = (db: Database): CommandContext => ({
  config: readConfig({}),
  database: async () => db,
  storage: () => Promise.reject(new Error('not in this test')),
  now: () => new Date('2026-04-13T12:00:00Z'),
  progress: () => undefined,
})

test("a command's events are folded when it says so, even if the last append was empty", async (t) => {
  const db = await testDatabase(t)
  const folded = await withEventWriter(contextOver(db), async (writer) => {
    const events = Array.from({ length: 1_500 }, (_, index) => {
      const body = JSON.stringify({ order_id: `o${index}`, kind: 'approve' })
      return newEvent({
        ...{ id: writer.nextId(), atMs: writer.now(), lane: MONEY_LANE, merchId: 1, body },
        type: EVENT_TYPE.orderDecision,
      })
    })
    await writer.append(events, { timeoutMs: 0 })
    // The last rows of a file may all be refused.
    await writer.append([], { timeoutMs: 0 })
    await writer.folded()
    return db.row(sql`
      select position = (select max(seq) from event) as are_all from lane
      where lane = ${MONEY_LANE}`)
  })
  assert.deepEqual(folded, { are_all: true })
})

test('a file whose append is cut off leaves neither events nor an audit entry', async (t) => {
  const db = await testDatabase(t)
  const rows = () => db.rows(sql`select from event union all select from audit_entry`)
  const also = (tx: Db) =>
    writeAudit(
      tx,
      { caller: SHELL, organization: NETWORK, requestId: null },
      { action: 'orders.import', target: 'merchant:1' },
    )
  await withEventWriter(contextOver(db), async (writer) => {
    const orders = Array.from({ length: 5_001 }, (_, index) => ({
      merchId: 1,
      body: { order_id: `o${index}` },
    }))
    const events = moneyEvents(writer, EVENT_TYPE.order, orders)
    const broken = events.map((event, at) => (at === 5_000 ? { ...event, body: '{' } : event))
    await assert.rejects(writer.appendWhole(broken, also), /invalid input syntax/)
    assert.equal((await rows()).length, 0)
    await writer.appendWhole(events, also)
    assert.equal((await rows()).length, events.length + 1)
  })
})

test('a command reports its result even if the database fails during clean-up', async (t) => {
  const { connection } = await testDatabase(t)
  const { host, port } = connection
  const proxy = await openProxy({ path: `${host}/.s.PGSQL.${port}` }, 'pass')
  const db = openDatabase({
    connection: { ...connection, host: '127.0.0.1', port: proxy.port },
    applicationName: 'souk: test',
  })
  t.after(async () => {
    await db.close()
    await proxy.close()
  })
  const leave = async (end: () => string) => {
    proxy.setMode('pass')
    return withEventWriter(contextOver(db), async () => {
      proxy.setMode('refuse')
      return end()
    })
  }

  assert.equal(await leave(() => 'recorded'), 'recorded')
  const refuse = (): never => {
    throw new Error('what went wrong')
  }
  await assert.rejects(leave(refuse), /^Error: what went wrong$/)
})
