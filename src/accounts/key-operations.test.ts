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
import { keyOperations } from './key-operations.ts'
import { memberOperations } from './member-operations.ts'
import { setMembership } from './membership-store.ts'
import { NETWORK, type Organization } from './permission.ts'
import { KEYS_PER_USER_MAX } from './store.ts'

const db = await testDatabase()
const { call } = await serveOperations(db, [...keyOperations(), ...memberOperations()])

const create = (key: string, at: Organization, body: object = {}) =>
  call('POST', `${pathTo(at)}keys/`, { key, body: { description: 'Nightly report', ...body } })

test('a key has its scopes in its organization, and is shown once', async () => {
  for (const { at, owner } of [await makePublisherOf(db), await makeMerchantOf(db)]) {
    const made = await create(owner.key, at, { scopes: ['members.write'] })
    assert.equal(made.status, 201, made.text)
    const { key, ...record } = made.data[0]
    assert.deepEqual(
      [record.organization, record.scopes, record.email],
      [at, ['members.write'], owner.email],
    )
    const asKey = await call('GET', `${pathTo(at)}members/`, { key })
    assert.equal(asKey.status, 200)
    const beyond = await call('GET', `${pathTo(at)}keys/`, { key })
    assert.deepEqual(beyond.refusal, [403, 4305])
    assert.deepEqual(beyond.error?.data, { permission: 'keys.write' })
    const elsewhere = (await makePublisherOf(db)).at
    await setMembership(db, { uid: owner.uid, organization: elsewhere, role: 'owner' })
    const foreign = await call('GET', `${pathTo(elsewhere)}members/`, { key })
    assert.deepEqual(foreign.refusal, [403, 4303], 'bound to the other organization')
    const listed = await call('GET', `${pathTo(at)}keys/`, { key: owner.key })
    assert.equal(JSON.stringify(listed.data).includes(key), false)
    const [entry] = await db.rows<{ action: string; after: object }>(sql`
      select action, after from audit_entry where target = ${`key:${record.token_id}`}`)
    assert.equal(entry?.action, 'key.create')
    assert.equal(JSON.stringify(entry).includes(key), false)
  }
})

test('nobody makes a key with more rights than their own', async () => {
  const { at, owner } = await makePublisherOf(db)
  const manager = await makePerson(db, { organization: at, role: 'manager' })
  const beyond = await create(manager.key, at, { scopes: ['figures.read', 'members.write'] })
  assert.deepEqual([beyond.status, beyond.fields], [400, ['scopes[1]']])

  const scoped = await makeKey(db, owner.uid, { scopes: ['keys.write'] })
  assert.deepEqual((await create(scoped, at)).refusal, [403, 4305], 'without scopes')
  const wider = await create(scoped, at, { scopes: ['links.write'] })
  assert.deepEqual([wider.status, wider.fields], [400, ['scopes[0]']])
  assert.equal((await create(scoped, at, { scopes: ['keys.write'] })).status, 201)

  const bound = await makeKey(db, owner.uid, { boundTo: at })
  const account = await create(bound, at, { is_for_account: true })
  assert.deepEqual(account.refusal, [403, 4303])

  const made = await create(owner.key, at, { scopes: ['figures.read'] })
  const url = `${pathTo(at)}keys/${made.data[0].token_id}/`
  const widened = await call('PATCH', url, { key: scoped, body: { scopes: null } })
  assert.deepEqual(widened.refusal, [403, 4305])
  const changed = await call('PATCH', url, { key: scoped, body: { scopes: ['links.write'] } })
  assert.deepEqual([changed.status, changed.fields], [400, ['scopes[0]']])
})

test('an owner sees the keys of all members, a manager their own', async () => {
  const { at, owner } = await makePublisherOf(db)
  const manager = await makePerson(db, { organization: at, role: 'manager' })
  const viewer = await makePerson(db, { organization: at, role: 'viewer' })
  await create(manager.key, at, { description: 'of the manager' })
  await create(owner.key, at, { description: 'of the owner' })
  await create(owner.key, at, { description: 'everywhere', is_for_account: true })
  const seenBy = async (key: string) =>
    (await call('GET', `${pathTo(at)}keys/`, { key })).data.map(({ description }) => description)
  const seen = ['everywhere', 'of the owner', 'of the manager']
  assert.deepEqual(await seenBy(owner.key), [...seen, 'test'])
  assert.deepEqual(await seenBy(manager.key), ['of the manager', 'test'])
  const refused = await call('GET', `${pathTo(at)}keys/`, { key: viewer.key })
  assert.deepEqual(refused.refusal, [403, 4305])
  const [everywhere] = (await call('GET', `${pathTo(at)}keys/`, { key: owner.key })).data
  const foreign = `${pathTo(at)}keys/${everywhere.token_id}/`
  assert.equal((await call('DELETE', foreign, { key: manager.key })).status, 404)
})

test('a key is changed and disabled for good', async () => {
  const { at, owner } = await makePublisherOf(db)
  const { token_id: id, key } = (await create(owner.key, at)).data[0]
  const url = `${pathTo(at)}keys/${id}/`
  const [listed] = (await call('GET', `${pathTo(at)}keys/`, { key: owner.key })).data
  const body = { description: 'Hourly', scopes: ['keys.write'], datetime_expires: '2099-01-01' }
  const headers = { 'if-match': listed.etag }
  const changed = await call('PATCH', url, { key: owner.key, body, headers })
  assert.deepEqual(
    [changed.data[0].description, changed.data[0].scopes, changed.data[0].datetime_expires],
    ['Hourly', ['keys.write'], '2099-01-01T00:00:00Z'],
    changed.text,
  )
  const late = await call('PATCH', url, { key: owner.key, body, headers })
  assert.deepEqual(late.refusal, [412, 4120])
  const cleared = await call('PATCH', url, { key: owner.key, body: { datetime_expires: null } })
  assert.deepEqual(
    [cleared.data[0].description, cleared.data[0].datetime_expires],
    ['Hourly', null],
  )
  assert.equal((await call('GET', `${pathTo(at)}keys/`, { key })).status, 200)
  const disabled = await call('DELETE', url, { key: owner.key })
  assert.equal(disabled.data[0].is_enabled_by_user, false)
  assert.deepEqual((await call('GET', `${pathTo(at)}keys/`, { key })).refusal, [401, 4302])
  const after = await call('PATCH', url, { key: owner.key, body })
  assert.deepEqual(after.refusal, [409, 4091])
  const actions = await db.rows<{ action: string }>(sql`
    select action from audit_entry where target = ${`key:${id}`} order by audit_id`)
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['key.create', 'key.update', 'key.update', 'key.disable'],
  )
})

test('a key is disabled by a change too', async () => {
  const { at, owner } = await makePublisherOf(db)
  const { token_id: id, key } = (await create(owner.key, at)).data[0]
  const url = `${pathTo(at)}keys/${id}/`
  const enabled = await call('PATCH', url, { key: owner.key, body: { is_enabled_by_user: true } })
  assert.equal(enabled.data[0].is_enabled_by_user, true)
  const body = { description: 'Leaked', is_enabled_by_user: false }
  const disabled = await call('PATCH', url, { key: owner.key, body })
  const { description, is_enabled_by_user: isEnabled } = disabled.data[0]
  assert.deepEqual([description, isEnabled], ['Leaked', false])
  assert.deepEqual((await call('GET', `${pathTo(at)}keys/`, { key })).refusal, [401, 4302])
})

test('wrong fields are refused by name', async () => {
  const { at, owner } = await makePublisherOf(db)
  for (const [body, ...fields] of [
    [{ description: '' }, 'description'],
    [{ description: ' ' }, 'description'],
    [{ description: 'a'.repeat(256) }, 'description'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['everything'] }, 'scopes[0]'],
    [{ scopes: ['network.write'] }, 'scopes[0]'],
    [{ scopes: 'figures.read' }, 'scopes'],
    [{ datetime_expires: 'tomorrow' }, 'datetime_expires'],
    [{ datetime_expires: '2020-01-01T00:00:00Z' }, 'datetime_expires'],
    [{ is_for_account: 'yes' }, 'is_for_account'],
  ] as const) {
    const answer = await create(owner.key, at, body)
    assert.deepEqual([answer.status, answer.fields], [400, fields], JSON.stringify(body))
  }
})

test('a user has at most so many keys that work', async () => {
  const admin = await makePerson(db, { organization: NETWORK, role: 'admin' })
  const made = await create(admin.key, NETWORK)
  assert.deepEqual(made.data[0].organization, NETWORK)
  await db.run(sql`
    insert into api_key (uid, description, key_hash)
    select ${admin.uid}, 'one of many', sha256(random()::text::bytea)
    from generate_series(3, ${KEYS_PER_USER_MAX})`)
  const beyond = await create(admin.key, NETWORK)
  assert.deepEqual([beyond.status, beyond.fields], [400, ['user']])
})
