import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { makeMerchantWorld } from '../../test/support/merchant-roles.ts'
import { SHELL } from '../accounts/caller.ts'
import { perform } from '../accounts/operation.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { pauseCampaign } from './campaign-operations.ts'

const api = await startApi({ after })
const shop = await makeMerchantWorld(api, { name: 'Shop', allows_second_rate: true })
const other = await makeMerchantWorld(api, { name: 'Other' })
const { pubId } = await api.account({ floor_micros: 700_000 as never })
const { keys } = shop

const SETTINGS = {
  ...{ model: 'cpc', bid: '0.60', exclusive_bid: '0.75', roas: 4, daily_budget: '100.00' },
  ...{ budget: '1000.00', start: '2026-01-01T00:00:00Z', end: '2999-01-01T00:00:00Z' },
  ...{ device: ['mobile', 'desktop'], allow_publisher: [pubId], block_publisher: [] },
  ...{ tracker_impression: ['https://t.example/?a=1,2'], tracker_viewable: [] },
  ...{ clicks_per_address_hour: 5, clicks_per_address_day: 20 },
}
const create = (body: object, options = {}) => shop.call('campaigns/', { body, ...options })
const change = (id: unknown, body: object, options = {}) =>
  shop.call(`campaigns/${id}/`, { method: 'PATCH', body, ...options })
const act = (id: unknown, verb: string, key = keys.owner) =>
  shop.call(`campaigns/${id}/${verb}/`, { method: 'POST', key })
const lastAudit = async () => (await shop.audit()).at(-1)

async function make(body: object = {}) {
  const answer = await create({ model: 'cpc', bid: '0.60', ...body })
  assert.equal(answer.status, 201, answer.text)
  return answer.entry<{ campaign_id: number; state: string; etag: string }>()
}

test('a campaign is created with every setting of the command, and its warnings', async () => {
  const answer = await create(SETTINGS)
  assert.equal(answer.status, 201, answer.text)
  const { etag, price_note, conflicts, ...entry } = answer.entry()
  const id = entry.campaign_id
  assert.deepEqual(entry, {
    ...{ campaign_id: id, merch_id: shop.merchId, state: 'running', paused_by: null },
    ...{ rate: null, payment: null, second_rate: false, country: [] },
    ...SETTINGS,
    ...{ spent: '0.00', spent_today: '0.00', over_cap: '0.00' },
    datetime_created: entry.datetime_created,
    datetime_updated: entry.datetime_updated,
  })
  assert.match(String(price_note), /^The market is a second-price auction.*floor, which is \$0.70/)
  assert.deepEqual(conflicts, [], 'the exclusive bid is above the floor')
  assert.deepEqual((await shop.call(`campaigns/${id}/`)).entry(), { ...entry, etag, conflicts })
  const { action, target } = (await lastAudit()) ?? {}
  assert.deepEqual([action, target], ['campaign.create', `campaign:${id}`])
  const changed = await change(id, { exclusive_bid: null, start: null, device: [] })
  assert.equal(changed.status, 200, changed.text)
  const { exclusive_bid, start, device, bid, conflicts: warnings } = changed.entry()
  assert.deepEqual([exclusive_bid, start, device, bid], [null, null, [], '0.60'])
  assert.deepEqual(warnings, [
    `campaign ${id} allows publisher ${pubId}, whose floor is above its bid`,
  ])
})

test('a creation that is repeated under its key makes one campaign', async () => {
  const headers = { 'idempotency-key': 'once' }
  const body = { model: 'cpa', rate: 0.08 }
  const [one, two] = [await create(body, { headers }), await create(body, { headers })]
  assert.deepEqual([one.status, two.status], [201, 201])
  assert.deepEqual(one.entry(), two.entry())
  assert.equal(one.entry().second_rate, true, 'as its contract allows')
})

test('wrong settings are refused by name, with every reason at once, and change nothing', async () => {
  const { campaign_id: id } = await make()
  const before = (await shop.call(`campaigns/${id}/`)).entry()
  const wrong: [object, string[]][] = [
    [{ model: 'cpm' }, ['model']],
    [{ model: 'cpa' }, ['bid', 'rate']],
    [{ bid: 0.6 }, ['bid']],
    [{ bid: '0,60' }, ['bid']],
    [{ bid: '0.001' }, ['bid']],
    [{ bid: null }, ['bid']],
    [{ exclusive_bid: '1e3' }, ['exclusive_bid']],
    [{ rate: 0.08 }, ['rate']],
    [{ rate: 0.12345678 }, ['rate']],
    [{ payment: '1.50' }, ['payment']],
    [{ roas: 0 }, ['roas']],
    [{ second_rate: true }, ['second_rate']],
    [{ daily_budget: '0.10', budget: '-1' }, ['budget']],
    [{ daily_budget: '0.10' }, ['daily_budget']],
    [{ start: 'tomorrow' }, ['start']],
    [{ end: '2020-01-01' }, ['end']],
    [{ start: '2999-01-02', end: '2999-01-01' }, ['end']],
    [{ country: ['US'] }, ['country']],
    [{ country: 'US' }, ['country']],
    [{ device: ['tv'] }, ['device']],
    [{ allow_publisher: [999_999] }, ['allow_publisher']],
    [{ allow_publisher: [2 ** 31] }, ['allow_publisher[0]']],
    [{ allow_publisher: [pubId], block_publisher: [pubId] }, ['block_publisher']],
    [{ tracker_impression: ['ftp://t.example'] }, ['tracker_impression']],
    [{ tracker_viewable: Array(11).fill('https://t.example') }, ['tracker_viewable']],
    [{ clicks_per_address_hour: 0, clicks_per_address_day: 1.5 }, ['clicks_per_address_day']],
    [{ clicks_per_address_hour: 0 }, ['clicks_per_address_hour']],
    [{ merch_id: 999_999 }, ['merchant']],
  ]
  for (const [body, fields] of wrong) {
    const key = 'merch_id' in body ? keys.admin : keys.owner
    const answer = await change(id, body, { key })
    assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`)
    assert.deepEqual(answer.failure().fields, fields, JSON.stringify(body))
  }
  assert.deepEqual((await shop.call(`campaigns/${id}/`)).entry(), before)
  assert.deepEqual((await create({})).failure().fields, ['model'])
})

test('a merchant resumes its own pause, but not one of the operator', async () => {
  const { campaign_id: id } = await make()
  const stateOf = async (answer: ReturnType<typeof act>) => {
    const { state, paused_by } = (await answer).entry()
    return [state, paused_by]
  }
  assert.deepEqual(await stateOf(act(id, 'pause')), ['paused', 'merchant'])
  assert.deepEqual(await stateOf(act(id, 'pause')), ['paused', 'merchant'])
  assert.equal((await lastAudit())?.action, 'campaign.pause')
  assert.deepEqual(await stateOf(act(id, 'resume')), ['running', null])
  assert.deepEqual(await stateOf(act(id, 'pause', keys.admin)), ['paused', 'operator'])
  assert.deepEqual(await stateOf(act(id, 'pause')), ['paused', 'operator'], 'stays the operator’s')
  const refused = await act(id, 'resume')
  assert.deepEqual([refused.status, refused.failure().code], [409, 4091])
  assert.match(refused.failure().message, /operator of the network paused/)
  assert.deepEqual(await stateOf(act(id, 'resume', keys.admin)), ['running', null])
  const deps = { overCap: () => new Set<number>(), knowsCountries: false, pricing: 'second_price' }
  const params = { merch_id: shop.merchId, campaign_id: id }
  await perform(pauseCampaign(deps as never), {
    ...{ db: api.db, caller: SHELL, now: new Date(), params },
  })
  assert.equal((await act(id, 'resume')).status, 409, 'the shell is the operator')
  const entries = (await shop.audit()).filter(({ target }) => target === `campaign:${id}`)
  assert.deepEqual(
    entries.map(({ action }) => action.replace('campaign.', '')),
    ['create', 'pause', 'resume', 'pause', 'resume', 'pause'],
  )
})

test('the state of a campaign says what keeps it from winning', async () => {
  const stateOf = async (body: object) => (await make(body)).state
  const [soon, long] = [Date.now() + DAY_MS, Date.now() + 2 * DAY_MS].map((ms) =>
    new Date(ms).toISOString(),
  )
  assert.equal(await stateOf({ start: soon, end: long }), 'scheduled')
  const { campaign_id: id } = await make({ daily_budget: '10', end: long })
  const state = async () => (await shop.call(`campaigns/${id}/`)).entry().state
  await api.db.run(sql`
    insert into budget_account (campaign_id, day, cap_micros, settled_micros)
    values (${id}, (now() at time zone 'UTC')::date, 10000000, 9600000)`)
  assert.equal(await state(), 'out_of_budget')
  await change(id, { daily_budget: null })
  assert.equal(await state(), 'running')
  const imported = (hours: number) =>
    api.db.run(sql`update merchant set feed_imported_at = now() - make_interval(hours => ${hours})
      where merch_id = ${shop.merchId}`)
  await imported(25)
  assert.equal(await state(), 'no_feed')
  await imported(1)
  assert.equal(await state(), 'running')
  await api.db.run(sql`update campaign set ends_at = now() where campaign_id = ${id}`)
  assert.equal(await state(), 'ended')
})

test('an etag outlives clicks and refuses a change that another one overtook', async () => {
  const { campaign_id: id, etag } = await make()
  await api.db.run(sql`
    insert into budget_account (campaign_id, day, settled_micros) values (${id}, null, 600000)`)
  assert.equal((await shop.call(`campaigns/${id}/`)).entry().spent, '0.60')
  const headers = { 'if-match': etag }
  assert.equal((await change(id, { bid: '0.70' }, { headers })).status, 200)
  const second = await change(id, { bid: '0.80' }, { headers })
  assert.deepEqual([second.status, second.failure().code], [412, 4120])
})

test('campaigns are listed by pages, and those of another merchant do not exist', async () => {
  const all = (await shop.call('campaigns/')).json<{ data: { campaign_id: number }[] }>().data
  const seen: number[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const path: string = `campaigns/?limit=2${cursor && `&cursor=${cursor}`}`
    const page = (await shop.call(path)).json<{
      data: { campaign_id: number }[]
      next_cursor: string | null
    }>()
    assert.ok(page.data.length <= 2)
    seen.push(...page.data.map(({ campaign_id }) => campaign_id))
    cursor = page.next_cursor
  }
  assert.deepEqual(
    seen,
    all.map(({ campaign_id }) => campaign_id),
  )
  assert.deepEqual((await shop.call('campaigns/?cursor=x')).failure().fields, ['cursor'])
  const id = seen[0]
  for (const path of [`campaigns/${id}/`, `campaigns/${id}/pause/`, 'campaigns/999999/']) {
    const method = path.endsWith('pause/') ? 'POST' : 'GET'
    assert.equal((await other.call(path, { method })).status, 404, path)
  }
  const csv = await shop.call('campaigns/', { headers: { accept: 'text/csv' } })
  assert.match(csv.text, /^campaign_id,merch_id,state,paused_by,model,bid,/)
  assert.equal(csv.text.trim().split('\n').length, all.length + 1)
})

test('a campaign moves only to a merchant where its caller may change campaigns', async () => {
  const { campaign_id: id } = await make()
  const body = { merch_id: other.merchId }
  const refused = await change(id, body)
  assert.deepEqual([refused.status, refused.failure().code], [403, 4303])
  assert.equal((await change(id, body, { key: keys.admin })).entry().merch_id, other.merchId)
  assert.equal((await shop.call(`campaigns/${id}/`)).status, 404)
})
