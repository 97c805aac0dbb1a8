/** `souk doctor` without its database (one report, one wait), and without JetStream. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Scope, testDatabase } from '../../test/support/database.ts'
import { startNats } from '../../test/support/nats.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { readConfig } from '../node/config.ts'
import type { Storage } from '../node/open-storage.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { doctorCommand } from './doctor.ts'

async function examine(
  scope: Scope,
  storage: () => Promise<Storage>,
  env: Record<string, string> = {},
) {
  const dataDir = await temporaryFolder(scope, 'doctor ')
  return doctorCommand({
    config: readConfig({ SOUK_DATA: dataDir, DATABASE_URL: 'postgres://127.0.0.1:1', ...env }),
    database: async () => (await storage()).db,
    storage,
    now: () => new Date(),
    progress: () => undefined,
  })
}

/** Asserts that only the database check reports an unreachable database. */
async function assertReportedOnce(scope: Scope, storage: () => Promise<Storage>, fault: RegExp) {
  const { ok, checks } = await examine(scope, storage)
  assert.equal(ok, false)
  const [database, ...others] = checks.filter((check) => !check.ok)
  assert.match(database?.detail ?? '', fault)
  const repeated = others.filter(({ detail }) => detail !== 'not looked at: see database')
  assert.deepEqual(repeated, [])
}

test('the reason for an unreachable database is reported once', async (t) => {
  const away = () => Promise.reject(new Error('it cannot be started'))
  await assertReportedOnce(scopeOf(t), away, /^it cannot be started$/)
})

test("a database that none of its addresses reaches is reported with each one's error", async (t) => {
  const refused = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}`))
  const away = () => Promise.reject(new AggregateError(refused))
  await assertReportedOnce(scopeOf(t), away, /^connect ECONNREFUSED ::1; connect ECONNREFUSED 127/)
})

test('a silent database is waited for once, not by every check', async (t) => {
  const scope = scopeOf(t)
  const row = async () => assert.fail('it is waited for once more')
  const db: Database = { ...(await testDatabase(scope)), row }
  const connection = { host: '127.0.0.1', port: 1 }
  const storage = async () => ({ db, connection, close: async () => undefined })
  await assertReportedOnce(scope, storage, /ECONNREFUSED/)
})

test('a NATS server without JetStream is not reported as silent', async (t) => {
  const scope = scopeOf(t)
  const nats = await startNats(scope, { hasJetStream: false })
  const db = await testDatabase(scope)
  const storage = async () => ({ db, connection: db.connection, close: async () => undefined })
  const { checks } = await examine(scope, storage, { NATS_URL: nats.url })
  const { ok, detail } = checks.find(({ name }) => name === 'jetstream') ?? assert.fail()
  assert.equal(ok, false)
  assert.match(detail, /^NATS_URL: JetStream is away \(jetstream is not enabled\): /)
  assert.match(detail, /run with JetStream/)
})

test('a stream that a running server could not create is reported', async (t) => {
  const scope = scopeOf(t)
  const nats = await startNats(scope)
  const db = await testDatabase(scope)
  const storage = async () => ({ db, connection: db.connection, close: async () => undefined })
  const check = async () => {
    const { checks } = await examine(scope, storage, { NATS_URL: nats.url })
    return checks.find(({ name }) => name === 'jetstream')
  }
  assert.equal((await check())?.ok, true)
  await db.run(sql`insert into node (node_id, host, pid, roles) values (1, 'beside', 1, 'edge')`)
  const missed = await check()
  assert.equal(missed?.ok, false)
  assert.match(missed.detail, /^no stream, though a server runs: .*three servers/)
})
