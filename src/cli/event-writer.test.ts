import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { readConfig } from '../config.ts'
import { EVENT_TYPE, MONEY_LANE, newEvent } from '../events/event.ts'
import { sql } from '../platform/sql.ts'
import { withEventWriter } from './event-writer.ts'

test('what a command has appended is folded when it says so, also if nothing was left at last', async (t) => {
  const db = await testDatabase(t)
  const context = {
    config: readConfig({}),
    database: async () => db,
    storage: () => Promise.reject(new Error('not in this test')),
    now: () => new Date('2026-04-13T12:00:00Z'),
    progress: () => undefined,
  }
  const folded = await withEventWriter(context, async (writer) => {
    const events = Array.from({ length: 1_500 }, (_, index) => {
      const body = JSON.stringify({ order_id: `o${index}`, kind: 'approve' })
      return newEvent({
        ...{ id: writer.nextId(), atMs: writer.now(), lane: MONEY_LANE, merchId: 1, body },
        type: EVENT_TYPE.orderDecision,
      })
    })
    await writer.append(events, { patienceMs: 0 })
    // The last rows of a file may all be refused.
    await writer.append([], { patienceMs: 0 })
    await writer.folded()
    return db.row(sql`
      select position = (select max(seq) from event) as are_all from lane
      where lane = ${MONEY_LANE}`)
  })
  assert.deepEqual(folded, { are_all: true })
})
