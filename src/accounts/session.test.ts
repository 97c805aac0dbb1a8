import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase, untilWaiting } from '../../test/support/database.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { changeUser, createUser } from './create-account.ts'
import { logIn, logOut, requireOwnOrigin, requireSession } from './session.ts'

const EMAIL = 'ann@example.com'
const OLD = 'the old password'
const NEW = 'the new password'

async function makeUser(t: TestContext) {
  const db = await testDatabase(t)
  const { uid } = await createUser(db, { email: EMAIL, password: OLD, isAdmin: false })
  return { db, uid }
}

const logInWith = (db: Db, password: string) =>
  logIn(db, { email: EMAIL, password, now: new Date() })

async function countSessions(db: Db): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int from dashboard_session`)
  return row?.count ?? 0
}

test("a change must come from the dashboard's own pages, or from no browser, as JSON", () => {
  const codeOf = (headers: Record<string, string>, method = 'POST') => {
    try {
      requireOwnOrigin({ method, headers }, 'https://souk.example/base')
      return null
    } catch (error) {
      return (error as { code: number }).code
    }
  }
  const json = { 'content-type': 'application/json' }
  for (const headers of [
    {},
    { 'content-length': '0' },
    json,
    { 'content-type': 'Application/JSON ; charset=utf-8', 'content-length': '2' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://souk.example' },
    { origin: 'https://souk.example' },
  ]) {
    assert.equal(codeOf(headers), null, JSON.stringify(headers))
  }
  for (const site of ['cross-site', 'same-site', 'none', '']) {
    assert.equal(codeOf({ ...json, 'sec-fetch-site': site }), 4309, site)
  }
  for (const origin of ['null', 'https://souk.example.evil', 'http://souk.example', '']) {
    assert.equal(codeOf({ ...json, origin }), 4309, origin)
  }
  for (const headers of [
    { 'content-length': '1' },
    { 'transfer-encoding': 'chunked' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/jsonx', 'content-length': '1' },
    { 'content-type': 'text/plain; application/json', 'content-length': '1' },
  ]) {
    assert.equal(codeOf(headers), 4150, JSON.stringify(headers))
  }
  const foreign = { origin: 'https://evil.example' }
  for (const method of ['PUT', 'PATCH', 'DELETE']) assert.equal(codeOf(foreign, method), 4309)
  for (const method of ['GET', 'HEAD']) assert.equal(codeOf(foreign, method), null)
})

test('a session lasts exactly a week', async (t) => {
  const { db, uid } = await makeUser(t)
  const begun = new Date('2026-03-02T10:00:00Z')
  const session = await logIn(db, { email: EMAIL, password: OLD, now: begun })
  const userAt = (time: string) =>
    requireSession(db, { token: session?.token, now: new Date(time) })
  assert.equal((await userAt('2026-03-09T09:59:59Z')).uid, uid)
  await assert.rejects(userAt('2026-03-09T10:00:00Z'), { status: 401, code: 4301 })
})

test('signing out ends this session only', async (t) => {
  const { db, uid } = await makeUser(t)
  const [here, elsewhere] = [await logInWith(db, OLD), await logInWith(db, OLD)]
  await logOut(db, here?.token)
  const userOf = (token: string | undefined) => requireSession(db, { token, now: new Date() })
  await assert.rejects(userOf(here?.token), { code: 4301 })
  assert.equal((await userOf(elsewhere?.token)).uid, uid)
})

test('a password that is changed during a sign-in starts no session', async (t) => {
  const { db, uid } = await makeUser(t)
  const changedMeanwhile: Db = {
    ...db,
    run: async (statement) => {
      await changeUser(db, { uid, password: NEW })
      return db.run(statement)
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
  await logIn(db, { ...other, now: new Date() })
  await changeUser(db, { uid, password: NEW, isAdmin: true })
  assert.equal(await countSessions(db), 1)
  const again = await logIn(db, { ...other, now: new Date() })
  assert.equal(again?.user.is_admin, false)
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
