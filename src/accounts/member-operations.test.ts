import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import {
  makeKey,
  makeMerchantOf,
  makePerson,
  makePublisherOf,
  pathTo,
  serveOperations,
} from '../../test/support/management.ts'
import { sql } from '../platform/postgres/sql.ts'
import { memberOperations } from './member-operations.ts'
import { NETWORK } from './permission.ts'

const db = await testDatabase()
const { call } = await serveOperations(db, memberOperations())
const auditOf = (target: string) =>
  db.rows<{ action: string; before: unknown; after: unknown }>(sql`
    select action, before, after from audit_entry where target = ${target} order by audit_id`)

test('an owner lists the members by pages, and gives one another role', async () => {
  const { at, owner } = await makePublisherOf(db)
  const viewer = await makePerson(db, { organization: at, role: 'viewer' })
  const url = `${pathTo(at)}members/`
  const page = await call('GET', `${url}?limit=1`, { key: owner.key })
  assert.deepEqual(
    page.data.map(({ uid, role }) => [uid, role]),
    [[owner.uid, 'owner']],
  )
  const next = await call('GET', `${url}?limit=1&cursor=${page.nextCursor}`, { key: owner.key })
  const { etag, ...listed } = next.data[0]
  assert.equal(listed.email, viewer.email)

  const body = { role: 'manager' }
  const headers = { 'if-match': etag }
  const one = `${url}${viewer.uid}/`
  const changed = await call('PATCH', one, { key: owner.key, body, headers })
  assert.equal(changed.data[0].role, 'manager')
  const late = await call('PATCH', one, { key: owner.key, body: { role: 'viewer' }, headers })
  assert.deepEqual(late.refusal, [412, 4120])
  const before = { email: viewer.email, role: 'viewer' }
  const entry = { action: 'member.update', before, after: body }
  assert.deepEqual(await auditOf(`user:${viewer.uid}`), [entry])
})

test('a removed member loses its rights, and its keys for the organization', async () => {
  const { at, owner } = await makeMerchantOf(db)
  const member = await makePerson(db, { organization: at, role: 'owner' })
  const bound = await makeKey(db, member.uid, { boundTo: at })
  const url = `${pathTo(at)}members/`
  assert.equal((await call('GET', url, { key: bound })).status, 200)
  const removed = await call('DELETE', `${url}${member.uid}/`, { key: owner.key })
  assert.deepEqual([removed.status, removed.data], [200, []])
  assert.deepEqual((await call('GET', url, { key: bound })).refusal, [401, 4302])
  assert.deepEqual((await call('GET', url, { key: member.key })).refusal, [403, 4303])
  const again = await call('DELETE', `${url}${member.uid}/`, { key: owner.key })
  assert.deepEqual(again.refusal, [404, 4040])
  const [entry] = await auditOf(`user:${member.uid}`)
  assert.equal(entry?.action, 'member.remove')
})

test('the last owner can neither leave nor take another role', async () => {
  for (const { at, owner } of [await makePublisherOf(db), await makeMerchantOf(db)]) {
    const url = `${pathTo(at)}members/${owner.uid}/`
    const left = await call('DELETE', url, { key: owner.key })
    assert.deepEqual(left.refusal, [409, 4091])
    assert.match(left.error?.message ?? '', /^The last owner cannot leave: /)
    const demoted = await call('PATCH', url, { key: owner.key, body: { role: 'viewer' } })
    assert.deepEqual(demoted.refusal, [409, 4091])
  }
})

test('every member can leave, but end only its own membership', async () => {
  const { at } = await makePublisherOf(db)
  const role = 'viewer'
  const [one, other] = [
    await makePerson(db, { organization: at, role }),
    await makePerson(db, { organization: at, role }),
  ]
  const leave = (uid: number, key: string) =>
    call('DELETE', `${pathTo(at)}members/${uid}/`, { key })
  const refused = await leave(other.uid, one.key)
  assert.deepEqual(refused.refusal, [403, 4305])
  assert.deepEqual(refused.error?.data, { permission: 'members.write' })
  const scoped = await makeKey(db, one.uid, { scopes: ['figures.read'] })
  assert.deepEqual((await leave(one.uid, scoped)).refusal, [403, 4305])
  assert.equal((await leave(one.uid, one.key)).status, 200)
  assert.deepEqual((await leave(one.uid, one.key)).refusal, [403, 4303])
  const [entry] = await auditOf(`user:${one.uid}`)
  assert.equal(entry?.action, 'member.remove')
})

test('a suspended owner does not count as one', async () => {
  const { at, owner } = await makePublisherOf(db)
  const other = await makePerson(db, { organization: at, role: 'owner' })
  await db.run(sql`update app_user set is_suspended = true where uid = ${other.uid}`)
  const left = await call('DELETE', `${pathTo(at)}members/${owner.uid}/`, { key: owner.key })
  assert.deepEqual(left.refusal, [409, 4091])
})

test('of two last admins or owners who leave at once, one stays', async () => {
  const { at, owner } = await makePublisherOf(db)
  const other = await makePerson(db, { organization: at, role: 'owner' })
  const admins = [
    await makePerson(db, { organization: NETWORK, role: 'admin' }),
    await makePerson(db, { organization: NETWORK, role: 'admin' }),
  ]
  for (const [organization, people] of [
    [at, [owner, other]],
    [NETWORK, admins],
  ] as const) {
    const answers = await Promise.all(
      people.map(({ uid, key }) =>
        call('DELETE', `${pathTo(organization)}members/${uid}/`, { key }),
      ),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [200, 409], organization.kind)
  }
})

test('an owner who leaves is replaced in the record of the publisher', async () => {
  const { at, owner } = await makePublisherOf(db)
  const other = await makePerson(db, { organization: at, role: 'owner' })
  const url = `${pathTo(at)}members/${owner.uid}/`
  assert.equal((await call('DELETE', url, { key: other.key })).status, 200)
  const row = await db.row<{ uid: number }>(sql`select uid from publisher where pub_id = ${at.id}`)
  assert.equal(row?.uid, other.uid)
})

test('a wrong role or member is refused by name', async () => {
  const { at, owner } = await makePublisherOf(db)
  const url = `${pathTo(at)}members/`
  const own = `${url}${owner.uid}/`
  for (const role of ['admin', '', 7, null]) {
    const answer = await call('PATCH', own, { key: owner.key, body: { role } })
    assert.deepEqual([answer.status, answer.fields], [400, ['role']], String(role))
    if (typeof role === 'string') assert.match(answer.text, /owner.*manager.*viewer/)
  }
  for (const id of ['0', 'x', '2147483648']) {
    const answer = await call('DELETE', `${url}${id}/`, { key: owner.key })
    assert.deepEqual([answer.status, answer.fields], [400, ['uid']], id)
  }
  const cursor = await call('GET', `${url}?cursor=x`, { key: owner.key })
  assert.deepEqual([cursor.status, cursor.fields], [400, ['cursor']])
})

test('an admin of the network finds no organization that does not exist', async () => {
  const { key } = await makePerson(db, { organization: NETWORK, role: 'admin' })
  const { at } = await makePublisherOf(db)
  assert.equal((await call('GET', `${pathTo(at)}members/`, { key })).status, 200)
  for (const id of ['999999', '99999999999']) {
    const answer = await call('GET', `/api/v1/publishers/${id}/members/`, { key })
    assert.deepEqual(answer.refusal, [403, 4303], id)
  }
})
