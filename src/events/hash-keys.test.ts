import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { HashKeys, type HashPurpose } from './hash-keys.ts'

const MINUTE_MS = 60_000
/** The first moment of a period of either length. */
const START_MS = 20_520 * DAY_MS
const LIVES: readonly (readonly [HashPurpose, number])[] = [
  ['address', 2 * DAY_MS],
  ['session', 30 * DAY_MS],
  ['visitor', 30 * DAY_MS],
]

test('all nodes hash alike within a period, and differently in another one', async (t) => {
  const db = await testDatabase(t)
  const [one, other] = [new HashKeys(db), new HashKeys(db)]
  await Promise.all([one.refresh(START_MS), other.refresh(START_MS)])
  for (const [purpose, lifeMs] of LIVES) {
    const first = one.hash(purpose, 'x', START_MS)
    assert.deepEqual(other.hash(purpose, 'x', START_MS + lifeMs - 1), first)
    // The next key exists ahead of time, because a period may start while the database is down.
    const next = one.hash(purpose, 'x', START_MS + lifeMs)
    assert.notDeepEqual(next, first)
    assert.deepEqual(other.hash(purpose, 'x', START_MS + lifeMs), next)
    assert.notDeepEqual(one.hash(purpose, 'y', START_MS), first)
  }
  assert.notDeepEqual(one.hash('session', 'x', START_MS), one.hash('visitor', 'x', START_MS))
})

test("a request from before a period's end is hashed with that period's key for a minute", async (t) => {
  const db = await testDatabase(t)
  const [one, other] = [new HashKeys(db), new HashKeys(db)]
  await one.refresh(START_MS - 1)
  const hash = one.hash('address', 'x', START_MS - 1)
  await other.refresh(START_MS + MINUTE_MS - 1)
  assert.deepEqual(other.hash('address', 'x', START_MS - 1), hash)
  await other.refresh(START_MS + MINUTE_MS)
  assert.notDeepEqual(other.hash('address', 'x', START_MS - 1), hash)
})

test('keys of addresses are deleted after 48 hours, of sessions and visitors after 30 days, everywhere', async (t) => {
  const db = await testDatabase(t)
  const keys = new HashKeys(db)
  await keys.refresh(START_MS)
  for (const [purpose, lifeMs] of LIVES) {
    const stored = await db.row<{ key: Buffer }>(sql`
      select key from hash_key where purpose = ${purpose} order by epoch limit 1`)
    const hash = keys.hash(purpose, 'somebody', START_MS)
    await keys.forget(START_MS + lifeMs - 1)
    assert.deepEqual(keys.hash(purpose, 'somebody', START_MS), hash)
    await keys.forget(START_MS + lifeMs)
    await keys.refresh(START_MS + lifeMs + MINUTE_MS)
    const found = await db.rows(sql`select from hash_key where key = ${stored?.key}`)
    assert.equal(found.length, 0, purpose)
    assert.notDeepEqual(keys.hash(purpose, 'somebody', START_MS), hash, purpose)
    await keys.refresh(START_MS)
  }
})

test('a node that is without the database for too long uses its own key, which all nodes adopt later', async (t) => {
  const db = await testDatabase(t)
  const [one, other] = [new HashKeys(db), new HashKeys(db)]
  await one.refresh(START_MS)
  await other.refresh(START_MS)
  for (const [purpose, lifeMs] of LIVES) {
    for (const at of [START_MS + 2 * lifeMs, START_MS - 1]) {
      const hash = one.hash(purpose, 'x', at)
      assert.deepEqual(one.hash(purpose, 'x', at), hash)
      assert.notDeepEqual(hash, one.hash(purpose, 'x', START_MS))
    }
  }
  const later = START_MS + 4 * DAY_MS
  const hash = one.hash('address', 'x', later)
  assert.notDeepEqual(other.hash('address', 'x', later), hash)
  await one.refresh(later)
  await other.refresh(later)
  assert.deepEqual(one.hash('address', 'x', later), hash)
  assert.deepEqual(other.hash('address', 'x', later), hash, 'any returning value')
})
