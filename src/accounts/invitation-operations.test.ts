import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import {
  BASE_URL,
  makeKey,
  makeMerchantOf,
  makePerson,
  makePublisherOf,
  PASSWORD,
  pathTo,
  serveOperations,
  signIn,
} from '../../test/support/management.ts'
import type { Mail } from '../platform/net/mail.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { INVITATIONS_MAX } from './invitation.ts'
import { invitationOperations } from './invitation-operations.ts'
import { invitationRoutes } from './invitation-routes.ts'
import { deletePastInvitations } from './invitation-store.ts'
import { memberOperations } from './member-operations.ts'
import { isPassword } from './password.ts'
import { NETWORK, type Organization } from './permission.ts'
import { findUserByEmail } from './store.ts'

const db = await testDatabase()
const mails: Mail[] = []
const queueMail = async (_tx: unknown, mail: Mail) => void mails.push(mail)
const operations = [
  ...invitationOperations({ baseUrl: BASE_URL, queueMail }),
  ...memberOperations(),
]
const serve = () =>
  serveOperations(db, operations, (deps) => [
    invitationRoutes({ db, baseUrl: BASE_URL, isPasswordOff: false, ...deps }),
  ])
const api = await serve()
const { call, clock } = api

interface Invited {
  readonly id: number
  readonly url: string
  readonly accept: string
}

async function invite(
  key: string,
  at: Organization,
  body: { email: string; role?: string },
): Promise<Invited> {
  const { status, data, text } = await call('POST', `${pathTo(at)}invitations/`, {
    key,
    body: { role: 'viewer', ...body },
  })
  assert.equal(status, 201, text)
  const [{ invitation_id: id, accept_url: url }] = data
  return { id, url, accept: acceptPath(url) }
}

const acceptPath = (url: string) => `/api/v1/invitations/${url.split('/').at(-2)}/accept/`
const account = { name: 'New Person', password: 'quite a long one' }
const newEmail = () => `new${Math.random()}@people.example`
const accept = (path: string, asked: Parameters<typeof call>[2] = { body: account }) =>
  serve().then(({ call: one, clock: own }) => {
    own.now = clock.now
    return one('POST', path, asked) // Its own limit per address.
  })

test('an invited person makes an account, which has the role, once', async () => {
  const { at, owner } = await makePublisherOf(db)
  const email = newEmail()
  mails.length = 0
  const { url, accept: path } = await invite(owner.key, at, { email, role: 'manager' })
  assert.equal(mails.length, 1)
  assert.deepEqual([mails[0]?.to, mails[0]?.text.includes(url)], [email, true])
  const shown = await call('GET', path.replace('accept/', ''))
  assert.deepEqual(
    [shown.data[0].email, shown.data[0].role, shown.data[0].has_account],
    [email, 'manager', false],
  )
  const accepted = await accept(path)
  assert.deepEqual([accepted.status, accepted.data[0].role], [200, 'manager'], accepted.text)
  const { password_hash: stored = '' } = (await findUserByEmail(db, email)) ?? {}
  assert.equal(await isPassword(account.password, stored), true)
  const again = await accept(path)
  assert.deepEqual(again.refusal, [409, 4091])
  assert.match(again.error?.message ?? '', /has been used/)

  const members = await call('GET', `${pathTo(at)}members/`, { key: owner.key })
  assert.deepEqual(members.data.map(({ email: one, role, name }) => [one, role, name]).at(-1), [
    email,
    'manager',
    account.name,
  ])
  const { uid } = accepted.data[0]
  const audit = await db.rows(sql`
    select action, uid, through, token_id is null as is_without_key, after from audit_entry
    where pub_id = ${at.id} order by audit_id`)
  assert.deepEqual(audit, [
    {
      ...{ action: 'invitation.create', uid: owner.uid, through: 'key', is_without_key: false },
      after: { email, role: 'manager' },
    },
    {
      ...{ action: 'invitation.accept', uid, through: 'link', is_without_key: true },
      after: { uid, email, role: 'manager' },
    },
  ])
})

test('only the invited user can accept in a session or with a key', async () => {
  const { at, owner } = await makeMerchantOf(db)
  const [invited, other] = [await makePerson(db), await makePerson(db)]
  const { accept: path } = await invite(owner.key, at, { email: invited.email.toUpperCase() })

  const anonymous = await accept(path)
  assert.deepEqual(anonymous.refusal, [409, 4091])
  assert.match(anonymous.error?.message ?? '', /has an account\. Log in/)
  const foreign = await accept(path, { body: {}, headers: await signIn(db, other.email) })
  assert.deepEqual(foreign.refusal, [403, 4303])
  assert.match(foreign.error?.message ?? '', new RegExp(`you are logged in as ${other.email}`))
  const scoped = await makeKey(db, invited.uid, { scopes: ['figures.read'] })
  assert.deepEqual((await accept(path, { body: {}, key: scoped })).refusal, [403, 4305])
  const headers = await signIn(db, invited.email)
  const unproven = { body: {}, headers: { cookie: headers.cookie ?? '' } }
  assert.deepEqual((await accept(path, unproven)).refusal, [403, 4309], 'without CSRF token')

  const accepted = await accept(path, { headers })
  assert.deepEqual([accepted.status, accepted.data[0].uid], [200, invited.uid], accepted.text)
})

test('a withdrawn, replaced, late or unknown invitation is refused with the reason', async () => {
  const { at, owner } = await makePublisherOf(db)
  const list = `${pathTo(at)}invitations/`
  const email = newEmail()
  const replaced = await invite(owner.key, at, { email })
  const withdrawn = await invite(owner.key, at, { email })
  const shown = await call('GET', list, { key: owner.key })
  assert.deepEqual(
    shown.data.map(({ invitation_id, state }) => [invitation_id, state]),
    [[withdrawn.id, 'open']],
  )
  const url = `${list}${withdrawn.id}/`
  assert.equal((await call('DELETE', url, { key: owner.key })).status, 200)
  assert.equal((await call('DELETE', url, { key: owner.key })).status, 404)
  const late = await invite(owner.key, at, { email })
  const unknown = '/api/v1/invitations/unknown/accept/'
  clock.now = new Date(clock.now.getTime() + 7 * DAY_MS)
  for (const [path, status, reason] of [
    [replaced.accept, 409, /was withdrawn/],
    [withdrawn.accept, 409, /was withdrawn/],
    [late.accept, 409, /has expired after 7 days/],
    [unknown, 404, /whole link/],
  ] as const) {
    const answer = await accept(path)
    assert.equal(answer.status, status, path)
    assert.match(answer.error?.message ?? '', reason)
  }
  clock.now = new Date()
  await accept(late.accept)
  const accepted = await call('DELETE', `${list}${late.id}/`, { key: owner.key })
  assert.deepEqual(accepted.refusal, [409, 4091])
})

test('of two people who accept one invitation at once, one does', async () => {
  const { at, owner } = await makePublisherOf(db)
  const { accept: path } = await invite(owner.key, at, { email: newEmail() })
  const answers = await Promise.all([accept(path), accept(path)])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
})

test('a repeated creation invites once, and does not show the link again', async () => {
  const { at, owner } = await makePublisherOf(db)
  const asked = {
    key: owner.key,
    body: { email: newEmail(), role: 'viewer' },
    headers: { 'idempotency-key': 'once' },
  }
  const [first, again] = [
    await call('POST', `${pathTo(at)}invitations/`, asked),
    await call('POST', `${pathTo(at)}invitations/`, asked),
  ]
  assert.match(first.data[0].accept_url, /invitations/)
  assert.deepEqual(again.data, [{ ...first.data[0], accept_url: null }])
})

test('wrong fields are refused by name', async () => {
  const { at, owner } = await makePublisherOf(db)
  const url = `${pathTo(at)}invitations/`
  const email = newEmail()
  for (const [body, field] of [
    [{ email: 'nobody', role: 'viewer' }, 'email'],
    [{ email: `${'a'.repeat(260)}@x.example`, role: 'viewer' }, 'email'],
    [{ email: 7, role: 'viewer' }, 'email'],
    [{ role: 'viewer' }, 'email'],
    [{ email, role: 'admin' }, 'role'],
    [{ email }, 'role'],
  ] as const) {
    const answer = await call('POST', url, { key: owner.key, body })
    assert.deepEqual([answer.status, answer.fields], [400, [field]], JSON.stringify(body))
  }
  const member = await call('POST', url, { key: owner.key, body: { ...owner, role: 'viewer' } })
  assert.deepEqual(member.refusal, [409, 4091])
  const { accept: path } = await invite(owner.key, at, { email })
  for (const [body, ...fields] of [
    [{}, 'name', 'password'],
    [{ name: ' ', password: PASSWORD }, 'name'],
    [{ name: 'A', password: 'short' }, 'password'],
    [{ name: 'A', password: 'password1234' }, 'password'],
  ] as const) {
    const answer = await accept(path, { body })
    assert.deepEqual([answer.status, answer.fields], [400, fields], JSON.stringify(body))
  }
})

test('an organization has at most so many invitations', async () => {
  const { key } = await makePerson(db, { organization: NETWORK, role: 'admin' })
  const { at } = await makePublisherOf(db)
  await db.run(sql`
    insert into invitation (pub_id, email, role, token_hash, datetime_created, datetime_updated,
      datetime_expires)
    select ${at.id}, n || '@x.example', 'viewer', sha256(random()::text::bytea), now(), now(),
      now() + interval '7 days'
    from generate_series(1, ${INVITATIONS_MAX}) n`)
  const body = { email: newEmail(), role: 'viewer' }
  const answer = await call('POST', `${pathTo(at)}invitations/`, { key, body })
  assert.deepEqual(answer.refusal, [409, 4091])
})

test('an address has so many tries, and a body a limit', async () => {
  const own = await serve()
  own.clock.now = new Date(0)
  const path = '/api/v1/invitations/unknown/accept/'
  const long = await own.call('POST', path, { body: { name: 'a'.repeat(5_000) } })
  assert.equal(long.status, 413)
  const answers = []
  for (let at = 0; at < 20; at += 1) answers.push(await own.call('POST', path, { body: account }))
  assert.deepEqual([answers[0]?.status, answers.at(-1)?.status], [404, 429])
})

test('upkeep deletes invitations a while after their end', async () => {
  const { at, owner } = await makePublisherOf(db)
  const { accept: path } = await invite(owner.key, at, { email: newEmail() })
  await deletePastInvitations(db, new Date(Date.now() + 6 * DAY_MS))
  assert.equal((await call('GET', path.replace('accept/', ''))).status, 200)
  assert.notEqual(await deletePastInvitations(db, new Date(Date.now() + 8 * DAY_MS)), 0)
  assert.equal((await call('GET', path.replace('accept/', ''))).status, 404)
})
