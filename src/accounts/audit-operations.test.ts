import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import {
  makeMerchantOf,
  makePerson,
  makePublisherOf,
  pathTo,
  serveOperations,
} from '../../test/support/management.ts'
import { sql } from '../platform/postgres/sql.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { auditOperations } from './audit-operations.ts'
import { writeAudit } from './audit-store.ts'
import { SHELL } from './caller.ts'
import { NETWORK, type Organization } from './permission.ts'

const db = await testDatabase()
const { call } = await serveOperations(db, auditOperations())
const note = (organization: Organization, action: string, uid: number | null = null) =>
  writeAudit(
    db,
    { caller: { ...SHELL, uid }, organization, requestId: 'r1' },
    { action, target: 'user:7', before: { role: '=1' }, after: null },
  )

test('an owner reads who changed what, of the own organization only', async () => {
  const { at, owner } = await makePublisherOf(db)
  const other = await makeMerchantOf(db)
  await note(at, 'member.update', owner.uid)
  await note(other.at, 'member.remove')
  const { data } = await call('GET', `${pathTo(at)}audit_log/`, { key: owner.key })
  const [{ audit_id, datetime_created, datetime_updated, ...entry }] = data
  assert.deepEqual(
    [data.length, typeof audit_id, datetime_updated],
    [1, 'string', datetime_created],
  )
  assert.deepEqual(entry, {
    ...{ uid: owner.uid, email: owner.email, through: 'cli', token_id: null, organization: at },
    ...{ action: 'member.update', target: 'user:7', before: { role: '=1' }, after: null },
    request_id: 'r1',
  })
})

test('the log comes by pages, by day and by action, and as a file', async () => {
  const { at, owner } = await makeMerchantOf(db)
  for (const action of ['key.create', 'member.update', 'member.remove']) await note(at, action)
  const url = `${pathTo(at)}audit_log/`
  const actions = async (query: string) =>
    (await call('GET', `${url}?${query}`, { key: owner.key })).data.map(({ action }) => action)
  assert.deepEqual(await actions(''), ['member.remove', 'member.update', 'key.create'])
  assert.deepEqual(await actions('action=member'), ['member.remove', 'member.update'])
  assert.deepEqual(await actions('action=key.create'), ['key.create'])
  const first = await call('GET', `${url}?limit=2`, { key: owner.key })
  assert.deepEqual(await actions(`limit=2&cursor=${first.nextCursor}`), ['key.create'])
  assert.equal((await call('GET', `${url}?limit=3`, { key: owner.key })).nextCursor, null)
  const today = utcDay(new Date())
  assert.equal((await actions(`date_from=${today}&date_to=${today}`)).length, 3)
  assert.equal((await actions('date_to=2020-01-01')).length, 0)
  const headers = { accept: 'text/csv' }
  const file = await call('GET', url, { key: owner.key, headers })
  const [head, ...lines] = file.text.trimEnd().split(/\r?\n/)
  assert.match(head ?? '', /^audit_id,datetime_created,.*,before,after,request_id$/)
  assert.equal(lines.length, 3)
})

test('the log shows the changes of one user, by uid or e-mail address', async () => {
  const { at, owner } = await makePublisherOf(db)
  await note(at, 'member.update', owner.uid)
  await note(at, 'member.remove')
  const changes = async (user: string) => {
    const url = `${pathTo(at)}audit_log/?user=${encodeURIComponent(user)}`
    return (await call('GET', url, { key: owner.key })).data.map(({ action }) => action)
  }
  for (const user of [`${owner.uid}`, owner.email.toUpperCase()]) {
    assert.deepEqual(await changes(user), ['member.update'], user)
  }
  assert.deepEqual(await changes('nobody@people.example'), [])
})

test('an admin of the network reads the entries of all organizations', async () => {
  const { key } = await makePerson(db, { organization: NETWORK, role: 'admin' })
  const all = await db.row<{ n: number }>(sql`select count(*)::int as n from audit_entry`)
  const { data } = await call('GET', '/api/v1/network/audit_log/', { key })
  assert.equal(data.length, all?.n)
})

test('wrong filters are refused by name', async () => {
  const { at, owner } = await makePublisherOf(db)
  for (const [query, field] of [
    ['date_from=yesterday', 'date_from'],
    ['date_to=2026-02-30', 'date_to'],
    ['date_from=2026-02-02&date_to=2026-02-01', 'date_to'],
    ['cursor=x', 'cursor'],
    ['limit=501', 'limit'],
    [`action=${'a'.repeat(101)}`, 'action'],
  ] as const) {
    const { status, fields } = await call('GET', `${pathTo(at)}audit_log/?${query}`, {
      key: owner.key,
    })
    assert.deepEqual([status, fields], [400, [field]], query)
  }
})
