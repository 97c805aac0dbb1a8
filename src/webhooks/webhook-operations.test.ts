/** Webhooks over the API: who may create, see and delete them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { startQuietHttp } from '../../test/support/quiet-http.ts'
import { operationRoutes } from '../accounts/operation-routes.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { webhookOperations } from './webhook-operations.ts'
import { listWebhooks } from './webhook-store.ts'

interface Answer {
  readonly status: number
  readonly json: ReturnType<typeof JSON.parse>
}

async function startApi(t: TestContext) {
  const db = await testDatabase(t)
  const world = await makePublisherWorld(db)
  const http = await startQuietHttp(t)
  const keys = makeKeyGuard({
    db,
    brandWords: ['service'],
    limits: null,
    baseUrl: 'http://127.0.0.1',
    now: () => new Date(),
  })
  const deps = { db, keys, now: () => new Date() }
  await http.register(operationRoutes(deps, webhookOperations()))
  const caller =
    (owner: string, headers = world.headers) =>
    async (method: 'GET' | 'POST' | 'DELETE', path: string, payload?: object) => {
      const answer = await http.inject({
        method,
        url: `/api/v1/${owner}/${path}`,
        headers,
        ...(payload === undefined ? {} : { payload }),
      })
      return { status: answer.statusCode, json: answer.json() }
    }
  return {
    ...world,
    db,
    url: 'https://hooks.example/hook?x=1',
    pubId: world.publisher.pub_id,
    caller,
  }
}

test('publishers and merchants create, list and delete webhooks with their key, and see the secret once', async (t) => {
  const s = await startApi(t)
  const { uid } = s.publisher
  await updateMerchant(s.db, { merchId: s.merchant.merch_id, changes: { uid } })
  for (const owner of [`publishers/${s.pubId}`, `merchants/${s.merchant.merch_id}`]) {
    await assertWebhooks(s, s.caller(owner))
  }
})

test("only the key of a merchant's user can use its webhooks", async (t) => {
  const s = await startApi(t)
  const { uid } = s.publisher
  const other = await makePublisherWorld(s.db, 'other')
  const theirs = s.caller(`merchants/${other.merchant.merch_id}/webhooks`)
  assert.equal((await theirs('GET', '')).status, 403, 'nobody’s')
  const merchId = other.merchant.merch_id
  await updateMerchant(s.db, { merchId, changes: { uid: other.publisher.uid } })
  assert.equal((await theirs('GET', '')).status, 403, 'another’s')
  await updateMerchant(s.db, { merchId, changes: { uid } })
  assert.equal((await theirs('GET', '')).status, 200)
  assert.equal((await s.caller('merchants/999999/webhooks')('GET', '')).status, 403)
  const nobody = { authorization: 'SERVICE-API-KEY wrong' }
  assert.equal((await s.caller('merchants/1/webhooks', nobody)('GET', '')).status, 401)
  const made = await theirs('POST', '', { url: s.url, events: ['order.locked'] })
  const { webhook_id } = made.json.data[0]
  const own = s.caller(`publishers/${s.pubId}/webhooks`)
  assert.equal((await own('DELETE', `${webhook_id}/`)).status, 404, 'not a publisher’s')
})

test("the path decides a webhook's owner, whatever the body says", async (t) => {
  const s = await startApi(t)
  const other = await makePublisherWorld(s.db, 'other')
  const own = s.caller(`publishers/${s.pubId}/webhooks`)
  const others = [{ pubId: other.publisher.pub_id }, { merchId: other.merchant.merch_id }]
  for (const owner of others) {
    const made = await own('POST', '', { url: s.url, events: ['order.attributed'], owner })
    assert.equal(made.status, 201)
    assert.deepEqual(await listWebhooks(s.db, owner), [])
  }
  assert.equal((await listWebhooks(s.db, { pubId: s.pubId })).length, 2)
})

test('each change is in the audit log, without secrets', async (t) => {
  const s = await startApi(t)
  const own = s.caller(`publishers/${s.pubId}/webhooks`)
  const made = await own('POST', '', { url: s.url, events: ['order.locked'] })
  const { webhook_id, secret } = made.json.data[0]
  await own('POST', `${webhook_id}/enable/`)
  await own('DELETE', `${webhook_id}/`)
  const entries = await s.db.rows<{ action: string; target: string; pub_id: number }>(sql`
    select action, target, pub_id, before, after from audit_entry order by audit_id`)
  const of = { target: `webhook:${webhook_id}`, pub_id: s.pubId }
  const shown = { host: 'hooks.example', events: ['order.locked'] }
  assert.deepEqual(entries, [
    { ...of, action: 'webhook.create', before: null, after: shown },
    { ...of, action: 'webhook.enable', before: { state: 'active' }, after: { state: 'active' } },
    { ...of, action: 'webhook.delete', before: shown, after: null },
  ])
  assert.ok(!JSON.stringify(entries).includes(secret))
})

test('a test event is queued for that webhook alone, and none while it is disabled', async (t) => {
  const s = await startApi(t)
  const own = s.caller(`publishers/${s.pubId}/webhooks`)
  const [first, second] = [
    await own('POST', '', { url: s.url, events: ['order.locked'] }),
    await own('POST', '', { url: s.url, events: ['order.locked'] }),
  ].map(({ json }) => json.data[0].webhook_id)
  const sent = await own('POST', `${first}/test/`)
  assert.equal(sent.status, 202)
  assert.equal(sent.json.data[0].event, 'webhook.test')
  assert.equal((await own('GET', `${first}/deliveries/`)).json.data.length, 1)
  assert.equal((await own('GET', `${second}/deliveries/`)).json.data.length, 0)
  const off = await own('POST', `${first}/disable/`)
  assert.equal(off.json.data[0].state, 'disabled')
  assert.equal((await own('POST', `${first}/test/`)).status, 409)
  await own('POST', `${first}/enable/`)
  assert.equal((await own('POST', `${first}/test/`)).status, 202)
})

test('webhooks are listed by pages', async (t) => {
  const s = await startApi(t)
  const own = s.caller(`publishers/${s.pubId}/webhooks`)
  for (const _ of [1, 2]) await own('POST', '', { url: s.url, events: ['order.locked'] })
  const { json: first } = await own('GET', '?limit=1')
  const { json: last } = await own('GET', `?limit=1&cursor=${first.next_cursor}`)
  assert.ok(last.data[0].webhook_id > first.data[0].webhook_id)
  assert.equal(last.next_cursor, null)
})

test('deliveries of an unknown or foreign webhook are a 404', async (t) => {
  const s = await startApi(t)
  const merchId = s.merchant.merch_id
  await updateMerchant(s.db, { merchId, changes: { uid: s.publisher.uid } })
  const own = s.caller(`publishers/${s.pubId}/webhooks`)
  const theirs = s.caller(`merchants/${merchId}/webhooks`)
  const made = await own('POST', '', { url: s.url, events: ['order.locked'] })
  const { webhook_id } = made.json.data[0]
  const deliveries = `${webhook_id}/deliveries/`
  assert.equal((await own('GET', deliveries)).status, 200)
  assert.equal((await theirs('GET', deliveries)).status, 404)
  await own('DELETE', `${webhook_id}/`)
  assert.equal((await own('GET', deliveries)).status, 404)
})

test('a merchant that requests a publisher-only notification gets an error', async (t) => {
  const s = await startApi(t)
  const merchId = s.merchant.merch_id
  await updateMerchant(s.db, { merchId, changes: { uid: s.publisher.uid } })
  const events = ['order.locked', 'payout.ready', 'key.used_from_new_place']
  const ask = (owner: string, events: readonly string[]) =>
    s.caller(owner)('POST', 'webhooks/', { url: s.url, events })
  const refused = await ask(`merchants/${merchId}`, events)
  assert.equal(refused.status, 400)
  assert.deepEqual(refused.json.error.data, [
    {
      field: 'events',
      rule: 'payout.ready goes to publishers only: merchants are paid nothing',
    },
  ])
  assert.equal((await ask(`publishers/${s.pubId}`, events)).status, 201)
  const others = events.filter((event) => event !== 'payout.ready')
  assert.equal((await ask(`merchants/${merchId}`, others)).status, 201)
})

async function assertWebhooks(
  s: { readonly url: string },
  send: (method: 'GET' | 'POST' | 'DELETE', path: string, payload?: object) => Promise<Answer>,
): Promise<void> {
  const call: typeof send = (method, path, payload) => send(method, `webhooks/${path}`, payload)
  const made = await call('POST', '', { url: s.url, events: ['order.locked'] })
  assert.equal(made.status, 201)
  const { secret, webhook_id } = made.json.data[0]
  assert.ok(secret.length > 40)
  const listed = await call('GET', '')
  assert.deepEqual(listed.json.data[0].events, ['order.locked'])
  assert.ok(!JSON.stringify(listed.json).includes(secret))
  for (const wrong of [
    { url: 'ftp://x.example/', events: ['order.locked'] },
    { url: 'https://user:pass@x.example/', events: ['order.locked'] },
    { url: s.url, events: ['order.eaten'] },
    { url: s.url, events: [] },
    { url: s.url },
  ]) {
    assert.equal((await call('POST', '', wrong)).status, 400, JSON.stringify(wrong))
  }
  assert.equal((await call('GET', `${webhook_id}/deliveries/`)).status, 200)
  assert.equal((await call('POST', `${webhook_id}/enable/`)).status, 200)
  assert.equal((await call('DELETE', `${webhook_id}/`)).status, 200)
  assert.equal((await call('DELETE', `${webhook_id}/`)).status, 404)
  assert.equal((await send('POST', 'webhook_deliveries/1/replay/')).status, 404)
}
