import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { ApiError } from '../platform/errors/api-errors.ts'
import { TokenBuckets } from '../platform/limits/token-bucket.ts'
import { sql } from '../platform/postgres/sql.ts'
import { authorize } from './caller.ts'
import { createApiKey, createUser } from './create-account.ts'
import { PUBLISHER_DEFAULTS } from './publisher.ts'
import { insertPublisher } from './publisher-store.ts'
import { holderOf, type KeyHolder, makeKeyGuard } from './require-key.ts'
import { disableApiKey, updateKeyUse } from './store.ts'

const START = new Date('2026-03-02T10:00:00Z')
const db = await testDatabase()
const user = { email: 'ann@pub.example', password: 'long enough', isAdmin: false }
const uid = (await createUser(db, user)).uid
for (const slug of ['one', 'two']) {
  await insertPublisher(db, { ...PUBLISHER_DEFAULTS, uid, name: slug, slug })
}

/** A key of the user, a clock that tests can set, and a call with the key. */
async function makeCaller(
  options: { expiresAt?: Date; limits?: TokenBuckets; lookUp?: () => Promise<void> } = {},
) {
  const { expiresAt = null, limits = null, lookUp } = options
  const made = await createApiKey(db, { uid, description: 'test', expiresAt, now: START })
  const clock = { now: START }
  const now = () => clock.now
  const used: KeyHolder[] = []
  const onUsed = (holder: KeyHolder) => void used.push(holder)
  const row: typeof db.row = async (query) => {
    await lookUp?.()
    return db.row(query)
  }
  const slowDb = { ...db, row }
  const brandWords = ['service', 'howl']
  const baseUrl = 'http://127.0.0.1'
  const guard = makeKeyGuard({ db: slowDb, brandWords, limits, baseUrl, now, onUsed })
  const call = async (secondsLater: number, method = 'GET') => {
    clock.now = new Date(START.getTime() + secondsLater * 1000)
    const request: { method: string; headers: { authorization: string }; keyHolder?: KeyHolder } = {
      method,
      headers: { authorization: `HOWL-API-KEY ${made.key}` },
    }
    await guard.require(request)
    return holderOf(request)
  }
  return { call, guard, used, tokenId: made.row.token_id, key: made.key }
}

async function storedUse(tokenId: number): Promise<number | null> {
  const row = await db.row<{ at: Date | null }>(sql`
    select datetime_last_used as at from api_key where token_id = ${tokenId}`)
  return row?.at?.getTime() ?? null
}

const isRefused = (error: unknown) => error instanceof ApiError && error.code === 4302

test('a key gives access to its user and all publishers of that user', async () => {
  const { call, tokenId } = await makeCaller()
  const holder = await call(0)
  assert.deepEqual(holder.through, { kind: 'key', tokenId })
  assert.equal(holder.uid, uid)
  assert.deepEqual(holder.pubIds, [1, 2])
  const links = (id: number) => authorize(holder, { kind: 'publisher', id }, 'links.write')
  assert.doesNotThrow(() => links(2))
  assert.throws(() => links(3), { code: 4303 })
})

test('a read-only database still serves callers with a key', async () => {
  const { key } = await makeCaller()
  const lost: unknown[] = []
  const refused = new Error('cannot execute UPDATE in a read-only transaction')
  const guard = makeKeyGuard({
    db: { ...db, run: () => Promise.reject(refused) },
    brandWords: ['service'],
    limits: null,
    baseUrl: 'http://127.0.0.1',
    now: () => START,
    onUseLost: (error) => lost.push(error),
  })
  const request: Parameters<typeof guard.require>[0] = {
    method: 'GET',
    headers: { authorization: `SERVICE-API-KEY ${key}` },
  }
  await guard.require(request)
  assert.equal(holderOf(request).uid, uid)
  assert.deepEqual(lost, [refused])
})

test('the record shows the use before this call, and the database stores one use a minute', async () => {
  const { call, tokenId } = await makeCaller()
  const shown = async (seconds: number, method?: string) =>
    (await call(seconds, method)).record?.datetime_last_used?.getTime() ?? null
  const stored = () => storedUse(tokenId)
  const at = (seconds: number) => START.getTime() + seconds * 1000

  assert.equal(await shown(0, 'HEAD'), null)
  assert.equal(await stored(), null, 'HEAD records nothing')
  assert.equal(await shown(1), null)
  assert.equal(await stored(), at(1), 'the first use is written at once')
  assert.equal(await shown(30), at(1))
  assert.equal(await shown(60), at(30), 'exact although not written')
  assert.equal(await stored(), at(1))
  assert.equal(await shown(61), at(60))
  assert.equal(await stored(), at(61), 'a minute later it is written again')
})

test('a use is stored for its own key only, and an earlier use never replaces a later one', async () => {
  const [{ tokenId, call }, other] = [await makeCaller(), await makeCaller()]
  await call(120)
  // Like another call that arrived before this one and is written after it.
  await updateKeyUse(db, { tokenId, at: START })
  assert.equal(await storedUse(tokenId), START.getTime() + 120_000)
  assert.equal(await storedUse(other.tokenId), null)
})

test('a disabled or expired key is refused from that moment on', async () => {
  const { call, tokenId } = await makeCaller({ expiresAt: new Date(START.getTime() + 5000) })
  await call(4)
  await assert.rejects(call(5), isRefused)
  await call(4)
  assert.equal(await disableApiKey(db, { tokenId, uid: uid + 1 }), null, 'not their key')
  await call(4)
  await disableApiKey(db, { tokenId, uid })
  await assert.rejects(call(4), isRefused)
})

test('disabling a key again changes nothing', async () => {
  const { tokenId } = await makeCaller()
  const updateAtStart = sql`
    update api_key set datetime_updated = ${START} where token_id = ${tokenId}`
  await db.run(updateAtStart)
  const disabled = await disableApiKey(db, { tokenId, uid })
  assert.equal(disabled?.is_enabled_by_user, false)
  assert.notDeepEqual(disabled.datetime_updated, START)
  await db.run(updateAtStart)
  const again = await disableApiKey(db, { tokenId, uid })
  assert.deepEqual(again, { ...disabled, datetime_updated: START })
})

test('an unknown key, no key and another scheme get the same answer', async () => {
  const { guard, key } = await makeCaller()
  const changed = key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
  const headers = [undefined, '', 'x', key, `Bearer ${key}`, `SERVICE-API-KEY ${changed}`]
  for (const authorization of headers) {
    await assert.rejects(guard.require({ method: 'GET', headers: { authorization } }), {
      status: 401,
      code: 4302,
      message: 'Invalid API token',
    })
  }
})

test('an optional key must be valid if it is sent', async () => {
  const { guard, key } = await makeCaller()
  await guard.accept({ method: 'POST', headers: {} })
  await guard.accept({ method: 'POST', headers: { authorization: `service-api-key ${key}` } })
  const wrong = { method: 'POST', headers: { authorization: 'service-api-key x' } }
  await assert.rejects(guard.accept(wrong), isRefused)
})

test('a key over its limit gets Retry-After', async () => {
  const limits = new TokenBuckets({ rate: 1, burst: 2 })
  const [{ call }, other] = [await makeCaller({ limits }), await makeCaller({ limits })]
  await call(0)
  await call(0)
  await assert.rejects(call(0), (error) => {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 4290)
    assert.equal(error.headers['retry-after'], '1')
    assert.equal(error.headers['ratelimit-limit'], '2')
    return true
  })
  await other.call(0)
  await call(1)
})

test("a slow key look-up does not refill the key's limit", async () => {
  const limits = new TokenBuckets({ rate: 1, burst: 1 })
  const slow = Promise.withResolvers<void>()
  let lookUps = 0
  const lookUp = async () => {
    lookUps += 1
    if (lookUps === 1) await slow.promise
  }
  const { call } = await makeCaller({ limits, lookUp })
  const late = call(0)
  await call(10)
  slow.resolve()
  await assert.rejects(late, { code: 4290 })
  await assert.rejects(call(10), { code: 4290 })
})

test('neither HEAD nor a call over the limit counts as a use of the key', async () => {
  const limits = new TokenBuckets({ rate: 0.01, burst: 2 })
  const { call, used, tokenId } = await makeCaller({ limits })
  await call(0, 'HEAD')
  assert.equal(used.length, 0)
  await call(1)
  await assert.rejects(call(70), { code: 4290 })
  assert.equal(used.length, 1)
  assert.equal(await storedUse(tokenId), START.getTime() + 1_000)
  assert.equal((await call(200)).record?.datetime_last_used?.getTime(), START.getTime() + 1_000)
})

test('a user has at most 100 working keys, also when several are created at once', async () => {
  const other = { email: 'many@pub.example', password: 'long enough', isAdmin: false }
  const { uid: owner } = await createUser(db, other)
  const create = (expiresAt: Date | null = null) =>
    createApiKey(db, { uid: owner, description: 'x', expiresAt, now: START })
  const made = await Promise.allSettled(Array.from({ length: 110 }, () => create()))
  const keys = made.flatMap((one) => (one.status === 'fulfilled' ? one.value.row.token_id : []))
  assert.equal(keys.length, 100)
  await assert.rejects(create(), { code: 4000, message: /user: has 100 API keys/ })
  await disableApiKey(db, { tokenId: keys[0] ?? 0, uid: owner })
  await create()
})
