/** The record of the API key in use. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiKey } from '../../src/accounts/create-account.ts'
import { startApi } from '../support/api.ts'

const PATH = '/api/v1/tokeninfo/'
const START_MS = Date.parse('2026-03-02T10:00:00Z')

const clock = { nowMs: START_MS }
const api = await startApi({ after }, { now: () => clock.nowMs })

test("a key's record has every documented field with its type, and never the key", async () => {
  const ann = await api.account()
  const answer = await api.call(PATH, { key: ann.key })
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json<{ info: unknown }>().info, { error: false, status: 200 })
  assert.equal(answer.json<{ data: unknown[] }>().data.length, 1)
  const record = answer.entry()
  const created = record.datetime_created
  assert.match(String(created), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.deepEqual(record, {
    token_id: ann.tokenId,
    uid: ann.uid,
    description: record.description,
    datetime_created: created,
    datetime_updated: created,
    datetime_active: created,
    datetime_expires: null,
    datetime_last_used: null,
    is_enabled_by_user: true,
    scopes: null,
    organization: null,
  })
  assert.equal(typeof record.description, 'string')
  assert.ok(!answer.text.includes('souk_'))

  const expiresAt = new Date('2026-03-02T11:00:00.900Z')
  const wanted = { uid: ann.uid, description: 'an hour', expiresAt, now: new Date(START_MS) }
  const { key } = await createApiKey(api.db, wanted)
  const { datetime_expires, description } = (await api.call(PATH, { key })).entry()
  assert.deepEqual([datetime_expires, description], ['2026-03-02T11:00:00Z', 'an hour'])
})

test('datetime_last_used is the use before this call, of any endpoint', async () => {
  const { key } = await api.account()
  const lastUsed = async (method = 'GET') => {
    const answer = await api.call(PATH, { key, method })
    return method === 'HEAD' ? answer.text : answer.entry().datetime_last_used
  }
  const at = (seconds: number) => {
    clock.nowMs = START_MS + seconds * 1000
  }
  at(0)
  assert.equal(await lastUsed('HEAD'), '', 'HEAD answers no body and records no use')
  assert.equal(await lastUsed(), null)
  at(5)
  assert.equal(await lastUsed(), '2026-03-02T10:00:00Z')
  at(9)
  await api.call('/api/v1/smart_links/', { key, body: {} })
  at(70)
  assert.equal(await lastUsed(), '2026-03-02T10:00:09Z')
  at(71)
  assert.equal(await lastUsed(), '2026-03-02T10:01:10Z')
})

test('the path works without its slash and with an empty query, and parameters are ignored', async () => {
  const { key } = await api.account()
  for (const path of ['/api/v1/tokeninfo', `${PATH}?`, `${PATH}?&&a=1&`, `${PATH}?x=1&x=2`]) {
    const answer = await api.call(path, { key })
    assert.equal(answer.status, 200, path)
    assert.equal(answer.headers.get('location'), null)
  }
  const head = await api.call(PATH, { key, method: 'HEAD' })
  assert.deepEqual([head.status, head.text], [200, ''])
})
