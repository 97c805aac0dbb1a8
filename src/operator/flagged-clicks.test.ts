import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { createApiKey, createUser } from '../accounts/create-account.ts'
import { REASON } from '../events/reason.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'

const api = await startApi({ after }, { hasPages: false })
const { pubId } = await api.account()
const { uid } = await createUser(api.db, {
  ...{ email: 'operator@souk.example', password: 'a long password', isAdmin: true },
})
const { key } = await createApiKey(api.db, {
  ...{ uid, description: 'operator', expiresAt: null, now: new Date() },
})

let clicks = 0
/** Stores clicks as the fold does; paid if their reason is 0. */
async function addClicks(
  address: string,
  { reason, count, at = new Date() }: { reason: number; count: number; at?: Date },
) {
  for (let left = count; left > 0; left -= 1) {
    clicks += 1
    const [id, paid] = [Buffer.alloc(16, clicks), reason === REASON.ok ? 200_000 : 0]
    await api.db.run(sql`
      insert into click (event_id, click_id, result_number, day, at, pub_id, article_id, auction_id,
        merch_id, model, terms_amount, share_ppm, merchant_cost_micros,
        publisher_earnings_micros, reason, is_reserved, address_key, agent_key)
      values (${clicks}, ${id}, ${id}, ${utcDay(at.getTime())}, ${at}, ${pubId}, 1, 1, 1, 1,
        ${paid}, 750000, ${paid}, ${paid * 0.75}, ${reason}, true, ${Buffer.from(address)},
        ${Buffer.from(address)})`)
  }
}

test('paid clicks are flagged if their address made as many invalid ones, and at least five', async () => {
  await addClicks('scanner', { reason: REASON.ok, count: 3 })
  await addClicks('scanner', { reason: REASON.scanner, count: 4 })
  await addClicks('scanner', { reason: REASON.tooFast, count: 1 })
  await addClicks('an office', { reason: REASON.ok, count: 8 })
  await addClicks('an office', { reason: REASON.duplicateVisitor, count: 7 })
  await addClicks('a reader', { reason: REASON.ok, count: 1 })
  await addClicks('a reader', { reason: REASON.duplicateVisitor, count: 4 })
  await addClicks('a preview', { reason: REASON.ok, count: 1 })
  await addClicks('a preview', { reason: REASON.prefetch, count: 9 })
  const at = new Date(Date.now() - 8 * DAY_MS)
  await addClicks('long ago', { reason: REASON.ok, count: 1, at })
  await addClicks('long ago', { reason: REASON.scanner, count: 9, at })
  const answer = await api.call('/api/v1/network/flagged_clicks/', { key })
  assert.equal(answer.status, 200, answer.text)
  const { data } = answer.json<{ data: Record<string, unknown>[] }>()
  assert.deepEqual(
    data.map((one) => [one.pub_id, one.invalid_clicks, one.cost_usd, one.earnings_usd, one.why]),
    [
      [
        ...[pubId, 5, '0.60', '0.45'],
        'More than 3 clicks within 10 seconds from one address and browser without our cookie.',
      ],
    ],
  )
  assert.equal(Object(data[0]?.clicks).length, 3)
})
