import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { databaseUrl, testDatabase } from '../../test/support/database.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { readInstallation, spoolOwner } from '../platform/postgres/node-registry.ts'
import { sql } from '../platform/postgres/sql.ts'
import { makeLogger } from '../platform/process/log.ts'
import { openSpool } from '../platform/spool/spool.ts'
import { readConfig } from './config.ts'
import { spoolFolder } from './data-folder.ts'
import { openNode } from './node.ts'

test('a start on a restored database without its sealing key explains the loss, and serves', async (t) => {
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

test('a node with a wrong clock reports by how much', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const config = readConfig({
    SOUK_DATA: await temporaryFolder(scope, 'node '),
    DATABASE_URL: databaseUrl(database.connection),
  })
  for (const [offMs, said] of [
    [3_600_000, /clock is 3600 s ahead of the database’s/],
    [-90_000, /clock is 90 s behind the database’s/],
  ] as const) {
    const lines: string[] = []
    const log = makeLogger({ level: 'warn', stream: { write: (line) => void lines.push(line) } })
    const node = await openNode(config, { log, now: () => Date.now() + offMs })
    await node.close()
    assert.match(lines.join(''), said)
  }
})

/** The spool of a process that died, below SOUK_DATA, of this database or of another. */
async function makeLeftSpool(t: TestContext, { isOurs }: { isOurs: boolean }) {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const config = readConfig({
    SOUK_DATA: await temporaryFolder(scope, 'node '),
    DATABASE_URL: databaseUrl(database.connection),
  })
  const open = () => openSpool({ root: spoolFolder(config), bytesMax: 1000, onDamage: assert.fail })
  const installation = isOurs ? await readInstallation(database) : randomUUID()
  const dead = await open()
  await dead.recordOwner(spoolOwner({ nodeId: 7, incarnation: '1' }, installation))
  await dead.append([Buffer.from('left behind')])
  await dead.close()
  return { database, config, open }
}

test('a start without a node number leaves the spools of dead processes to the next one', async (t) => {
  const { database, config, open } = await makeLeftSpool(t, { isOurs: true })
  await database.run(sql`
    insert into node (node_id, host, pid, roles)
    select number, 'elsewhere', 1, 'edge' from generate_series(1, 1023) as number`)
  await assert.rejects(openNode(config, { log: makeLogger({ level: 'error' }) }), /1023/)
  const next = await open()
  const found: string[] = []
  await next.drain({ write: async (records) => void found.push(...records.map(String)) })
  await next.close()
  assert.deepEqual(found, ['left behind'])
})

test('events in the spool of another database are not imported into this one', async (t) => {
  const { config, open } = await makeLeftSpool(t, { isOurs: false })
  const log = makeLogger({ level: 'silent' })
  for (const _ of ['first start', 'next start']) {
    // Otherwise a failure would hang.
    const start = openNode(config, { log }).then((node) => node.close())
    await assert.rejects(start, /spool holds events of another database/)
  }
  const next = await open()
  assert.ok(next.bytes() > 0)
  await next.close()
})
