import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { databaseUrl, testDatabase } from '../test/database.ts'
import { scopeOf } from '../test/scope.ts'
import { temporaryFolder } from '../test/temporary-folder.ts'
import { readConfig } from './config.ts'
import { openNode } from './node.ts'
import { makeLogger } from './platform/log.ts'

test('a start on a restored database without its sealing key says what is lost, and serves', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const dataDir = await temporaryFolder(scope, 'node ')
  const config = readConfig({
    SOUK_DATA: dataDir,
    DATABASE_URL: databaseUrl(database.connection),
  })
  const lines: string[] = []
  const log = makeLogger({ level: 'warn', stream: { write: (line) => void lines.push(line) } })
  const start = async () => (await openNode(config, { log })).close()
  await start()
  await start()
  assert.deepEqual(lines, [])
  await rm(join(dataDir, 'secrets'), { recursive: true })
  await start()
  assert.match(lines.join(''), /"level":40,.*not paid.*Restore secrets\/ of SOUK_DATA/)
})
