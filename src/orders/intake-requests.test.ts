import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { type Scope, testDatabase, untilWaiting } from '../../test/support/database.ts'
import { MERCHANT_DEFAULTS } from '../catalog/merchant.ts'
import { insertMerchant } from '../catalog/merchant-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { IntakeRequests } from './intake-requests.ts'
import { insertRequests, type SignedRequest } from './intake-store.ts'

const AT = new Date('2026-04-13T12:00:00Z')
const sha256 = (text: string) => hash('sha256', text, 'buffer')

/** Requests of a merchant's server, and the number of statements for their rows. */
async function start(scope: Scope) {
  const db = await testDatabase(scope)
  const shop = { ...MERCHANT_DEFAULTS, name: 'Shop', domains: ['shop.example'] }
  const { merch_id: merchId } = await insertMerchant(db, shop)
  await db.run(sql`create table counted_statement (count_statement int)`)
  await db.run(sql`
    create function count_statement() returns trigger language plpgsql as $$
      begin insert into counted_statement values (1); return null; end $$`)
  await db.run(sql`
    create trigger count_statement after insert or update on intake_request
    for each statement execute function count_statement()`)
  const countStatements = async () =>
    (await db.rows(sql`delete from counted_statement returning 1`)).length
  const request = (signature: string, key: string | null, body = signature): SignedRequest => ({
    merchId,
    signature: sha256(signature),
    idempotencyKey: key,
    bodyHash: sha256(body),
    at: AT,
  })
  return { db, requests: new IntakeRequests(db), request, countStatements }
}

test('concurrent requests share the commits of their claims and responses', async (t) => {
  const { requests, request, countStatements } = await start(t)
  const calls = Array.from({ length: 50 }, (_, at) =>
    request(`s${at}`, at % 2 === 0 ? null : `k${at}`),
  )
  const claims = await Promise.all(calls.map((one) => requests.claim(one)))
  assert.ok(claims.every(({ kind }) => kind === 'claimed'))
  assert.equal(await countStatements(), 1)

  await Promise.all(
    calls.map((one, at) => requests.finish({ request: one, response: `answer ${at}` })),
  )
  assert.equal(await countStatements(), 1)
  const retries = await Promise.all(
    calls.map((one, at) => requests.claim(request(`later ${at}`, one.idempotencyKey, `s${at}`))),
  )
  assert.deepEqual(
    retries.map((claim) => ('response' in claim ? claim.response : claim.kind)),
    calls.map(({ idempotencyKey }, at) => (idempotencyKey === null ? 'claimed' : `answer ${at}`)),
  )
})

test('a slow claim delays no other claim', {
  timeout: 60_000,
}, async (t) => {
  const { db, requests, request } = await start(t)
  const slow = request('slow', null)
  await db.transaction(async (tx) => {
    await insertRequests(tx, [slow])
    const waiting = requests.claim(slow)
    await untilWaiting(db, waiting)
    assert.equal((await requests.claim(request('quick', null))).kind, 'claimed')
  })
})

test('of identical concurrent requests only one is claimed', async (t) => {
  const { requests, request } = await start(t)
  const kinds = async (...calls: SignedRequest[]) =>
    (await Promise.all(calls.map((one) => requests.claim(one)))).map(({ kind }) => kind).toSorted()
  const [same, alike] = [request('a', null), request('a', null)]
  assert.deepEqual(await kinds(same, alike, request('b', null)), ['claimed', 'claimed', 'working'])
  await requests.finish({ request: same, response: '' })
  assert.deepEqual(await kinds(request('a', null)), ['replayed'])
  const body = 'the same body'
  assert.deepEqual(
    await kinds(request('c', 'key', body), request('d', 'key', body), request('e', 'key', 'other')),
    ['claimed', 'other_body', 'working'],
  )
  // A signature used with one key cannot be used with another.
  assert.deepEqual(await kinds(request('a', 'another key')), ['replayed'])
})

test('a request without a response can be repeated unchanged once its process is dead', async (t) => {
  const { requests, request } = await start(t)
  const call = request('a', null)
  assert.equal((await requests.claim(call)).kind, 'claimed') // The process of the claim dies.
  const later = (seconds: number) => ({ ...call, at: new Date(AT.getTime() + seconds * 1_000) })
  assert.equal((await requests.claim(later(59))).kind, 'working')
  assert.equal((await requests.claim(later(61))).kind, 'claimed')
  assert.equal((await requests.claim(later(62))).kind, 'working')
  await requests.finish({ request: call, response: '' })
  assert.equal((await requests.claim(later(200))).kind, 'replayed')
})

test('a retry that takes over a dead claim uses up both signatures', async (t) => {
  const { requests, request } = await start(t)
  const at = (seconds: number) => new Date(AT.getTime() + seconds * 1_000)
  const call = (signature: string, key: string | null, seconds: number) => ({
    ...request(signature, key, 'body'),
    at: at(seconds),
  })
  // The process of the claim dies.
  assert.equal((await requests.claim(call('first', 'k', 0))).kind, 'claimed')
  const retry = call('retry', 'k', 61)
  assert.equal((await requests.claim(retry)).kind, 'claimed')
  const kinds = async (...some: SignedRequest[]) =>
    Promise.all(some.map(async (one) => (await requests.claim(one)).kind))
  const meanwhile = [call('retry', 'other', 62), call('first', null, 62), call('first', 'o', 62)]
  assert.deepEqual(await kinds(...meanwhile), ['replayed', 'replayed', 'replayed'])
  assert.deepEqual(await kinds(call('third', 'k', 62)), ['working'])
  await requests.finish({ request: retry, response: 'done' })
  assert.deepEqual(await kinds(call('retry', null, 63)), ['replayed'])
  const again = await requests.claim(call('third', 'k', 63))
  assert.deepEqual(again, { kind: 'answered', response: 'done' })
})

test('a retry takes over its own dead claim, and no other', async (t) => {
  const { db, requests, request } = await start(t)
  const rival = { ...MERCHANT_DEFAULTS, name: 'Rival', domains: ['rival.example'] }
  const { merch_id: rivalId } = await insertMerchant(db, rival)
  const calls = [request('a', 'k'), request('b', 'l'), { ...request('a', 'k'), merchId: rivalId }]
  const kinds = async (seconds: number) => {
    const found: string[] = []
    for (const one of calls) {
      const claim = await requests.claim({ ...one, at: new Date(AT.getTime() + seconds * 1_000) })
      found.push(claim.kind)
    }
    return found
  }
  for (const seconds of [0, 61]) {
    assert.deepEqual(await kinds(seconds), ['claimed', 'claimed', 'claimed'])
    assert.deepEqual(await kinds(seconds + 1), ['working', 'working', 'working'])
  }
})

test('a claim that was taken over and refused is free again, also for the same bytes', async (t) => {
  const { requests, request } = await start(t)
  const later = { ...request('retry', 'k', 'body'), at: new Date(AT.getTime() + 61_000) }
  await requests.claim(request('first', 'k', 'body'))
  assert.equal((await requests.claim(later)).kind, 'claimed')
  await requests.drop(later)
  assert.equal((await requests.claim(later)).kind, 'claimed')
})
