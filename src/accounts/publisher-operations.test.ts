import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { sql } from '../platform/postgres/sql.ts'

const api = await startApi({ after })
const { pubId, key } = await api.account({ share_ppm: 600_000 })
const path = `/api/v1/publishers/${pubId}/settings/`
const patch = (body: object, headers = {}) =>
  api.call(path, { method: 'PATCH', key, body, headers })

test('changes settings of a publisher and records both states in the audit log', async () => {
  const changes = {
    ...{ name: 'The Daily', domain: ['Daily.example'], floor: '0.05', tolerance: 0.1, beta: 2 },
    ...{ category_floor: ['222:GB=0.08'], epsilon: 0.02, linkmate_scope: 'network' },
    ...{ consent_default: 'contextual', time_zone: 'Asia/Kolkata', require_price: true },
  }
  const answer = await patch(changes)
  assert.equal(answer.status, 200)
  const after = answer.entry()
  for (const [name, value] of Object.entries({ ...changes, domain: ['daily.example'] })) {
    assert.deepEqual(after[name], value, name)
  }
  const entry = await api.db.row<Record<string, Record<string, unknown>>>(sql`
    select before, after from audit_entry where action = 'publisher.update'
      and pub_id = ${pubId} order by audit_id desc limit 1`)
  assert.equal(entry?.before?.time_zone, 'UTC')
  assert.equal(entry?.after?.time_zone, 'Asia/Kolkata')
})

test('null sets a setting to its default', async () => {
  const { floor, time_zone } = (await patch({ floor: null, time_zone: null })).entry()
  assert.deepEqual([floor, time_zone], ['0.00', 'UTC'])
})

test('every wrong value names its field, and nothing is changed', async () => {
  const wrong: Record<string, unknown> = {
    ...{ name: ' ', floor: 'a lot', category_floor: ['x'], tolerance: 0.3, beta: -1 },
    ...{ epsilon: 0.5, linkmate_scope: 'none', consent_default: 'yes', time_zone: 'Mars/Base' },
    ...{ allow_merchant: [999_999], domain: ['com'], allow_host: ['a b'], require_price: 1 },
    ...{ share: 0.9, partner: true, slug: 'other', uid: 999 },
  }
  const before = (await api.call(path, { key })).text
  for (const [field, value] of Object.entries(wrong)) {
    const answer = await patch({ beta: 3, [field]: value })
    assert.equal(answer.status, 400, field)
    assert.deepEqual(
      answer.failure().fields.map((name) => name.replace(/\[.*/, '')),
      [field],
      answer.text,
    )
  }
  assert.equal((await api.call(path, { key })).text, before)
})

test('a record can be sent back as it was read', async () => {
  const record = (await api.call(path, { key })).entry()
  assert.equal((await patch(record)).status, 200)
})

test('the second of two people who change the settings gets 412', async () => {
  const etag = String((await api.call(path, { key })).headers.get('etag'))
  assert.equal((await patch({ beta: 1.5 }, { 'if-match': etag })).status, 200)
  assert.equal((await patch({ beta: 2.5 }, { 'if-match': etag })).status, 412)
})
