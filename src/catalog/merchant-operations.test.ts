import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { makeMerchantWorld } from '../../test/support/merchant-roles.ts'

const api = await startApi({ after })
const shop = await makeMerchantWorld(api, { name: 'Shop', window_days: 45 })
await makeMerchantWorld(api, { name: 'Other' })
const patch = (body: unknown, headers = {}) =>
  shop.call('settings/', { method: 'PATCH', body, headers })

test('a merchant changes a part of its settings, and null sets one to its default', async () => {
  const before = (await shop.call('settings/')).entry()
  assert.equal(before.window_days, 45)
  const body = { name: 'The Shop', window_days: null, confirm_orders: true }
  const answer = await patch({ ...body, default_currency: 'eur', origin: ['https://pay.example'] })
  assert.equal(answer.status, 200, answer.text)
  const after = answer.entry()
  assert.deepEqual(after, {
    ...before,
    ...{ name: 'The Shop', window_days: 30, confirm_orders: true, default_currency: 'EUR' },
    origin: ['https://pay.example'],
    datetime_updated: after.datetime_updated,
    etag: after.etag,
  })
  const { etag: _, ...record } = after
  const { etag: _of, ...old } = before
  assert.deepEqual(await shop.audit(), [
    { action: 'settings.update', target: `merchant:${shop.merchId}`, before: old, after: record },
  ])
})

test('a change of settings that were changed meanwhile is refused', async () => {
  const { etag } = (await shop.call('settings/')).entry()
  const first = await patch({ click_param: 'ref' }, { 'if-match': `"${etag}"` })
  assert.equal(first.status, 200)
  const second = await patch({ click_param: 'sub' }, { 'if-match': `"${etag}"` })
  assert.deepEqual([second.status, second.failure().code], [412, 4120])
  assert.equal((await shop.call('settings/')).entry().click_param, 'ref')
})

test('wrong settings are refused by the names of their fields, and nothing changes', async () => {
  const before = (await shop.call('settings/')).entry()
  const wrong: [object, string][] = [
    [{ name: '' }, 'name'],
    [{ name: null }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ domain: [] }, 'domain'],
    [{ domain: ['co.uk'] }, 'domain'],
    [{ domain: ['other.example'] }, 'domain'],
    [{ domain: 'shop.example' }, 'domain'],
    [{ click_param: 'a b' }, 'click_param'],
    [{ deep_link: 'https://net.example/' }, 'deep_link'],
    [{ window_days: 91 }, 'window_days'],
    [{ window_days: '30' }, 'window_days'],
    [{ origin: ['shop.example'] }, 'origin'],
    [{ default_currency: 'EURO' }, 'default_currency'],
    [{ confirm_orders: 'yes' }, 'confirm_orders'],
  ]
  for (const [body, field] of wrong) {
    const answer = await patch({ click_param: 'lost', ...body })
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.deepEqual(answer.failure().fields, [field], JSON.stringify(body))
  }
  assert.deepEqual((await shop.call('settings/')).entry(), before)
})

test('an organization that does not exist gets the same 403 as a foreign one, also from an admin', async () => {
  for (const id of [0, 2_000_000_000, 99_999_999_999]) {
    for (const key of [shop.keys.admin, shop.keys.owner]) {
      const answer = await api.call(`/api/v1/merchants/${id}/settings/`, { key })
      assert.deepEqual([answer.status, answer.failure().code], [403, 4303], String(id))
    }
  }
})
