import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { TOTP } from 'otpauth'
import { type Account, startApi } from '../../../test/support/api.ts'
import { startMailbox } from '../../../test/support/mailbox.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { setMembership } from '../membership-store.ts'
import { NETWORK } from '../permission.ts'
import { hashRecoveryCode, toRecoveryCode } from './recovery-code.ts'
import { stepOfCode } from './totp.ts'

const mailbox = await startMailbox({ after })
const clock = { nowMs: Date.parse('2026-03-02T10:00:00Z') }
const api = await startApi(
  { after },
  {
    env: { SMTP_URL: mailbox.url, TRUSTED_PROXIES: '127.0.0.0/8' },
    now: () => clock.nowMs,
  },
)

/** Each user signs in from another address, because limits are per address. */
let people = 0
async function newPerson() {
  const account = await api.account()
  people += 1
  const person = { ...account, from: { 'x-forwarded-for': `203.0.113.${people}` } }
  const { email, password } = account
  const { answer, headers } = await signIn(person, { email, password })
  assert.equal(answer.status, 200)
  return { ...person, headers }
}
type Person = Account & { readonly from: Record<string, string> }
type SignedIn = Person & { readonly headers: Record<string, string> }

async function signIn({ from }: Person, body: object) {
  const answer = await api.call('/api/v1/session/', { body, headers: from })
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';', 1)
  const csrf = answer.status === 200 ? String(answer.entry().csrf_token) : ''
  return { answer, headers: { cookie, 'x-souk-csrf': csrf } }
}

const statusOf = async (person: Person, body: object) =>
  (await signIn(person, { email: person.email, password: person.password, ...body })).answer.status

const call = (person: SignedIn, path: string, method = 'POST', body?: object) =>
  api.call(`/api/v1/me/${path}`, { method, headers: person.headers, ...(body && { body }) })

/** Sets up an app; returns what shows its codes. */
async function enrol(person: SignedIn): Promise<() => string> {
  const enrolled = await call(person, 'totp/')
  const url = String(enrolled.entry().otpauth_url)
  const { secret } = enrolled.entry<{ secret: string }>()
  const totp = new TOTP({ secret })
  assert.match(url, /^otpauth:\/\/totp\/Souk%20souk\.example:/)
  assert.match(url, new RegExp(`secret=${secret}&.*period=30`))
  const code = () => totp.generate({ timestamp: clock.nowMs })
  const confirmed = await call(person, 'totp/confirm/', 'POST', { totp: code() })
  assert.equal(confirmed.entry().is_confirmed, true)
  clock.nowMs += 30_000
  return code
}

test('a code is right for its 30 seconds and for those before and after', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' // RFC 6238, appendix B.
  const at = (seconds: number) => stepOfCode(secret, '287 082', new Date(seconds * 1000))
  assert.deepEqual([at(59), at(0), at(89)], [1, 1, 1])
  assert.equal(at(90), null)
  assert.equal(stepOfCode(secret, '28708', new Date(59_000)), null)
})

test('a recovery code has 80 bits, and is read as people type it', () => {
  const code = toRecoveryCode(Buffer.from('00ff10ab0123456789cd', 'hex'))
  assert.match(code, /^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/)
  const typed = code.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O').replaceAll('1', 'I')
  assert.deepEqual(hashRecoveryCode(typed), hashRecoveryCode(code))
})

test('sign-in asks for a code once an app is confirmed, and takes each code once', async () => {
  const ann = await newPerson()
  const { email, password } = ann
  const code = await enrol(ann)
  const { answer } = await signIn(ann, { email, password })
  assert.equal(answer.status, 202)
  assert.equal(answer.headers.get('set-cookie'), null)
  const { challenge, second_factors: factors, passkey_options: options } = answer.entry()
  assert.deepEqual([factors, options], [['totp'], null])
  const good = code()
  const wrong = await signIn(ann, { challenge, totp: good === '000000' ? '000001' : '000000' })
  assert.deepEqual([wrong.answer.status, wrong.answer.failure().code], [401, 4301])
  assert.equal((await signIn(ann, { challenge, totp: good })).answer.status, 200)
  assert.equal((await signIn(ann, { challenge, totp: good })).answer.status, 401, 'once')
  assert.equal(await statusOf(ann, { totp: good }), 401, 'a used code stays used')
  clock.nowMs += 30_000
  assert.equal(await statusOf(ann, { totp: code() }), 200, 'without a challenge in between')
  assert.equal(await statusOf(ann, { password: 'not the password', totp: code() }), 401)
})

test('a challenge ends after five minutes, and when the password changes', async () => {
  const bob = await newPerson()
  const code = await enrol(bob)
  const ask = async () => (await signIn(bob, bob)).answer.entry().challenge
  const late = await ask()
  clock.nowMs += 300_000
  assert.equal((await signIn(bob, { challenge: late, totp: code() })).answer.status, 401)
  const challenge = await ask()
  const change = { password: 'an unusual sentence', current_password: bob.password }
  assert.equal((await call(bob, '', 'PATCH', change)).status, 200)
  clock.nowMs += 30_000
  assert.equal((await signIn(bob, { challenge, totp: code() })).answer.status, 401)
  for (const [body, field] of [
    [{ challenge: await ask().catch(() => 'none') }, null],
    [{ email: bob.email }, 'password'],
    [{ password: bob.password }, 'email'],
    [{}, 'email'],
  ] as const) {
    const { answer } = await signIn(bob, body)
    if (field !== null) assert.equal(answer.failure().fields[0], field)
    assert.ok(answer.status >= 400)
  }
})

test('ten wrong codes are accepted, then one in five minutes, whatever the address', async () => {
  const carl = await newPerson()
  const code = await enrol(carl)
  const { email, password } = carl
  const { challenge } = (await signIn(carl, { email, password })).answer.entry()
  const guess = async (totp: string, at: number) => {
    const from = { 'x-forwarded-for': `198.51.100.${at}` }
    return (await signIn({ ...carl, from }, { challenge, totp })).answer.status
  }
  for (let at = 0; at < 10; at += 1) assert.equal(await guess('12345', at), 401)
  assert.equal(await guess(code(), 10), 429, 'a right one reveals nothing')
})

test('ten recovery codes are shown once, and each signs in once', async () => {
  const dora = await newPerson()
  await enrol(dora)
  const made = await call(dora, 'recovery_codes/')
  const { recovery_codes: codes } = made.entry<{ recovery_codes: string[] }>()
  assert.equal(new Set(codes).size, 10)
  const left = async () => (await call(dora, 'recovery_codes/', 'GET')).entry().left
  assert.equal(await left(), 10)
  const [first = '', second = ''] = codes
  assert.equal(await statusOf(dora, { recovery_code: first.toUpperCase() }), 200)
  assert.equal(await statusOf(dora, { recovery_code: first }), 401)
  assert.equal(await left(), 9)
  const { recovery_codes: fresh } = (await call(dora, 'recovery_codes/')).entry<{
    recovery_codes: string[]
  }>()
  assert.equal(await statusOf(dora, { recovery_code: second }), 401, 'new ones replace old ones')
  assert.equal(await statusOf(dora, { recovery_code: fresh[0] }), 200)
  const stored = await api.db.rows(sql`select code_hash::text as hash from recovery_code`)
  assert.ok(!JSON.stringify(stored).includes(fresh[1] ?? '-'))
})

test('an app is replaced only after it was removed; without a factor codes open nothing', async () => {
  const eve = await newPerson()
  const early = await call(eve, 'totp/confirm/', 'POST', { totp: '123456' })
  assert.deepEqual([early.status, early.failure().code], [409, 4091])
  await call(eve, 'totp/')
  const wrong = await call(eve, 'totp/confirm/', 'POST', { totp: '12345' })
  assert.deepEqual([wrong.status, wrong.failure().fields], [400, ['totp']])
  assert.equal(await statusOf(eve, {}), 200, 'sign-in does not ask before the first code')
  await enrol(eve)
  assert.equal((await call(eve, 'totp/')).failure().code, 4091)
  await call(eve, 'recovery_codes/')
  assert.equal((await call(eve, 'totp/', 'DELETE')).status, 200)
  assert.equal((await call(eve, 'totp/', 'DELETE')).status, 404)
  assert.deepEqual((await call(eve, '', 'GET')).entry().second_factors, {
    ...{ totp: false, passkeys: 0, recovery_codes: 0 },
  })
  assert.equal(await statusOf(eve, {}), 200)
  const actions = await api.db.rows<{ action: string }>(sql`
    select action from audit_entry where uid = ${eve.uid} order by audit_id`)
  const made = ['totp.enrol', 'totp.confirm', 'recovery_codes.make', 'totp.remove']
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['totp.enrol', ...made],
  )
})

test('an API key neither sees nor changes second factors', async () => {
  const { key } = await newPerson()
  for (const [method, path] of [
    ['POST', 'totp/'],
    ['DELETE', 'totp/'],
    ['POST', 'recovery_codes/'],
    ['POST', 'passkeys/options/'],
    ['GET', 'passkeys/'],
  ] as const) {
    const answer = await api.call(`/api/v1/me/${path}`, { method, key })
    assert.deepEqual([answer.status, answer.failure().code], [403, 4305], path)
  }
})

test('a passkey is added only with an answer to the last options, which count once', async () => {
  const finn = await newPerson()
  const passkey = {
    ...{ id: 'AAAA', rawId: 'AAAA', type: 'public-key', clientExtensionResults: {} },
    response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
  }
  const add = (body: object) => call(finn, 'passkeys/', 'POST', body)
  assert.equal((await add({ name: 'Phone', passkey })).failure().code, 4091)
  const { rp, user, excludeCredentials } = (await call(finn, 'passkeys/options/')).entry<{
    rp: { id: string }
    user: { name: string }
    excludeCredentials: unknown[]
  }>()
  assert.deepEqual([rp.id, user.name, excludeCredentials], ['souk.example', finn.email, []])
  const refused = await add({ name: 'Phone', passkey })
  assert.deepEqual([refused.status, refused.failure().fields], [400, ['passkey']])
  assert.equal((await add({ name: '', passkey })).failure().fields[0], 'name')
})

test('an owner or the operator removes lost factors; the user is informed and signs in again', async () => {
  const owner = await newPerson()
  const [member, admin] = [await newPerson(), await newPerson()]
  const organization = { kind: 'publisher', id: owner.pubId } as const
  await setMembership(api.db, { uid: member.uid, organization, role: 'manager' })
  await enrol(member)
  const path = (uid: number) => `/api/v1/publishers/${owner.pubId}/members/${uid}/second_factors/`
  const reset = (by: SignedIn, url: string) =>
    api.call(url, { method: 'DELETE', headers: by.headers })
  assert.equal((await reset(member, path(member.uid))).failure().code, 4305, 'not by a manager')
  assert.equal((await reset(owner, path(admin.uid))).status, 404, 'only of members')
  const done = await reset(owner, path(member.uid))
  assert.deepEqual(done.entry().removed, { totp: true, passkeys: 0, recovery_codes: 0 })
  const mail = await mailbox.next()
  assert.deepEqual([mail.to, mail.subject], [[member.email], 'Your second factors were removed'])
  assert.equal((await api.call('/api/v1/me/', { headers: member.headers })).status, 401)
  assert.equal(await statusOf(member, {}), 200)
  const entry = await api.db.row(sql`
    select action, target, pub_id from audit_entry where uid = ${owner.uid}`)
  assert.deepEqual(entry, {
    ...{ action: 'user.reset_second_factors', target: `user:${member.uid}`, pub_id: owner.pubId },
  })

  await setMembership(api.db, { uid: admin.uid, organization, role: 'viewer' })
  await setMembership(api.db, { uid: admin.uid, organization: NETWORK, role: 'admin' })
  assert.equal((await reset(owner, path(admin.uid))).failure().code, 4091, 'not of an admin')
  const ofUser = `/api/v1/network/users/${owner.uid}/second_factors/`
  assert.equal((await reset(owner, ofUser)).failure().code, 4303)
  assert.equal((await reset(admin, ofUser)).status, 200)
})

test('the operator hands over a link for a new password', async () => {
  const [admin, user] = [await newPerson(), await newPerson()]
  await setMembership(api.db, { uid: admin.uid, organization: NETWORK, role: 'admin' })
  const path = `/api/v1/network/users/${user.uid}/password_reset/`
  const make = () => api.call(path, { method: 'POST', headers: admin.headers })
  const { reset_url: url } = (await make()).entry<{ reset_url: string }>()
  const token = url.split('#token=')[1]
  const body = { token, password: 'an unusual sentence' }
  const set = await api.call('/api/v1/session/password/', { body, headers: user.from })
  assert.equal(set.status, 200)
  for (let made = 0; made < 3; made += 1) assert.equal((await make()).status, 200)
  assert.equal((await make()).failure().code, 4091)
})
