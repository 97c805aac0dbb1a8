/** Publishers, merchants and users of the network, over HTTP. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { makeNetworkApi } from '../../test/support/network-api.ts'
import { sql } from '../platform/postgres/sql.ts'

const api = await startApi({ after })
const network = await makeNetworkApi(api)
const owner = await api.account()

interface Entry {
  readonly etag: string
  readonly [field: string]: unknown
}

const send = async (method: string, path: string, body?: unknown, headers = {}) => {
  const answer = await network.call(path, {
    ...{ method, headers },
    ...(body === undefined ? {} : { body }),
  })
  return { answer, entry: answer.status < 300 ? answer.entry<Entry>() : ({} as Entry) }
}

test('a publisher is created, changed in any setting, and audited', async () => {
  const { answer, entry } = await send('POST', 'publishers/', {
    ...{ name: 'Weekly', slug: 'weekly', uid: owner.uid, share: 0.8, partner: true },
    ...{ floor: '0.05', category_floor: ['222:GB=0.10'], domain: ['weekly.example'] },
  })
  assert.equal(answer.status, 201, answer.text)
  const { pub_id: pubId } = entry
  assert.deepEqual(
    [entry.share, entry.partner, entry.floor, entry.category_floor, entry.tolerance],
    [0.8, true, '0.05', ['222:GB=0.10'], 0.05],
  )
  assert.equal((await network.lastAudit())?.action, 'publisher.create')
  const changed = await send('PATCH', `publishers/${pubId}/`, {
    ...{ share: 0.7, category_floor: null, partner: false },
  })
  assert.deepEqual(
    [changed.entry.share, changed.entry.category_floor, changed.entry.partner],
    [0.7, [], false],
  )
  const audit = await network.lastAudit()
  assert.deepEqual(
    [audit?.action, audit?.target, audit?.uid, audit?.before?.share, audit?.after?.share],
    ['publisher.update', `publisher:${pubId}`, network.uid, 0.8, 0.7],
  )
  const stale = await send(
    'PATCH',
    `publishers/${pubId}/`,
    { share: 0.6 },
    {
      'if-match': `"${entry.etag}"`,
    },
  )
  assert.equal(stale.answer.status, 412)
  const listed = (await network.call('publishers/')).json<{ data: Entry[]; next_cursor: null }>()
  assert.deepEqual(listed.data.at(-1), {
    ...(({ etag: _, ...record }) => record)(changed.entry),
    ...{ clicks_30d: 0, earnings_30d: '0.00', last_active: null },
  })
  assert.equal(listed.next_cursor, null)
})

test('a merchant is created with a secret, changed, and its leaked secret replaced', async () => {
  const { answer, entry } = await send('POST', 'merchants/', {
    ...{ name: 'Shop', domain: ['shop.example'], window_days: 14, allow_second_rate: true },
  })
  assert.equal(answer.status, 201, answer.text)
  const path = `merchants/${entry.merch_id}/`
  assert.deepEqual([entry.window_days, entry.allow_second_rate], [14, true])
  const changed = await send('PATCH', path, { window_days: null, post_impression_rate: 0.02 })
  assert.deepEqual([changed.entry.window_days, changed.entry.post_impression_rate], [30, 0.02])
  const replaced = await send('POST', `${path}secrets/postback/`)
  assert.equal(replaced.answer.status, 201)
  assert.notEqual(replaced.entry.postback_secret, entry.postback_secret)
  const audits = await api.db.rows<{ text: string }>(sql`
    select audit_entry::text as text from audit_entry where target = ${`merchant:${entry.merch_id}`}`)
  assert.equal(audits.length, 3)
  for (const { text } of audits) {
    assert.ok(!text.includes(String(entry.postback_secret)), 'no secret is logged')
    assert.ok(!text.includes(String(replaced.entry.postback_secret)))
  }
})

interface MerchantPage {
  readonly data: readonly { readonly merch_id: number }[]
  readonly next_cursor: string | null
}

test('pages of an organization list meet without a gap, and CSV has them all', async () => {
  for (let at = 0; at < 3; at += 1) {
    await send('POST', 'merchants/', { name: `M${at}`, domain: [`m${at}.example`] })
  }
  const ids: number[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`
    const page: MerchantPage = (await network.call(`merchants/?limit=2${query}`)).json()
    ids.push(...page.data.map(({ merch_id }) => merch_id))
    cursor = page.next_cursor
  } while (cursor !== null)
  assert.deepEqual(
    ids,
    [...new Set(ids)].toSorted((one, other) => one - other),
  )
  const csv = await network.call('merchants/', { headers: { accept: 'text/csv' } })
  assert.equal(csv.text.trim().split(/\r?\n/).length, ids.length + 1)
  assert.deepEqual((await network.call('merchants/?cursor=x')).failure().fields, ['cursor'])
})

test('a suspended user cannot sign in, and its keys and sessions end', async () => {
  const { uid, key, email, password } = await api.account()
  const signIn = () =>
    api.call('/api/v1/session/', {
      ...{ body: { email, password }, headers: { origin: 'https://souk.example' } },
    })
  assert.equal((await signIn()).status, 200)
  const suspended = await send('POST', `users/${uid}/suspend/`)
  assert.equal(suspended.entry.is_suspended, true, suspended.answer.text)
  assert.equal((await network.lastAudit())?.action, 'user.suspend')
  assert.equal((await api.call('/api/v1/tokeninfo/', { key })).status, 401)
  assert.equal((await signIn()).status, 401)
  const session = sql`select from dashboard_session where uid = ${uid}`
  assert.equal(await api.db.row(session), null)
  const again = await send('POST', `users/${uid}/suspend/`)
  assert.deepEqual([again.answer.status, again.answer.failure().code], [409, 4091])
  assert.equal((await send('POST', `users/${uid}/resume/`)).entry.is_suspended, false)
  assert.equal((await signIn()).status, 200)
})

test('a user is created and changed; the last administrator stays', async () => {
  const { answer, entry } = await send('POST', 'users/', {
    ...{ email: 'new@souk.example', name: 'New', network_role: 'staff' },
  })
  assert.deepEqual([answer.status, entry.network_role], [201, 'staff'], answer.text)
  const changed = await send('PATCH', `users/${entry.uid}/`, {
    ...{ name: 'Newer', network_role: null, password: 'another long one' },
  })
  assert.deepEqual([changed.entry.name, changed.entry.network_role], ['Newer', null])
  const audit = await network.lastAudit()
  assert.equal(audit?.after?.password_changed, true)
  assert.ok(!JSON.stringify(audit).includes('another long one'))
  for (const [path, body] of [
    [`users/${network.uid}/`, { network_role: null }],
    [`users/${network.uid}/`, { is_suspended: true }],
    [`users/${network.uid}/suspend/`, undefined],
  ] as const) {
    const refused = await send(body === undefined ? 'POST' : 'PATCH', path, body)
    assert.equal(refused.answer.status, 409, `${path} ${refused.answer.text}`)
  }
})

test('every wrong value is named with its field', async () => {
  const pub = `publishers/${owner.pubId}/`
  const shop = (await send('POST', 'merchants/', { name: 'W', domain: ['w.example'] })).entry
  const merch = `merchants/${shop.merch_id}/`
  const user = `users/${owner.uid}/`
  const cases: [path: string, field: string, values: unknown[]][] = [
    [pub, 'name', ['', ' ', 'x'.repeat(256), 1, null]],
    [pub, 'slug', ['', 'a b', '-', 'x'.repeat(65)]],
    [pub, 'uid', [0, 1.5, 999_999, 2 ** 31, null]],
    [pub, 'share', [-0.1, 1.1, 0.1234567, '0.5', 1e300]],
    [pub, 'floor', ['', '-1', '9001', '0.1234567', 'x', 0.5]],
    [pub, 'tolerance', [-0.01, 0.21]],
    [pub, 'beta', [-1, 4]],
    [pub, 'epsilon', [-0.01, 0.11]],
    [pub, 'domain', [['no host'], 'x.example']],
    [pub, 'allow_host', [['no host']]],
    [pub, 'allow_merchant', [[999_999]]],
    [pub, 'block_merchant', [[999_999]]],
    [pub, 'linkmate_scope', ['some']],
    [pub, 'consent_default', ['none']],
    [pub, 'partner', ['yes']],
    [pub, 'require_price', [1]],
    [pub, 'is_suspended', [null, 'no']],
    [merch, 'name', ['', 'x'.repeat(256)]],
    [merch, 'domain', [[], ['no host']]],
    [merch, 'uid', [0, 999_999]],
    [merch, 'click_param', ['', 'a b']],
    [merch, 'deep_link', ['https://x.example/', 'x']],
    [merch, 'window_days', [0, 91, 1.5]],
    [merch, 'origin', [['shop.example']]],
    [merch, 'post_impression_rate', [0, 1.1]],
    [merch, 'default_currency', ['EURO']],
    [merch, 'confirm_orders', ['yes']],
    [merch, 'allow_second_rate', ['yes']],
    [user, 'email', ['', 'nobody', network.uid]],
    [user, 'password', ['short', 'password123', '']],
    [user, 'name', ['x'.repeat(256), null]],
    [user, 'network_role', ['owner', 1]],
  ]
  for (const [path, field, values] of cases) {
    for (const value of values) {
      const { answer } = await send('PATCH', path, { [field]: value })
      assert.equal(answer.status, 400, `${path} ${field} ${JSON.stringify(value)} ${answer.text}`)
      const named = answer.failure().fields.every((name) => name.split(/[.[]/)[0] === field)
      assert.ok(named, `${path} ${field} ${JSON.stringify(value)}: ${answer.text}`)
    }
  }
  for (const path of ['publishers/999999/', 'merchants/0/', 'users/99999999999/']) {
    assert.equal((await network.call(path)).status, 404, path)
    assert.equal((await send('PATCH', path, {})).answer.status, 404, path)
    assert.equal((await send('POST', `${path}suspend/`)).answer.status, 404, path)
  }
})

test('a taken slug, domain or e-mail address is refused', async () => {
  const taken = { slug: owner.publishers[0]?.slug }
  const made = await send('POST', 'publishers/', { name: 'T', uid: owner.uid, ...taken })
  assert.deepEqual(made.answer.failure().fields, ['slug'])
  await send('POST', 'merchants/', { name: 'A', domain: ['taken.example'] })
  const other = await send('POST', 'merchants/', { name: 'B', domain: ['taken.example'] })
  assert.deepEqual(other.answer.failure().fields, ['domain'])
  const user = await send('POST', 'users/', { email: owner.email.toUpperCase() })
  assert.deepEqual(user.answer.failure().fields, ['email'])
})
