/** An installation for `souk doctor` to examine, with its own clock and data folder. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { doctorCommand } from '../../src/cli/doctor.ts'
import { readConfig } from '../../src/node/config.ts'
import { testDatabase } from './database.ts'
import { scopeOf } from './scope.ts'
import { temporaryFolder } from './temporary-folder.ts'

export async function makeInstallation(t: TestContext, env: Record<string, string> = {}) {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  const dataDir = await temporaryFolder(scope, 'doctor ')
  const now = { ms: Date.now() }
  const openings: unknown[] = []
  const context = {
    config: readConfig({ SOUK_DATA: dataDir, DATABASE_URL: 'postgres://here', ...env }),
    database: async () => db,
    storage: async (options?: { statementTimeoutMs: number }) => {
      openings.push(options)
      return { db, connection: db.connection, close: async () => undefined }
    },
    now: () => new Date(now.ms),
    progress: () => undefined,
  }
  const check = async (name: string) => {
    const { ok, checks } = await doctorCommand(context)
    assert.equal(
      ok,
      checks.every((one) => one.ok),
    )
    return checks.find((one) => one.name === name) ?? assert.fail(name)
  }
  const write = (path: string, mode = 0o600) => {
    const file = join(dataDir, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, 'x', { mode })
    return file
  }
  return { scope, db, dataDir, now, openings, check, write }
}
