import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { makeMerchantWorld } from '../../test/support/merchant-roles.ts'
import { sql } from '../platform/postgres/sql.ts'

const api = await startApi({ after })
const shop = await makeMerchantWorld(api, { name: 'Shop' })

const readHours = async () => {
  const answer = await shop.call('traffic_curve/')
  assert.equal(answer.status, 200, answer.text)
  return answer.entry<{ hours: number[] }>().hours
}

test('the curve is flat without traffic, and follows the clicks of all publishers', async () => {
  const flat = await readHours()
  assert.equal(flat.length, 24)
  assert.ok(flat.every((part) => Math.abs(part - 1 / 24) < 1e-9))
  const { pubId } = await api.account()
  await api.db.run(sql`
    insert into traffic_hour (pub_id, hour_of_week, clicks)
    select ${pubId}, day * 24 + 20, 1000 from generate_series(0, 6) as day`)
  const hours = await readHours()
  assert.ok(Math.abs(hours.reduce((sum, part) => sum + part, 0) - 1) < 1e-9)
  assert.ok((hours[20] ?? 0) > 0.8, `20:00 has ${hours[20]}`)
})
