/**
 * A promised event is in the log once, after a kill of the database, the process, or both. Real
 * processes, real signals, fsync on.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts'
import { migrate } from '../../src/platform/postgres/migrate.ts'
import {
  type Connection,
  type Database,
  openDatabase,
} from '../../src/platform/postgres/postgres.ts'
import { runningPid } from '../../src/platform/postgres/postgres-cluster.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { makeLogger } from '../../src/platform/process/log.ts'
import { scopeOf } from '../support/scope.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const APPENDER = join(import.meta.dirname, 'append-until-killed.ts')
const MIGRATIONS = join(import.meta.dirname, '../../migrations')
const POLL_MS = 20

interface Appender {
  /** Ids whose append had resolved before the process died. */
  readonly promised: string[]
  readonly drained: string[]
  /** Until it has promised this many more. */
  more(count: number): Promise<void>
  kill(): Promise<void>
}

interface World {
  readonly db: Database
  readonly spoolRoot: string
  start(nodeId: number, connection?: Connection): Appender
  /** Kills the database with all its processes; its keeper restarts it. */
  killDatabase(): Promise<void>
}

async function makeWorld(t: TestContext): Promise<World> {
  const scope = scopeOf(t)
  const dataDir = await temporaryFolder(scope, 'souk-crash-')
  const server = await openEmbeddedPostgres({ dataDir, log: makeLogger({ level: 'silent' }) })
  scope.after(() => server.close())
  await migrate(server.connection, MIGRATIONS)
  const db = openDatabase({ connection: server.connection, applicationName: 'souk: test' })
  scope.after(() => db.close())
  const spoolRoot = join(dataDir, 'spool')
  return {
    db,
    spoolRoot,
    start(nodeId, connection = server.connection) {
      const appender = startAppender([JSON.stringify(connection), spoolRoot, String(nodeId)])
      scope.after(() => appender.kill())
      return appender
    },
    async killDatabase() {
      // Backends of a killed server answer a moment longer, so the next server may not run yet.
      let pid = await runningPid(join(dataDir, 'postgres'))
      while (pid === null) {
        await sleep(POLL_MS)
        pid = await runningPid(join(dataDir, 'postgres'))
      }
      process.kill(pid, 'SIGKILL')
    },
  }
}

function startAppender(args: readonly string[]): Appender {
  const child = spawn(process.execPath, [APPENDER, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const promised: string[] = []
  const drained: string[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    const owner = /^drained (.*)$/.exec(line)?.[1]
    if (owner === undefined) promised.push(line)
    else drained.push(owner)
  })
  const closed = once(lines, 'close')
  return {
    promised,
    drained,
    async more(count) {
      const wanted = promised.length + count
      while (promised.length < wanted) {
        assert(isRunning(child), 'the appender ended by itself')
        await sleep(POLL_MS)
      }
    },
    async kill() {
      if (isRunning(child)) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await closed
    },
  }
}

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null

/** Every promised id is in the log; the primary key excludes duplicates. */
async function assertKept(db: Database, promised: readonly string[]): Promise<void> {
  const rows = await db.rows<{ id: string; seqs: number }>(sql`
    select id, count(distinct seq)::int as seqs from event group by id`)
  const stored = new Set(rows.map(({ id }) => id))
  assert.deepEqual(
    promised.filter((id) => !stored.has(id)),
    [],
  )
  assert(rows.every(({ seqs }) => seqs === 1))
}

/** Until the keeper has restarted the killed database and it has recovered. */
async function untilBack(db: Database): Promise<void> {
  while ((await db.row(sql`select 1`).catch(() => null)) === null) await sleep(POLL_MS)
}

/** Until the process has drained every spool: its own, and those of dead ones. */
async function untilDrained(appender: Appender, owners: readonly string[]): Promise<void> {
  while (!owners.every((owner) => appender.drained.includes(owner))) await sleep(POLL_MS)
}

test('a database that is killed repeatedly loses nothing that was promised', async (t) => {
  const { db, start, killDatabase } = await makeWorld(t)
  const appender = start(1)
  for (let kill = 0; kill < 3; kill += 1) {
    await appender.more(500)
    await killDatabase()
    await appender.more(500) // While it is down, and while it recovers.
    await untilBack(db)
  }
  await appender.more(500)
  await appender.kill()

  const next = start(2)
  await untilDrained(next, ['1'])
  await next.kill()
  await assertKept(db, appender.promised)
})

test("a killed process's spool is adopted by the next one and reaches the log", async (t) => {
  const { db, start } = await makeWorld(t)
  const nowhere = { host: '127.0.0.1', port: 1, user: 'souk', database: 'souk' }
  const cutOff = [start(1, nowhere), start(2, nowhere)]
  await Promise.all(cutOff.map((appender) => appender.more(2_000)))
  await Promise.all(cutOff.map((appender) => appender.kill()))
  assert.deepEqual(await db.row(sql`select count(*)::int as n from event`), { n: 0 })

  const next = start(3)
  await untilDrained(next, ['1', '2'])
  await next.kill()
  await assertKept(
    db,
    cutOff.flatMap(({ promised }) => promised),
  )
})

test('processes and database killed at any moment lose nothing that was promised', async (t) => {
  const { db, start, killDatabase } = await makeWorld(t)
  const dead: Appender[] = []
  for (let round = 0; round < 4; round += 1) {
    const nodeIds = [1 + 2 * round, 2 + 2 * round]
    const appenders = nodeIds.map((nodeId) => start(nodeId))
    await Promise.all(appenders.map((appender) => appender.more(50 * (round + 1))))
    if (round % 2 === 1) await killDatabase()
    await Promise.all(appenders.map((appender) => appender.kill()))
    dead.push(...appenders)
  }
  const last = start(99)
  const alreadyDrained = new Set(dead.flatMap(({ drained }) => drained))
  const owners = dead.map((_, index) => String(index + 1))
  await untilDrained(
    last,
    owners.filter((owner) => !alreadyDrained.has(owner)),
  )
  await last.kill()
  await untilBack(db) // A lone survivor's spool is found empty without a database.
  await assertKept(
    db,
    dead.flatMap(({ promised }) => promised),
  )
})
