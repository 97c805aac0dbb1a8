import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { startServer } from '../../test/support/local-server.ts'
import { makePublisherOf, pathTo, serveOperations } from '../../test/support/management.ts'
import { sql } from '../platform/postgres/sql.ts'
import { deliverReports } from './deliver-reports.ts'
import { deliveryOperations } from './delivery-operations.ts'
import { upsertReportDelivery } from './delivery-store.ts'

const db = await testDatabase({ after })
const api = await serveOperations(db, deliveryOperations)

async function makeOwner() {
  const { at, owner } = await makePublisherOf(db)
  const path = `${pathTo(at)}report_deliveries/`
  const { key } = owner
  return {
    pubId: at.id ?? 0,
    key,
    list: () => api.call('GET', path, { key }),
    create: (body: object) => api.call('POST', path, { key, body: { ...KEYS, ...body } }),
    change: (id: number, body: object) => api.call('PATCH', `${path}${id}/`, { key, body }),
    run: (id: number) => api.call('POST', `${path}${id}/run/`, { key }),
    remove: (id: number) => api.call('DELETE', `${path}${id}/`, { key }),
  }
}

const KEYS = { access_key: 'AKID-of-daily', secret_key: 'a-secret-of-daily' }

test('a publisher sets up storage, and no answer or audit entry has its keys', async () => {
  const { create, list, change, remove } = await makeOwner()
  const made = await create({ target: 's3://reports/souk/', region: 'eu-west-1' })
  assert.equal(made.status, 201)
  const [{ delivery_id: id, target, set_by, is_requested }] = made.data
  assert.deepEqual([target, set_by, is_requested], ['s3://reports/souk', 'publisher', true])
  const changed = await change(id, { is_gzip: true })
  assert.equal(changed.data[0].is_gzip, true)
  const listed = await list()
  assert.equal(listed.data.length, 1)
  assert.equal((await remove(id)).status, 200)
  assert.deepEqual((await list()).data, [])
  const entries = await db.rows(sql`select * from audit_entry`)
  for (const text of [made.text, changed.text, listed.text, JSON.stringify(entries)]) {
    for (const secret of Object.values(KEYS)) assert.ok(!text.includes(secret), text)
  }
  assert.equal(entries.length, 3)
})

test('a publisher names no folder of the service, and no storage that leads elsewhere', async () => {
  const { create } = await makeOwner()
  const faults = async (body: object) => (await create(body)).fields
  assert.deepEqual(await faults({ target: '/etc' }), ['target'])
  assert.deepEqual(await faults({ target: 's3://bucket/../other' }), ['target'])
  const target = 's3://bucket'
  assert.deepEqual(await faults({ target, endpoint: 'file:///etc' }), ['endpoint'])
  assert.deepEqual(await faults({ target, region: 'x.evil.example/#' }), ['region'])
  assert.deepEqual(await faults({ target, secret_key: null }), ['secret_key'])
})

test('another endpoint needs both keys again', async () => {
  const { create, change } = await makeOwner()
  const { data } = await create({ target: 's3://bucket', endpoint: 'https://a.example' })
  const id = data[0].delivery_id
  const moved = { endpoint: 'https://b.example' }
  assert.deepEqual((await change(id, moved)).fields, ['access_key', 'secret_key'])
  assert.equal((await change(id, { ...moved, ...KEYS })).status, 200)
})

test('storage that a publisher set is not reached in the operator’s network', async (t) => {
  const { create, list, pubId } = await makeOwner()
  let requests = 0
  const { url: endpoint } = await startServer(t, (_request, response) => {
    requests += 1
    response.end()
  })
  await create({ target: 's3://bucket', endpoint })
  const run = () => deliverReports(db, new Date(), { onlyRequested: true })
  await run()
  const [delivery] = (await list()).data
  assert.equal(delivery.error, 'the storage has no public address')
  assert.deepEqual([delivery.is_requested, requests], [false, 0])
  assert.equal(delivery.datetime_delivered, null)
  assert.deepEqual(await run(), [], 'once for each request')

  const byOperator = { target: 's3://inside', endpoint, region: null, ...KEYS }
  await upsertReportDelivery(db, {
    pub_id: pubId,
    is_gzip: false,
    is_guarded: false,
    ...byOperator,
  })
  await deliverReports(db, new Date())
  assert.ok(requests > 0, 'the operator’s own storage is')
})

test('a publisher runs a delivery of the operator, but changes and ends only its own', async () => {
  const { create, change, run, remove, pubId, list } = await makeOwner()
  const target = 's3://of-operator'
  const storage = { pub_id: pubId, target, endpoint: null, region: null, ...KEYS }
  const id = await upsertReportDelivery(db, { ...storage, is_gzip: false, is_guarded: false })
  assert.deepEqual((await change(id, { is_gzip: true })).refusal, [409, 4091])
  assert.deepEqual((await remove(id)).refusal, [409, 4091])
  assert.deepEqual((await create({ target })).refusal, [409, 4091])
  assert.equal((await run(id)).status, 202)
  assert.equal((await list()).data[0].set_by, 'operator')
  const other = await makeOwner()
  assert.equal((await other.run(id)).status, 404)
})

test('a publisher has at most five deliveries', async () => {
  const { create } = await makeOwner()
  for (let at = 1; at <= 5; at += 1) {
    assert.equal((await create({ target: `s3://bucket-${at}` })).status, 201)
  }
  assert.deepEqual((await create({ target: 's3://bucket-6' })).refusal, [409, 4091])
})
