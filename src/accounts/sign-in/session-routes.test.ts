import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Account, startApi } from '../../../test/support/api.ts'
import { startMailbox } from '../../../test/support/mailbox.ts'
import { sql } from '../../platform/postgres/sql.ts'

const mailbox = await startMailbox({ after })
const clock = { aheadMs: 0 }
const logLines: string[] = []
const api = await startApi(
  { after },
  {
    env: { SMTP_URL: mailbox.url, TRUSTED_PROXIES: '127.0.0.0/8', LOG_LEVEL: 'info' },
    now: () => Date.now() + clock.aheadMs,
    logLines,
  },
)

/** Each user signs in from a separate address, which has separate limits. */
let people = 0
async function newPerson() {
  const account = await api.account()
  people += 1
  return { ...account, from: { 'x-forwarded-for': `203.0.113.${people}` } }
}
type Person = Account & { readonly from: Record<string, string> }

async function signIn({ email, from }: Person, password: string, userAgent = 'Firefox') {
  const answer = await api.call('/api/v1/session/', {
    body: { email, password },
    headers: { ...from, 'user-agent': userAgent },
  })
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';', 1)
  const csrf = answer.status === 200 ? String(answer.entry().csrf_token) : ''
  const headers = { cookie, 'x-souk-csrf': csrf }
  return { answer, headers, status: answer.status }
}

const isIn = async (headers: Record<string, string>) =>
  (await api.call('/api/v1/me/', { headers })).status === 200

const askReset = ({ email, from }: Pick<Person, 'email' | 'from'>) =>
  api.call('/api/v1/session/password_reset/', { body: { email }, headers: from })

const setPassword = ({ from }: Person, token: string, password: string) =>
  api.call('/api/v1/session/password/', { body: { token, password }, headers: from })

/** The worker forgets a mail after the server has accepted it; until then nobody asks again. */
async function untilForgotten(email: string) {
  const waiting = sql`select from outgoing_mail where recipient = ${email}`
  while ((await api.db.row(waiting)) !== null) await new Promise(setImmediate)
}

const tokenIn = (text: string) => /#token=([\w-]{43})$/m.exec(text)?.[1] ?? ''

test('a sign-in answers as me/ does, and shows where each session comes from', async () => {
  const ann = await newPerson()
  const old = await signIn(ann, ann.password, 'Old phone')
  const now = await signIn(ann, ann.password, 'Firefox')
  const me = await api.call('/api/v1/me/', { headers: now.headers })
  assert.deepEqual(now.answer.json(), me.json())
  const list = await api.call('/api/v1/session/all/?limit=1', { headers: now.headers })
  const { data, next_cursor: cursor } = list.json<{ data: Session[]; next_cursor: string }>()
  const address = ann.from['x-forwarded-for']
  assert.equal(data.length, 1)
  assert.deepEqual(
    [data[0]?.user_agent, data[0]?.address, data[0]?.is_current],
    ['Firefox', address, true],
  )
  const rest = await api.call(`/api/v1/session/all/?cursor=${cursor}`, { headers: now.headers })
  const [other, ...more] = rest.json<{ data: Session[] }>().data
  assert.deepEqual([other?.user_agent, other?.is_current, more], ['Old phone', false, []])
  const path = `/api/v1/session/all/${other?.session_id}/`
  const theirs = await signIn(await newPerson(), 'a long password')
  const foreign = await api.call(path, { method: 'DELETE', headers: theirs.headers })
  assert.equal(foreign.status, 404)
  assert.equal((await api.call(path, { method: 'DELETE', headers: now.headers })).status, 200)
  assert.deepEqual([await isIn(old.headers), await isIn(now.headers)], [false, true])
})

interface Session {
  readonly session_id: number
  readonly user_agent: string
  readonly address: string
  readonly is_current: boolean
}

test('an API key changes neither the password nor the sessions of its user', async () => {
  const { key } = await newPerson()
  const body = { name: 'Ann' }
  const calls = [
    api.call('/api/v1/me/', { method: 'PATCH', key, body }),
    api.call('/api/v1/session/all/', { key }),
    api.call('/api/v1/session/all/1/', { method: 'DELETE', key }),
  ]
  for (const answer of await Promise.all(calls)) {
    assert.deepEqual([answer.status, answer.failure().code], [403, 4305])
  }
})

test('a new password needs the current one, and ends all other sessions', async () => {
  const bob = await newPerson()
  const [here, elsewhere] = [await signIn(bob, bob.password), await signIn(bob, bob.password)]
  const change = (body: object) =>
    api.call('/api/v1/me/', { method: 'PATCH', body, headers: here.headers })
  const password = 'an unusual sentence'
  const wrong: [body: object, field: string][] = [
    [{ password }, 'current_password'],
    [{ password, current_password: 'not this one' }, 'current_password'],
    [{ password: 'short', current_password: bob.password }, 'password'],
    [{ name: 'x'.repeat(101) }, 'name'],
  ]
  for (const [body, field] of wrong) {
    const answer = await change(body)
    assert.deepEqual([answer.status, answer.failure().fields], [400, [field]])
  }
  assert.equal((await change({ name: ' Bob ' })).entry().name, 'Bob')
  assert.equal(await isIn(elsewhere.headers), true, 'a name ends no session')
  assert.equal((await change({ password, current_password: bob.password })).status, 200)
  assert.deepEqual([await isIn(here.headers), await isIn(elsewhere.headers)], [true, false])
  assert.equal((await signIn(bob, password)).status, 200)
  const entry = await api.db.row(sql`
    select after from audit_entry where uid = ${bob.uid} order by audit_id desc limit 1`)
  assert.deepEqual(entry, { after: { name: 'Bob', password: 'changed' } })
})

test('a mailed link sets a new password once, and ends all sessions', async () => {
  const carl = await newPerson()
  const session = await signIn(carl, carl.password)
  assert.equal((await askReset(carl)).status, 202)
  const mail = await mailbox.next()
  assert.deepEqual([mail.to, mail.subject], [[carl.email], 'Choose a new password'])
  const token = tokenIn(mail.text)
  const refused = await setPassword(carl, token, 'password12')
  assert.deepEqual([refused.status, refused.failure().fields], [400, ['password']])
  const password = 'an unusual sentence'
  assert.equal((await setPassword(carl, token, password)).status, 200, 'the token is still there')
  assert.equal(await isIn(session.headers), false)
  assert.equal((await signIn(carl, carl.password)).status, 401)
  assert.equal((await signIn(carl, password)).status, 200)
  const again = await setPassword(carl, token, 'yet another sentence')
  assert.deepEqual([again.status, again.failure().fields], [400, ['token']])
  const audit = await api.db.rows(sql`select action from audit_entry where uid = ${carl.uid}`)
  assert.deepEqual(audit, [{ action: 'user.reset_password' }])
  assert.ok(!logLines.join('').includes(token))
})

test('a link for a new password expires after an hour', async (t) => {
  const dora = await newPerson()
  await askReset(dora)
  const token = tokenIn((await mailbox.next()).text)
  clock.aheadMs += 3_600_000
  t.after(() => {
    clock.aheadMs = 0
  })
  const late = await setPassword(dora, token, 'an unusual sentence')
  assert.deepEqual([late.status, late.failure().fields], [400, ['token']])
})

test('an unknown address gets the same answer, and nobody gets mail', async () => {
  const eve = await newPerson()
  const unknown = await askReset({ email: 'nobody@pub.example', from: eve.from })
  const known = await askReset(eve)
  assert.deepEqual([unknown.status, unknown.text], [known.status, known.text])
  assert.deepEqual((await mailbox.next()).to, [eve.email])
  assert.deepEqual(mailbox.waiting, [])
})

test('the mail goes to the address of the account, not to one that looks the same', async () => {
  const { from, email, uid } = await newPerson()
  await api.db.run(sql`update app_user set email = ${`i${email}`} where uid = ${uid}`)
  await askReset({ email: `İ${email}`, from })
  assert.deepEqual((await mailbox.next()).to, [`i${email}`])
})

test('one address asks five times at once, and three links are sent to one user', async () => {
  const { from, email, uid } = await newPerson()
  const statuses: number[] = []
  for (let asked = 0; asked < 3; asked += 1) {
    statuses.push((await askReset({ email, from })).status)
    assert.deepEqual((await mailbox.next()).to, [email])
    await untilForgotten(email)
  }
  const other = await newPerson()
  for (let asked = 0; asked < 3; asked += 1) {
    statuses.push((await askReset({ email, from })).status)
    await untilForgotten(email)
  }
  assert.deepEqual(statuses, [202, 202, 202, 202, 202, 429])
  await askReset(other)
  assert.deepEqual((await mailbox.next()).to, [other.email], 'no fourth one came before')
  const row = await api.db.row(sql`
    select count(*)::int as live from password_reset where uid = ${uid}`)
  assert.deepEqual(row, { live: 3 })
})

test('retries a mail that the server refused, with a new token', async () => {
  const finn = await newPerson()
  mailbox.refuses = true
  await askReset(finn)
  const failed = () => logLines.some((line) => line.includes('a mail was not sent'))
  while (!failed()) await new Promise(setImmediate)
  const live = await api.db.row(sql`
    select count(*)::int as live from password_reset where uid = ${finn.uid}`)
  assert.deepEqual(live, { live: 0 })
  mailbox.refuses = false
  const minute = sql`update outgoing_mail set due_at = due_at - interval '1 minute'`
  assert.equal(await api.db.run(minute), 1)
  await askReset(await newPerson()) // Starts the worker, as the next minute would.
  const mails = [await mailbox.next(), await mailbox.next()]
  assert.ok(mails.some(({ to }) => to[0] === finn.email))
})

test('a suspended user can neither sign in nor choose a new password', async () => {
  const gus = await newPerson()
  await api.db.run(sql`update app_user set is_suspended = true where uid = ${gus.uid}`)
  const { answer } = await signIn(gus, gus.password)
  assert.deepEqual([answer.status, answer.failure().code], [401, 4301])
  assert.match(answer.failure().message, /suspended/)
  assert.doesNotMatch((await signIn(gus, 'wrong password')).answer.text, /suspended/)
})
