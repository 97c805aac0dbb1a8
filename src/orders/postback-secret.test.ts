import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { makeMerchantWorld } from '../../test/support/merchant-roles.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { signBody } from './signed-request.ts'

const clock = { nowMs: Date.now() }
const api = await startApi({ after }, { now: () => clock.nowMs })
const shop = await makeMerchantWorld(api, { name: 'Shop' })

test('a new postback secret is shown once, and the old one works for 24 hours', async () => {
  const { postback_secret: old } = (await api.db.row<{ postback_secret: string }>(
    sql`select postback_secret from merchant where merch_id = ${shop.merchId}`,
  )) as { postback_secret: string }
  const answer = await shop.call('secrets/postback/', { method: 'POST' })
  assert.equal(answer.status, 201, answer.text)
  const { postback_secret: fresh } = answer.entry<{ postback_secret: string }>()
  assert.notEqual(fresh, old)
  const statusOf = async (secret: string) => {
    const timestamp = String(Math.floor(clock.nowMs / 1000))
    const signature = signBody(secret, timestamp, Buffer.alloc(0)).toString('hex')
    const headers = { 'x-souk-timestamp': timestamp, 'x-souk-signature': signature }
    const { status } = await api.call(`/api/v1/merchants/${shop.merchId}/refused/`, { headers })
    return status
  }
  const start = clock.nowMs
  clock.nowMs = start + DAY_MS - HOUR_MS
  assert.deepEqual([await statusOf(fresh), await statusOf(old)], [200, 200])
  clock.nowMs = start + DAY_MS
  assert.deepEqual([await statusOf(fresh), await statusOf(old)], [200, 401])
  const { former_secret_until } = (await shop.call('settings/')).entry()
  assert.equal(former_secret_until, null)
  const log = JSON.stringify(await shop.audit())
  assert.ok(log.includes('secret.renew') && !log.includes(fresh) && !log.includes(old))
})

test('every replaced secret keeps its 24 hours, and there are at most five of them', async () => {
  const renew = () => shop.call('secrets/postback/', { method: 'POST' })
  const statuses: number[] = []
  for (let count = 0; count < 6; count += 1) statuses.push((await renew()).status)
  assert.deepEqual(statuses, [201, 201, 201, 201, 201, 409])
  const refused = await renew()
  assert.equal(refused.failure().code, 4091)
  clock.nowMs += DAY_MS
  assert.equal((await renew()).status, 201)
})
