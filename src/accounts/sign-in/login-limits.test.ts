import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { ApiError } from '../../platform/errors/api-errors.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { LoginLimits } from './login-limits.ts'

const NOON_MS = Date.UTC(2026, 2, 2, 12)

function makeLimits() {
  const clock = { nowMs: NOON_MS }
  const limits = new LoginLimits(() => new Date(clock.nowMs))
  const attempt = async (address: string, email: string, found: object | null) => {
    try {
      return (await limits.run({ address, email }, async () => found)) === null ? 401 : 200
    } catch (error) {
      assert.ok(error instanceof ApiError)
      assert.ok(Number(error.headers['retry-after']) > 0)
      return error.status
    }
  }
  return { clock, limits, attempt }
}

test('one address may try twenty times at once, then once every five seconds', async () => {
  const { clock, attempt } = makeLimits()
  for (let tries = 0; tries < 20; tries += 1) {
    assert.equal(await attempt('2001:db8::7', `user${tries}@x.example`, {}), 200)
  }
  assert.equal(await attempt('2001:db8::8', 'u@x.example', {}), 429, 'one /64 is one customer')
  assert.equal(await attempt('2001:db8:0:1::7', 'u@x.example', {}), 200)
  clock.nowMs += 5_000
  assert.equal(await attempt('2001:db8::7', 'u@x.example', {}), 200)
})

test('an account accepts a hundred wrong passwords, from any addresses, then one a minute', async () => {
  const { clock, attempt } = makeLimits()
  const wrong = (n: number) => attempt(`2001:db8:0:${n.toString(16)}::1`, 'Ann@x.example', null)
  for (let n = 0; n < 100; n += 1) assert.equal(await wrong(n), 401)
  assert.equal(await wrong(100), 429)
  assert.equal(
    await attempt('203.0.113.9', 'ann@X.example', {}),
    429,
    'a right one reveals nothing',
  )
  assert.equal(await attempt('203.0.113.9', 'bob@x.example', {}), 200)
  clock.nowMs += 60_000
  assert.equal(await attempt('203.0.113.9', 'ann@x.example', {}), 200, 'right ones use nothing up')
  assert.equal(await attempt('203.0.113.9', 'ann@x.example', null), 401)
  assert.equal(await attempt('203.0.113.9', 'ann@x.example', {}), 429)
})

test("all spellings of an account's address share one limit", async (t) => {
  const { attempt } = makeLimits()
  const db = await testDatabase(t)
  const spellings = ['İni@x.example', 'inİ@x.example', 'INI@x.example']
  const found = await db.rows(sql`
    select distinct lower(email) as email from unnest(${spellings}::text[]) as email`)
  assert.deepEqual(found, [{ email: 'ini@x.example' }])
  for (let n = 0; n < 100; n += 1) {
    const email = spellings[n % spellings.length] ?? ''
    assert.equal(await attempt(`2001:db8:0:${n.toString(16)}::1`, email, null), 401)
  }
  assert.equal(await attempt('203.0.113.9', 'ini@x.example', {}), 429)
})

test('at most two passwords are checked at once', async () => {
  const { limits } = makeLimits()
  const gate = Promise.withResolvers<object>()
  let running = 0
  const all = Array.from({ length: 10 }, (_, n) =>
    limits.run({ address: `192.0.2.${n}`, email: `user${n}@x.example` }, () => {
      running += 1
      return gate.promise
    }),
  )
  await new Promise(setImmediate)
  assert.equal(running, 2)
  gate.resolve({})
  assert.equal((await Promise.all(all)).length, 10)
})
