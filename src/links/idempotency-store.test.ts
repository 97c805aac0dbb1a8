import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { createApiKey, createUser } from '../accounts/create-account.ts'
import { sql } from '../platform/sql.ts'
import { once } from './idempotency-store.ts'

test('calls of one API key wait for no other Idempotency-Key, whatever is to be forgotten', async (t) => {
  const db = await testDatabase(t)
  const user = { email: 'ann@example.com', password: 'long enough', isAdmin: false }
  const { uid } = await createUser(db, user)
  const wanted = { uid, description: 'test', expiresAt: null, now: new Date() }
  const { token_id: tokenId } = (await createApiKey(db, wanted)).row
  const call = (key: string) => ({ tokenId, key, body: {}, status: 201 })
  await once(db, call('old'), async () => 'old')
  await db.run(sql`update idempotent_response set created_at = now() - interval '25 hours'`)
  const answer = await once(db, call('one'), () => once(db, call('other'), async () => 'other'))
  assert.equal(answer, 'other')
  assert.equal(await once(db, call('old'), async () => 'new'), 'new', 'its time is over')
  assert.equal(await once(db, call('old'), async () => 'newer'), 'new')
})
