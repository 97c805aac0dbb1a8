import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { createApiKey, createUser } from '../accounts/create-account.ts'
import { sql } from '../platform/postgres/sql.ts'
import { once } from './idempotency-store.ts'

/** A database with two API keys of one user. */
async function openWithTwoKeys(t: TestContext) {
  const db = await testDatabase(t)
  const user = { email: 'ann@example.com', password: 'long enough', isAdmin: false }
  const { uid } = await createUser(db, user)
  const wanted = { uid, description: 'test', expiresAt: null, now: new Date() }
  const [{ row: mine }, { row: other }] = [
    await createApiKey(db, wanted),
    await createApiKey(db, wanted),
  ]
  return { db, tokens: [mine.token_id, other.token_id] as const }
}

test('two API keys may use the same Idempotency-Key, with separate responses', async (t) => {
  const { db, tokens } = await openWithTwoKeys(t)
  const ask = (tokenId: number, body: object, answer: string) =>
    once(db, { tokenId, key: '1', body, status: 201 }, async () => answer)
  for (const order of [tokens, tokens.toReversed()]) {
    for (const id of order) assert.equal(await ask(id, {}, `of ${id}`), `of ${id}`)
  }
  for (const id of tokens) assert.equal(await ask(id, {}, 'anew'), `of ${id}`)
  for (const id of tokens) {
    await assert.rejects(ask(id, { other: id }, 'anew'), { code: 4090 })
  }
})

test('a call waits for no other Idempotency-Key, however many have expired', async (t) => {
  const {
    db,
    tokens: [tokenId],
  } = await openWithTwoKeys(t)
  const call = (key: string) => ({ tokenId, key, body: {}, status: 201 })
  await once(db, call('old'), async () => 'old')
  await db.run(sql`update idempotent_response set created_at = now() - interval '25 hours'`)
  const answer = await once(db, call('one'), () => once(db, call('other'), async () => 'other'))
  assert.equal(answer, 'other')
  assert.equal(await once(db, call('old'), async () => 'new'), 'new', 'its time is over')
  assert.equal(await once(db, call('old'), async () => 'newer'), 'new')
})
