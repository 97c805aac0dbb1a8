import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { sql } from '../platform/postgres/sql.ts'
import { once } from './idempotency-store.ts'

/** A database, a program and a person. */
async function openWithTwoCallers(t: TestContext) {
  return { db: await testDatabase(t), callers: ['key:1', 'user:1'] as const }
}

test('two callers may use the same Idempotency-Key, with separate responses', async (t) => {
  const { db, callers } = await openWithTwoCallers(t)
  const ask = (caller: string, body: object, answer: string) =>
    once(db, { caller, key: '1', body, status: 201 }, async () => answer)
  for (const order of [callers, callers.toReversed()]) {
    for (const id of order) assert.equal(await ask(id, {}, `of ${id}`), `of ${id}`)
  }
  for (const id of callers) assert.equal(await ask(id, {}, 'again'), `of ${id}`)
  for (const id of callers) {
    await assert.rejects(ask(id, { other: id }, 'again'), { code: 4090 })
  }
})

test('a call waits for no other Idempotency-Key, however many have expired', async (t) => {
  const {
    db,
    callers: [caller],
  } = await openWithTwoCallers(t)
  const call = (key: string) => ({ caller, key, body: {}, status: 201 })
  await once(db, call('old'), async () => 'old')
  await db.run(sql`update idempotent_response set created_at = now() - interval '25 hours'`)
  const answer = await once(db, call('one'), () => once(db, call('other'), async () => 'other'))
  assert.equal(answer, 'other')
  assert.equal(await once(db, call('old'), async () => 'new'), 'new', 'its time is over')
  assert.equal(await once(db, call('old'), async () => 'newer'), 'new')
})
