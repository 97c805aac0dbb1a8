import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../../test/support/api.ts'
import {
  follow,
  KETTLE,
  makeMarket,
  runAuction,
  statsOf,
  until,
} from '../../test/support/market.ts'
import { createApiKey, createUser } from '../accounts/create-account.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { CLICK_AGE_MIN_MS } from '../redirect/click.ts'

const api = await startApi({ after })
const market = await makeMarket(api)
await market.campaign(market.kettles)
const PATH = '/api/v1/reversals/'
const { uid } = await createUser(api.db, {
  email: 'operator@souk.example',
  password: 'a long password',
  isAdmin: true,
})
const { key } = await createApiKey(api.db, {
  uid,
  description: 'operator',
  expiresAt: null,
  now: new Date(),
})

/** Creates a paid click and returns its id. */
async function paidClick(): Promise<string> {
  const { auction_result } = await runAuction(api, await market.link(KETTLE))
  await sleep(CLICK_AGE_MIN_MS + 20)
  const { location } = await follow(api, auction_result.redirect_url)
  await api.app.untilFolded()
  return new URL(location).searchParams.get('cid') ?? ''
}

/** Clicks and earnings of each row. A row stays when its click is reversed. */
const figures = async () =>
  (await statsOf(api, market)).map(({ clicks, pub_earnings }) => [clicks, pub_earnings])

const reverse = (body: object, sent = key) => api.call(PATH, { key: sent, body })

test('an operator reverses a click once, with a reason, and its entry and figures show it', async () => {
  const click = await paidClick()
  const answer = await reverse({ click, reason: 'bought traffic' })
  assert.equal(answer.status, 201, answer.text)
  const { clicks, entries } = answer.entry<{
    clicks: string[]
    entries: { kind: string; corrects: string; lines: { account: string; amount_usd: string }[] }[]
  }>()
  assert.deepEqual(clicks, [click])
  assert.equal(entries.length, 1)
  assert.equal(entries[0]?.kind, 'reversal')
  assert.match(entries[0]?.corrects ?? '', new RegExp(click))
  const amounts = entries[0]?.lines.map(({ account, amount_usd }) => [account, amount_usd])
  assert.deepEqual(amounts, [
    ['merchant', '0.01'],
    ['publisher', '-0.0075'],
    ['platform', '-0.0025'],
  ])
  assert.deepEqual(await figures(), [[0, '0.00']])

  const again = await reverse({ click, reason: 'bought traffic' })
  assert.deepEqual(again.failure().fields, ['click'])
  assert.match(again.failure().message, /reversed before/)
})

test('a publisher can read why its click was reversed, by the click’s id', async () => {
  const click = await paidClick()
  const read = async (sent: string, id = click) =>
    api.call(`/api/v1/auction_results/${id}/`, { key: sent })
  const reversals = async (sent: string) =>
    (await read(sent)).entry<{ clicks: { click_id: string; reverse_reason: string | null }[] }>()
      .clicks
  const { key: publisherKey } = market.account
  assert.deepEqual(
    (await reversals(publisherKey)).map(({ click_id, reverse_reason }) => [
      click_id,
      reverse_reason,
    ]),
    [[click, null]],
  )
  assert.equal((await reverse({ click, reason: 'bought traffic' })).status, 201)
  assert.equal((await reversals(publisherKey))[0]?.reverse_reason, 'bought traffic')
  const shop = await createUser(api.db, {
    email: 'shop@kettles.example',
    password: 'a long password',
    isAdmin: false,
  })
  await updateMerchant(api.db, { merchId: market.kettles, changes: { uid: shop.uid } })
  const wanted = { uid: shop.uid, description: 'shop', expiresAt: null, now: new Date() }
  const { key: shopKey } = await createApiKey(api.db, wanted)
  const [own] = await reversals(shopKey)
  assert.equal(own?.reverse_reason, 'bought traffic')
  assert.ok(own !== undefined && !('publisher_earns' in own))
  const { key: strangers } = await api.account({})
  assert.equal((await read(strangers)).failure().code, 4040)
  assert.equal((await read(publisherKey, '0'.repeat(32))).failure().code, 4040)
})

test('of two concurrent reversals, one succeeds and the other is refused', async () => {
  const click = await paidClick()
  const both = await Promise.all([1, 2].map(() => reverse({ click, reason: 'twice' })))
  const [taken, other] = both.toSorted((a, b) => a.status - b.status)
  assert.equal(taken?.entry<{ entries: unknown[] }>().entries.length, 1)
  assert.match(other?.failure().message ?? '', /reversed before/)
  assert.deepEqual(await figures(), [[0, '0.00']])
})

test('a durable reversal succeeds even if the database fails before it can be shown', async () => {
  const click = await paidClick()
  const other = await api.db.reserve()
  await other.run(sql`begin`)
  await other.run(sql`lock table lane`)
  const answer = reverse({ click, reason: 'late' })
  const cut = sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%as folded%'`
  await until(async () => (await api.db.run(cut)) > 0)
  const { status, entry } = await answer
  other.release(new Error('over'))
  assert.equal(status, 202)
  assert.deepEqual(entry(), { clicks: [click], entries: [] })
})

test('only an operator can reverse, and every invalid field is named', async () => {
  assert.equal(
    (await reverse({ click: '0'.repeat(32), reason: 'x' }, market.account.key)).status,
    403,
  )
  assert.equal((await api.call(PATH, { body: { reason: 'x' } })).failure().code, 4302)
  assert.deepEqual((await reverse({ click: 'x', reason: 'x' })).failure().fields, ['click'])
  assert.deepEqual((await reverse({ click: '0'.repeat(32) })).failure().fields, ['reason'])
  assert.deepEqual((await reverse({ reason: 'x' })).failure().fields, ['click'])
  assert.deepEqual((await reverse({ reason: ' ' })).failure().fields, ['click', 'reason'])
  assert.equal((await reverse({ result: 'f'.repeat(32), reason: 'x' })).failure().code, 4040)
})
