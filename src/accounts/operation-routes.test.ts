import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { testDatabase } from '../../test/support/database.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { createHttp } from '../platform/http/http-server.ts'
import { sql } from '../platform/postgres/sql.ts'
import { makeLogger } from '../platform/process/log.ts'
import { SHELL } from './caller.ts'
import { createApiKey, createUser } from './create-account.ts'
import { requireMatch } from './etag.ts'
import { action, list, perform } from './operation.ts'
import { operationRoutes } from './operation-routes.ts'
import { PUBLISHER_DEFAULTS } from './publisher.ts'
import { insertPublisher } from './publisher-store.ts'
import { makeKeyGuard } from './require-key.ts'

const db = await testDatabase()
const { uid } = await createUser(db, {
  ...{ email: 'ann@pub.example', password: 'long enough', isAdmin: false },
})
for (const slug of ['one', 'two']) {
  await insertPublisher(db, { ...PUBLISHER_DEFAULTS, uid, name: slug, slug })
}
const { key } = await createApiKey(db, {
  ...{ uid, description: 'test', expiresAt: null, now: new Date() },
})

const params = Type.Object({ pub_id: Type.Integer() })
const Named = Type.Object({ name: Type.String({ maxLength: 9 }) })
const PATH = '/api/v1/publishers/:pub_id/name/'
const readName = async (tx: typeof db, id: number) => {
  const row = await tx.row<{ name: string }>(sql`
    select name from publisher where pub_id = ${id} for update`)
  return { name: row?.name ?? '' }
}
const setName = action({
  ...{ id: 'setName', tag: 'publishers', method: 'PATCH', path: PATH, summary: 'Set the name' },
  permission: 'settings.write',
  hasEtag: true,
  params,
  body: Named,
  entry: Named,
  run: async (call) => {
    const { pub_id: id } = call.params
    const before = await readName(call.db as typeof db, id)
    requireMatch(call.ifMatch, before)
    await call.db.run(sql`update publisher set name = ${call.body.name} where pub_id = ${id}`)
    const target = `publisher:${id}`
    await call.audit({ action: 'publisher.update', target, before, after: call.body })
    if (call.body.name === 'fail') throw new Error('after the change')
    return [call.body]
  },
})
const addNumber = action({
  ...{ id: 'addNumber', tag: 'publishers', method: 'POST', summary: 'Add', status: 201 },
  path: '/api/v1/publishers/:pub_id/numbers/',
  permission: 'settings.write',
  params,
  entry: Type.Object({ number: Type.Integer() }),
  run: async (call) => {
    await call.audit({ action: 'number.add', target: 'number' })
    const row = await call.db.row<{ n: number }>(sql`
      select count(*)::int as n from audit_entry where action = 'number.add'`)
    return [{ number: row?.n ?? 0 }]
  },
})
const listNumbers = list({
  ...{ id: 'listNumbers', tag: 'publishers', summary: 'List' },
  path: '/api/v1/publishers/:pub_id/numbers/',
  permission: 'figures.read',
  params,
  entry: Type.Object({ n: Type.Integer(), text: Type.String() }),
  run: async ({ params: { pub_id: id }, query: { limit, cursor } }) => {
    if (id === 2) throw notFound('No numbers')
    const from = Number(cursor ?? 0)
    const rows = Array.from({ length: limit }, (_, at) => ({ n: from + at, text: '=1' }))
    const kept = rows.filter(({ n }) => n < 700)
    return { rows: kept, nextCursor: from + limit < 700 ? String(from + limit) : null }
  },
})

const now = () => new Date()
const baseUrl = 'http://127.0.0.1'
const keys = makeKeyGuard({ db, brandWords: ['service'], limits: null, baseUrl, now })
const http = await createHttp({
  log: makeLogger({ level: 'silent' }),
  corsOrigins: [],
  isTrustedProxy: () => false,
  matchHot: () => null,
})
await http.register(operationRoutes({ db, keys, now }, [setName, addNumber, listNumbers]))

async function call(
  method: 'GET' | 'PATCH' | 'POST',
  url: string,
  { body, ...headers }: { body?: object } & Record<string, unknown> = {},
) {
  const answer = await http.inject({
    ...{ method, url, ...(body === undefined ? {} : { payload: body }) },
    headers: { authorization: `SERVICE-API-KEY ${key}`, ...(headers as object) },
  })
  return { status: answer.statusCode, headers: answer.headers, text: answer.body }
}
const auditCount = async () =>
  (await db.row<{ n: number }>(sql`select count(*)::int as n from audit_entry`))?.n

test('an operation and its audit entry happen together or not at all', async () => {
  const before = await auditCount()
  const failed = await call('PATCH', '/api/v1/publishers/1/name/', { body: { name: 'fail' } })
  assert.equal(failed.status, 500)
  assert.equal((await readName(db, 1)).name, 'one')
  assert.equal(await auditCount(), before)
})

test('two people who change one record: the second gets 412', async () => {
  const url = '/api/v1/publishers/1/name/'
  const first = await call('PATCH', url, { body: { name: 'first' } })
  const { etag } = first.headers
  assert.equal(JSON.parse(first.text).data[0].etag, String(etag).replaceAll('"', ''))
  const second = await call('PATCH', url, { body: { name: 'second' }, 'if-match': etag })
  assert.equal(second.status, 200)
  const late = await call('PATCH', url, { body: { name: 'late' }, 'if-match': etag })
  assert.deepEqual([late.status, JSON.parse(late.text).error.code], [412, 4120])
  assert.equal((await readName(db, 1)).name, 'second')
})

test('whose record it is counts before what was sent', async () => {
  const body = { name: 'far too long' }
  const own = await call('PATCH', '/api/v1/publishers/2/name/', { body })
  assert.deepEqual([own.status, JSON.parse(own.text).error.data[0].field], [400, 'name'])
  for (const id of [3, 99]) {
    const foreign = await call('PATCH', `/api/v1/publishers/${id}/name/`, { body })
    assert.deepEqual([foreign.status, JSON.parse(foreign.text).error.code], [403, 4303], `${id}`)
  }
})

test('a repeated creation with its Idempotency-Key happens once', async () => {
  const add = (idempotencyKey: string) =>
    call('POST', '/api/v1/publishers/1/numbers/', { 'idempotency-key': idempotencyKey })
  const [one, again, other] = [await add('a'), await add('a'), await add('b')]
  assert.equal(one.status, 201)
  assert.equal(again.text, one.text)
  assert.notEqual(other.text, one.text)
})

test('a list comes by pages, and as one CSV file with formulas made harmless', async () => {
  const url = '/api/v1/publishers/1/numbers/'
  const page = JSON.parse((await call('GET', `${url}?limit=2&cursor=698`)).text)
  assert.deepEqual(
    page.data.map(({ n }: { n: number }) => n),
    [698, 699],
  )
  assert.equal(page.next_cursor, null)
  const file = await call('GET', url, { accept: 'text/csv' })
  const lines = file.text.trimEnd().split('\r\n')
  assert.deepEqual([lines.length, lines[0], lines[700]], [701, 'n,text', "699,'=1"])
})

test('a CSV file that is refused answers the error', async () => {
  const accept = 'text/csv'
  const refused = await call('GET', '/api/v1/publishers/2/numbers/', { accept })
  assert.deepEqual([refused.status, JSON.parse(refused.text).error.code], [404, 4040])
})

test('a command is checked as a route is', async () => {
  const wrong = { params: { pub_id: 1 }, body: { name: 'far too long' } }
  await assert.rejects(perform(setName, { db, caller: SHELL, now: now(), ...wrong }), {
    code: 4000,
  })
  const body = { name: 'by shell' }
  const given = { db, caller: SHELL, now: now(), params: { pub_id: 1 }, body }
  assert.deepEqual(await perform(setName, given), [body])
})
