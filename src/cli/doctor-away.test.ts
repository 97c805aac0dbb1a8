/** `souk doctor` without its database: told once, in its words, and waited for once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Scope, testDatabase } from '../../test/database.ts'
import { scopeOf } from '../../test/scope.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { readConfig } from '../config.ts'
import type { Storage } from '../open-storage.ts'
import type { Database } from '../platform/postgres.ts'
import { doctorCommand } from './doctor.ts'

/** Asserts that a database which is not there is told of by its own check alone. */
async function assertToldOnce(scope: Scope, storage: () => Promise<Storage>, told: RegExp) {
  const dataDir = await temporaryFolder(scope, 'doctor ')
  const { ok, checks } = await doctorCommand({
    config: readConfig({ SOUK_DATA: dataDir, DATABASE_URL: 'postgres://127.0.0.1:1' }),
    database: async () => (await storage()).db,
    storage,
    now: () => new Date(),
    progress: () => undefined,
  })
  assert.equal(ok, false)
  const [database, ...others] = checks.filter((check) => !check.ok)
  assert.match(database?.detail ?? '', told)
  const toldAgain = others.filter(({ detail }) => detail !== 'not looked at: see database')
  assert.deepEqual(toldAgain, [])
}

test('why the database is not to be reached is told once', async (t) => {
  const away = () => Promise.reject(new Error('it cannot be started'))
  await assertToldOnce(scopeOf(t), away, /^it cannot be started$/)
})

test('a database that does not answer is waited for once, and not by every check', async (t) => {
  const scope = scopeOf(t)
  const row = async () => assert.fail('it is waited for once more')
  const db: Database = { ...(await testDatabase(scope)), row }
  const connection = { host: '127.0.0.1', port: 1 }
  const storage = async () => ({ db, connection, close: async () => undefined })
  await assertToldOnce(scope, storage, /ECONNREFUSED/)
})
