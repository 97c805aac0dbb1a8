import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Api, BASE_URL, startApi } from '../../../test/support/api.ts'
import { CLIENT, startIdentityProvider } from '../../../test/support/identity-provider.ts'
import { sql } from '../../platform/postgres/sql.ts'

const provider = await startIdentityProvider({ after })
provider.allow(`${BASE_URL}/api/v1/session/oidc/callback/`)
const OIDC = {
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: CLIENT.id,
  OIDC_CLIENT_SECRET: CLIENT.secret,
}
const api = await startApi({ after }, { env: OIDC })

interface Visit {
  readonly location: string
  readonly cookies: readonly string[]
}

async function visit(url: string, cookie = '', service: Api = api): Promise<Visit> {
  const path = url.replace(BASE_URL, service.url)
  const response = await fetch(path, { redirect: 'manual', headers: { cookie } })
  assert.equal(response.status, 302, await response.text())
  const location = response.headers.get('location') ?? ''
  return { location, cookies: response.headers.getSetCookie() }
}

const cookieOf = ({ cookies }: Visit, name: string) =>
  cookies.find((line) => line.startsWith(`${name}=`))?.split(';', 1)[0] ?? ''

/** Leaves for the provider; returns the way back and the cookie that belongs to it. */
async function leave() {
  const started = await visit(`${BASE_URL}/api/v1/session/oidc/`)
  const cookie = cookieOf(started, '__Host-souk_oidc')
  return { started, cookie, back: await provider.signInAt(started.location) }
}

async function signInAs(email: string, isVerified = true): Promise<Visit> {
  provider.person = { email, isVerified }
  const { back, cookie } = await leave()
  return visit(back, cookie)
}

test('the provider signs in the user with its verified address, with PKCE', async () => {
  const { email, uid } = await api.account()
  provider.person = { email: email.toUpperCase(), isVerified: true }
  const { started, back, cookie } = await leave()
  const asked = new URL(started.location).searchParams
  assert.deepEqual(
    ['response_type', 'code_challenge_method', 'redirect_uri'].map((name) => asked.get(name)),
    ['code', 'S256', `${BASE_URL}/api/v1/session/oidc/callback/`],
  )
  assert.match(started.cookies[0] ?? '', /; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
  const done = await visit(back, cookie)
  assert.equal(done.location, '/dashboard/')
  const session = cookieOf(done, '__Host-souk_session')
  const me = await api.call('/api/v1/me/', { headers: { cookie: session } })
  assert.equal(me.entry().uid, uid)
  assert.match(done.cookies.join('\n'), /^__Host-souk_oidc=; Max-Age=0/m)
  const again = await visit(back, cookie)
  assert.equal(again.location, '/dashboard/?sign_in=failed', 'an answer counts once')
})

test('nobody is signed in with an unverified, unknown, similar or suspended address', async () => {
  const { email, uid } = await api.account()
  assert.equal((await signInAs(email, false)).location, '/dashboard/?sign_in=unverified')
  for (const unknown of ['nobody@pub.example', email.replace('@', '@İ')]) {
    const refused = await signInAs(unknown)
    assert.equal(refused.location, '/dashboard/?sign_in=unknown')
    assert.equal(cookieOf(refused, '__Host-souk_session'), '')
  }
  await api.db.run(sql`update app_user set email = ${`i${email}`} where uid = ${uid}`)
  assert.equal((await signInAs(`İ${email}`)).location, '/dashboard/?sign_in=unknown')
  await api.db.run(sql`update app_user set is_suspended = true where uid = ${uid}`)
  assert.equal((await signInAs(`i${email}`)).location, '/dashboard/?sign_in=unknown')
})

test('an answer counts only in the browser that left for it', async () => {
  const { email } = await api.account()
  provider.person = { email, isVerified: true }
  const [mine, theirs] = [await leave(), await leave()]
  for (const cookie of ['', theirs.cookie, '__Host-souk_oidc=nonsense']) {
    assert.equal((await visit(mine.back, cookie)).location, '/dashboard/?sign_in=failed')
  }
})

test('without a provider there is no such way; with a required one there are no passwords', async (t) => {
  const ways = async (service: Api) => (await service.call('/api/v1/session/')).entry()
  const plain = await startApi(t)
  assert.equal((await plain.call('/api/v1/session/oidc/')).status, 404)
  assert.deepEqual(await ways(plain), { password: true, password_reset: false, oidc: false })

  const strict = await startApi(t, { env: { ...OIDC, OIDC_REQUIRED: 'on' } })
  assert.deepEqual(await ways(strict), { password: false, password_reset: false, oidc: true })
  const { email, password } = await strict.account()
  for (const [path, body] of [
    ['', { email, password }],
    ['password_reset/', { email }],
    ['password/', { token: 'any', password: 'an unusual sentence' }],
  ] as const) {
    const answer = await strict.call(`/api/v1/session/${path}`, { body })
    assert.deepEqual([answer.status, answer.failure().code], [409, 4091], path)
  }
})

test('with a required provider, an invitation is accepted by its sign-in', async (t) => {
  const strict = await startApi(t, { env: { ...OIDC, OIDC_REQUIRED: 'on' } })
  const { key, pubId } = await strict.account()
  const invite = async (email: string) => {
    const path = `/api/v1/publishers/${pubId}/invitations/`
    const answer = await strict.call(path, { key, body: { email, role: 'viewer' } })
    return (
      String(answer.entry().accept_url)
        .split('/')
        .findLast((part) => part !== '') ?? ''
    )
  }
  const token = await invite('new@pub.example')
  const path = `/api/v1/invitations/${token}/`
  const body = { name: 'New', password: 'an unusual sentence' }
  const refused = await strict.call(`${path}accept/`, { body })
  assert.deepEqual([refused.status, refused.failure().code], [409, 4091])
  assert.match(refused.failure().message, /signs in through an identity provider/)

  const arrive = async (email: string) => {
    provider.person = { email, isVerified: true }
    const signIn = String((await strict.call(path)).entry().sign_in_url)
    const started = await visit(signIn, '', strict)
    const back = await provider.signInAt(started.location)
    return visit(back, cookieOf(started, '__Host-souk_oidc'), strict)
  }
  assert.equal((await arrive('other@pub.example')).location, '/dashboard/?sign_in=unknown')
  const done = await arrive('New@pub.example')
  assert.equal(done.location, '/dashboard/')
  const headers = { cookie: cookieOf(done, '__Host-souk_session') }
  const [membership] = (await strict.call('/api/v1/me/', { headers })).entry().memberships as {
    role: string
  }[]
  assert.equal(membership?.role, 'viewer')
})

test('a provider that cannot be reached says so, and is asked again later', async (t) => {
  const away = await startApi(t, { env: { ...OIDC, OIDC_ISSUER: 'http://127.0.0.1:9' } })
  const { location } = await visit(`${BASE_URL}/api/v1/session/oidc/`, '', away)
  assert.equal(location, '/dashboard/?sign_in=failed')
})
