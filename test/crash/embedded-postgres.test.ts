/**
 * The embedded PostgreSQL under everything that can happen to it: processes killed or started at
 * once, run as root and as other users, in folders of every kind. Real processes, real signals.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type EmbeddedPostgresOptions,
  openEmbeddedPostgres,
} from '../../src/platform/postgres/embedded-postgres.ts'
import {
  type Connection,
  type Database,
  isUnreachable,
  openDatabase,
} from '../../src/platform/postgres/postgres.ts'
import { NOBODY } from '../../src/platform/postgres/postgres-binaries.ts'
import { runningPid } from '../../src/platform/postgres/postgres-cluster.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { makeLogger } from '../../src/platform/process/log.ts'
import { ownMs } from '../support/process-time.ts'
import { AS_NOBODY, whereNobodyCanRun } from './other-users.ts'

const USER_PROGRAM = join(import.meta.dirname, 'postgres-user.ts')
const BACK_WITHIN_MS = 3_000
const POLL_MS = 20
const IS_ROOT = process.getuid?.() === 0
const children: ChildProcess[] = []

type Options = Omit<EmbeddedPostgresOptions, 'log'>

// Nothing here outlives a crash of the machine, and fsync on a busy disk would take most of the
// time.
const QUICK = { fsync: 'off' }

interface User {
  readonly child: ChildProcess
  readonly connection: Connection
  leave(): Promise<void>
  kill(): Promise<void>
}

test('a server killed with kill -9 serves again within 3 s, with everything committed', async (t) => {
  const dataDir = await folder(t, 'a path with  spaces')
  const user = await startUser({ dataDir })
  const db = open(t, user)
  await db.run(sql`create table kept (n int)`)
  for (const n of [1, 2, 3]) {
    await db.run(sql`insert into kept values (${n})`)
    const before = await startedAt(db)
    process.kill(await serverPid(dataDir), 'SIGKILL')
    await untilBack(db, before)
    assert.deepEqual(await db.row(sql`select count(*)::int as n from kept`), { n })
  }
  await user.leave()
})

test('it is back within 3 s even while a query of the killed server is still computing', async (t) => {
  const dataDir = await folder(t)
  const user = await startUser({ dataDir })
  const db = open(t, user)
  const before = await startedAt(db)
  const computing = db.run(sql`select count(*) from generate_series(1, 1e9::bigint)`)
  const lost = assert.rejects(computing, (error) => isUnreachable(error))
  const isComputing = sql`select from pg_stat_activity where query ~ '1e9' and state = 'active'`
  while ((await db.rows(isComputing)).length < 2) await sleep(POLL_MS)
  process.kill(await serverPid(dataDir), 'SIGKILL')
  await untilBack(db, before)
  await lost
  await user.leave()
})

test('after a kill -9 of the owner, the next process finds the server running and adopts it', async (t) => {
  const dataDir = await folder(t)
  const first = await startUser({ dataDir })
  const pid = await serverPid(dataDir)
  await first.kill()
  const second = await startUser({ dataDir })
  assert.equal(await serverPid(dataDir), pid)
  await second.leave()
  assert.equal(await runningPid(join(dataDir, 'postgres')), null)
})

test('after a kill -9 of owner and server it starts, even if another program has the pid now', async (t) => {
  const dataDir = await folder(t)
  const first = await startUser({ dataDir })
  const pid = await serverPid(dataDir)
  await first.kill()
  process.kill(pid, 'SIGKILL')
  const lock = join(dataDir, 'postgres/postmaster.pid')
  const [, ...rest] = (await readFile(lock, 'utf8')).split('\n')
  await writeFile(lock, [process.pid, ...rest].join('\n'))
  const second = await startUser({ dataDir })
  await second.leave()
})

test('the server stays while one of its users is left, and stops with the last', async (t) => {
  const dataDir = await folder(t)
  const users = [await startUser({ dataDir }), await startUser({ dataDir })] as const
  const pid = await serverPid(dataDir)
  await users[0].leave()
  assert.equal(await serverPid(dataDir), pid)
  assert.ok(await isServing(open(t, users[1])))
  await users[1].leave()
  assert.equal(await runningPid(join(dataDir, 'postgres')), null)
})

test('a killed user does not keep the server from stopping with the last one', async (t) => {
  const dataDir = await folder(t)
  const [first, second] = [await startUser({ dataDir }), await startUser({ dataDir })]
  await first.kill()
  await second.leave()
  assert.equal(await runningPid(join(dataDir, 'postgres')), null)
})

test('processes that start at once in an empty folder share one server', async (t) => {
  const dataDir = await folder(t)
  const users = await Promise.all([1, 2, 3, 4].map(() => startUser({ dataDir })))
  for (const user of users) assert.ok(await isServing(open(t, user)))
  await Promise.all(users.map((user) => user.leave()))
  assert.equal(await runningPid(join(dataDir, 'postgres')), null)
})

test('users that come and go at the same moments never meet a stopping server', async (t) => {
  const dataDir = await folder(t)
  const comeAndGo = async () => {
    for (let round = 0; round < 4; round += 1) {
      const user = await startUser({ dataDir })
      assert.ok(await isServing(open(t, user)))
      await user.leave()
    }
  }
  await Promise.all([comeAndGo(), comeAndGo(), comeAndGo()])
  assert.equal(await runningPid(join(dataDir, 'postgres')), null)
})

test('a folder far longer than a socket path works', async (t) => {
  const dataDir = await folder(t, join('deep'.repeat(20), 'deeper'.repeat(20)))
  const user = await startUser({ dataDir })
  assert.ok(await isServing(open(t, user)))
  await user.leave()
})

test('SOUK_DATA is created for its owner alone', async (t) => {
  const dataDir = await folder(t)
  const user = await startUser({ dataDir })
  assert.equal((await stat(dataDir)).mode & 0o777, 0o700)
  await user.leave()
})

test('over TCP, as on Windows, nobody gets in without the stored password', async (t) => {
  const dataDir = await folder(t)
  const user = await startUser({ dataDir, transport: 'tcp' })
  assert.equal(user.connection.host, '127.0.0.1')
  assert.ok(await isServing(open(t, user)))
  const stranger = openDatabase({
    connection: { ...user.connection, password: 'a guess' },
    applicationName: 'stranger',
  })
  await assert.rejects(stranger.row(sql`select 1`), /password authentication failed/)
  await stranger.close()
  await user.leave()

  // Another program takes the port while nobody uses it.
  const taker = createServer().listen(user.connection.port, '127.0.0.1')
  t.after(() => taker.close())
  await once(taker, 'listening')
  const next = await startUser({ dataDir, transport: 'tcp' })
  assert.notEqual(next.connection.port, user.connection.port)
  assert.ok(await isServing(open(t, next)))
  await next.leave()
})

test(
  'as root without user namespaces it runs as nobody, below a folder closed to others',
  whereNobodyCanRun,
  async (t) => {
    const home = await folder(t)
    await mkdir(home, { mode: 0o700 })
    const dataDir = join(home, 'data')
    const runAs = { kind: 'user', ...AS_NOBODY } as const
    const user = await startUser({ dataDir, runAs })
    assert.equal((await stat(join(dataDir, 'postgres'))).uid, NOBODY)
    assert.ok(await isServing(open(t, user)))
    await user.leave()

    // The files' owner is the record: the next start uses the same way by itself.
    const next = await startUser({ dataDir })
    assert.ok(await isServing(open(t, next)))
    await next.leave()
  },
)

test(
  'as root in a user namespace it runs below a folder that is closed to it',
  whereNobodyCanRun,
  async (t) => {
    const home = await folder(t)
    await mkdir(home, { mode: 0o700 })
    await chown(home, NOBODY, NOBODY)
    const user = await startUser({ dataDir: join(home, 'data'), runAs: { kind: 'namespace' } })
    assert.ok(await isServing(open(t, user)))
    await user.leave()
  },
)

test(
  "root's cluster, moved to a system without user namespaces, is handed to nobody",
  whereNobodyCanRun,
  async (t) => {
    const dataDir = await folder(t)
    const before = await startUser({ dataDir, runAs: { kind: 'namespace' } })
    await before.leave()
    const runAs = { kind: 'user', ...AS_NOBODY } as const
    const after = await startUser({ dataDir, runAs })
    assert.ok(await isServing(open(t, after)))
    await after.leave()
  },
)

test('a slow disk for a new cluster is waited for, also by other processes', {
  skip: !IS_ROOT || process.platform !== 'linux',
}, async (t) => {
  const dataDir = await folder(t)
  const slow = join(dirname(dataDir), 'unshare')
  const script = 'case "$*" in *initdb*) sleep 5;; esac; PATH=$BEFORE exec unshare "$@"'
  await writeFile(slow, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const { PATH = '' } = process.env
  const env = { ...process.env, PATH: `${dirname(slow)}:${PATH}`, BEFORE: PATH }
  const start = () =>
    startUser({ dataDir, runAs: { kind: 'namespace' }, answerTimeoutMs: 4_000 }, { env })
  const users = await Promise.all([start(), start()])
  for (const user of users) assert.ok(await isServing(open(t, user)))
  for (const user of users) await user.leave()
})

test('a clock jump during the start does not shorten its timeout', async (t) => {
  const dataDir = await folder(t)
  const clock = join(dirname(dataDir), 'clock.mjs')
  await writeFile(clock, 'const { now } = Date; let h = 0; Date.now = () => now() + 3.6e6 * h++')
  const env = { ...process.env, NODE_OPTIONS: `--import=${clock}` }
  const user = await startUser({ dataDir }, { env })
  assert.ok(await isServing(open(t, user)))
  await user.leave()
  assert.equal(await runningPid(join(dataDir, 'postgres')), null)
})

test('a server that never answers is stopped by the process that gives up on it', async (t) => {
  const dataDir = await folder(t)
  // Nobody looks for the socket there.
  const settings = { ...QUICK, unix_socket_directories: 'base' }
  await assert.rejects(startUser({ dataDir, settings, answerTimeoutMs: 1_000 }), /it ended with/)
  assert.equal(await runningPid(join(dataDir, 'postgres')), null)
})

test('a process that exits without leaving stops a server that nobody else uses', {
  skip: process.platform === 'win32',
}, async (t) => {
  const dataDir = await folder(t)
  const [user, other] = [await startUser({ dataDir }), await startUser({ dataDir })]
  user.child.kill('SIGUSR2')
  await once(user.child, 'exit')
  assert.ok(await isServing(open(t, other)))
  other.child.kill('SIGUSR2')
  await untilStopped(dataDir)
})

test('a running server that refuses connections is not reported as not starting', async (t) => {
  const dataDir = await folder(t)
  const settings = { ...QUICK, max_connections: '4', superuser_reserved_connections: '0' }
  const user = await startUser({ dataDir, settings })
  const db = open(t, user)
  const held = await Promise.all(Array.from({ length: 3 }, () => db.reserve()))
  const log = makeLogger({ level: 'silent' })
  await assert.rejects(
    openEmbeddedPostgres({ dataDir, log, settings, answerTimeoutMs: 500 }),
    /^Refusal: PostgreSQL lets nobody in: sorry, too many clients already$/,
  )
  for (const connection of held) connection.release()
  await user.leave()
})

test('a server in which nothing can be created is left and stopped', async (t) => {
  const dataDir = await folder(t)
  const settings = { ...QUICK, default_transaction_read_only: 'on' }
  await assert.rejects(startUser({ dataDir, settings }), /it ended with/)
  assert.equal(await runningPid(join(dataDir, 'postgres')), null)
})

test('an ordinary user runs it as itself', whereNobodyCanRun, async (t) => {
  const home = await folder(t)
  await mkdir(home, { mode: 0o700 })
  await chown(home, NOBODY, NOBODY)
  const user = await startUser({ dataDir: join(home, 'data') }, AS_NOBODY)
  assert.equal((await stat(join(home, 'data/postgres'))).uid, NOBODY)
  assert.ok(await isServing(open(t, user)))
  await user.leave()
})

async function folder(t: TestContext, name = 'data'): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'souk-crash-'))
  // Readable by the users that the tests run programs as.
  const dataDir = join(parent, name)
  await chmod(parent, 0o755)
  if (IS_ROOT) await chown(parent, NOBODY, NOBODY)
  t.after(async () => {
    // In this order, because a live user would restart the server.
    for (const child of children.splice(0)) child.kill('SIGKILL')
    const pid = await runningPid(join(dataDir, 'postgres'))
    if (pid !== null) process.kill(pid, 'SIGKILL')
    await rm(parent, { recursive: true, force: true })
  })
  return dataDir
}

async function startUser(
  options: Options,
  identity: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<User> {
  const child = spawn(
    process.execPath,
    [USER_PROGRAM, JSON.stringify({ settings: QUICK, ...options })],
    {
      ...identity,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  children.push(child)
  const exited = once(child, 'exit')
  const { stdout } = child
  assert.ok(stdout)
  const firstLine = once(createInterface(stdout), 'line')
  const [line] = await Promise.race([firstLine, exited])
  assert.equal(typeof line, 'string', `it ended with ${line} before it was in`)
  return {
    child,
    connection: JSON.parse(line),
    leave: async () => {
      child.kill('SIGTERM')
      assert.deepEqual(await exited, [0, null])
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function open(t: TestContext, { connection }: User): Database {
  const db = openDatabase({ connection, applicationName: 'crash test' })
  t.after(() => db.close())
  return db
}

async function isServing(db: Database): Promise<boolean> {
  return (await startedAt(db)) !== null
}

/** Until a server that started after `before` answers; fails if that takes too long. */
async function untilBack(db: Database, before: number | null): Promise<void> {
  const killedAt = ownMs()
  for (let now = before; now === null || now === before; now = await startedAt(db)) {
    assert.ok(ownMs() - killedAt < BACK_WITHIN_MS, 'it is still away')
    await sleep(POLL_MS)
  }
}

/** When the server started; null if it does not answer. */
async function startedAt(db: Database): Promise<number | null> {
  const query = sql`select pg_postmaster_start_time() as at`
  const row = await db.row<{ at: Date }>(query).catch(() => null)
  return row?.at.getTime() ?? null
}

async function untilStopped(dataDir: string): Promise<void> {
  while ((await runningPid(join(dataDir, 'postgres'))) !== null) await sleep(POLL_MS)
}

async function serverPid(dataDir: string): Promise<number> {
  const pid = await runningPid(join(dataDir, 'postgres'))
  assert.ok(pid !== null, 'no server runs')
  return pid
}
