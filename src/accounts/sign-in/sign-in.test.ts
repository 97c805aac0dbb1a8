import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase, untilWaiting } from '../../../test/support/database.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { changeUser, createUser } from '../create-account.ts'
import { logOut, requireSession } from '../session.ts'
import { findUserByEmail } from '../store.ts'
import { LoginLimits } from './login-limits.ts'
import { signIn } from './sign-in.ts'

const EMAIL = 'ann@example.com'
const OLD = 'the old password'
const NEW = 'the new password'

async function makeUser(t: TestContext) {
  const db = await testDatabase(t)
  const { uid } = await createUser(db, { email: EMAIL, password: OLD, isAdmin: false })
  return { db, uid }
}

/** The token of a new session; null for a refusal. */
async function enter(
  db: Db,
  { email = EMAIL, password, now = new Date() }: { email?: string; password: string; now?: Date },
): Promise<string | null> {
  const origin = { userAgent: 'Firefox', address: '192.0.2.1', now }
  const deps = { db, limits: new LoginLimits(() => now), baseUrl: 'https://souk.example' }
  const entering = signIn(deps, { credentials: { email, password }, origin })
  const signedIn = await entering.catch((error) => {
    assert.equal(error.code, 4301)
    return null
  })
  return signedIn?.kind === 'in' ? signedIn.token : null
}

const logInWith = (db: Db, password: string) => enter(db, { password })

async function countSessions(db: Db): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int from dashboard_session`)
  return row?.count ?? 0
}

test('a session lasts exactly a week', async (t) => {
  const { db, uid } = await makeUser(t)
  const startedAt = new Date('2026-03-02T10:00:00Z')
  const session = await enter(db, { password: OLD, now: startedAt })
  const userAt = (time: string) =>
    requireSession(db, { token: session ?? undefined, now: new Date(time) })
  assert.equal((await userAt('2026-03-09T09:59:59Z')).uid, uid)
  await assert.rejects(userAt('2026-03-09T10:00:00Z'), { status: 401, code: 4301 })
})

test('signing out ends this session only', async (t) => {
  const { db, uid } = await makeUser(t)
  const [here, elsewhere] = [await logInWith(db, OLD), await logInWith(db, OLD)]
  await logOut(db, here ?? undefined)
  const userOf = (token: string | null) =>
    requireSession(db, { token: token ?? undefined, now: new Date() })
  await assert.rejects(userOf(here), { code: 4301 })
  assert.equal((await userOf(elsewhere)).uid, uid)
})

test('a password that is changed during a sign-in starts no session', async (t) => {
  const { db, uid } = await makeUser(t)
  const changedMeanwhile: Db = {
    ...db,
    transaction: async (work) => {
      await changeUser(db, { uid, password: NEW })
      return db.transaction(work)
    },
  }
  assert.equal(await logInWith(changedMeanwhile, OLD), null)
  assert.equal(await countSessions(db), 0)
  assert.notEqual(await logInWith(db, NEW), null)
})

test('a new password or new rights of one user change no other user', async (t) => {
  const { db, uid } = await makeUser(t)
  const other = { email: 'bob@example.com', password: OLD }
  await createUser(db, { ...other, isAdmin: false })
  await enter(db, other)
  await changeUser(db, { uid, password: NEW, isAdmin: true })
  assert.equal(await countSessions(db), 1)
  assert.equal((await findUserByEmail(db, other.email))?.is_admin, false)
})

test('a new password also ends a session that starts at the same moment', async (t) => {
  const { db, uid } = await makeUser(t)
  let changing: Promise<unknown> = Promise.resolve()
  await db.transaction(async (tx) => {
    assert.notEqual(await logInWith(tx, OLD), null)
    changing = changeUser(db, { uid, password: NEW })
    await untilWaiting(db, changing)
  })
  await changing
  assert.equal(await countSessions(db), 0)
})
