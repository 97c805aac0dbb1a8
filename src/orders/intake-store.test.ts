import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startIntakeApp } from '../../test/support/intake-app.ts'
import { sql } from '../platform/postgres/sql.ts'
import { signBody } from './signed-request.ts'

test('unsigned reports in a merchant’s name use none of the quota of its signed ones', async (t) => {
  const app = await startIntakeApp(t)
  const { merch_id: merchId, postback_secret: secret } = app.merchant
  const at = new Date(app.clock.nowMs)
  // The whole daily quota of unsigned reports.
  const strangers = () =>
    app.db.run(sql`
      insert into stored_bytes (day, kind, organization_id, bytes, left_out)
      values (${at}, 'refused_orders', ${merchId}, ${8 * 1_048_576}, 0)`)
  const wrong = { orders: [{ order: { id: 'o1', value: '5.00', currency: 'XYZ' } }] }

  await strangers()
  assert.equal((await app.post('orders', wrong, { secret: 'another secret' })).status, 401)
  assert.equal((await app.post('orders', wrong)).status, 400)

  const timestamp = String(app.clock.nowMs / 1000)
  const answer = await app.http.inject({
    url: `/api/v1/merchants/${merchId}/refused/`,
    headers: {
      'x-souk-timestamp': timestamp,
      'x-souk-signature': signBody(secret, timestamp, Buffer.alloc(0)).toString('hex'),
    },
  })
  const shown = answer.json<{ data: { endpoint: string; body: string }[] }>().data
  assert.deepEqual(
    shown.filter(({ endpoint }) => endpoint === 'orders').map(({ body }) => body),
    [JSON.stringify(wrong)],
  )
})
