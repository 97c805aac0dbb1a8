/**
 * The embedded PostgreSQL of a SOUK_DATA, shared by every process that uses it.
 *
 * Each user holds a shared lock on `postgres.users`. The first user starts the server; later ones
 * adopt it. Any user restarts it if it dies. A leaving user that can take the lock exclusively was
 * the last one and stops the server. The operating system releases the lock of a killed process, so
 * no process id is ever misread. Each user also keeps one connection; its end means that the server
 * is gone.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { formatError } from '../errors/format-error.ts'
import { Refusal } from '../errors/refusal.ts'
import { type FileLock, shareFileLock, takeFileLock } from '../files/file-lock.ts'
import { openSocketFolder, type SocketFolder } from '../files/socket-folder.ts'
import type { Logger } from '../process/log.ts'
import { type Connection, hasHungUp, hasSqlState, newClient, UNIQUE_VIOLATION } from './postgres.ts'
import type { RunAs } from './postgres-binaries.ts'
import {
  ADMIN,
  type Cluster,
  createCluster,
  interrupt,
  keptPassword,
  keptPort,
  PORT_OF_SOCKET,
  runningPid,
  startCluster,
  stopCluster,
  type Transport,
} from './postgres-cluster.ts'

export interface EmbeddedPostgres {
  /** For `openDatabase`. Stays valid when the server is restarted. */
  readonly connection: Connection
  /** The same server as superuser: tests create databases with it. */
  readonly adminConnection: Connection
  /** Leaves the server; resolves once it has stopped, if this was its last user. */
  close(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  /** SOUK_DATA; created with mode 0700 if it does not exist. */
  readonly dataDir: string
  readonly log: Logger
  /** Only tests set the rest. */
  readonly transport?: Transport
  readonly settings?: Readonly<Record<string, string>>
  readonly runAs?: RunAs
  readonly answerTimeoutMs?: number
}

/** Role and database of the program. Only their creation needs the superuser. */
const OWN_NAME = 'souk'

const POLL_MS = 25
const START_PAUSE_MS = 100 // Pause between starts while the previous server's processes still exit.
const ANSWER_TIMEOUT_MS = 30_000 // A server that has not opened its socket by then never will.
const RETRY_MS = 1_000 // Pause if the server cannot be started at all, for example on a full disk.
const STOP_TIMEOUT_MS = 6_000 // Leaves time within the 10 s in which the program must stop.
const LEAVE_AGAIN_MS = 50
const LOG_TAIL_LINES = 8

/** Starts or adopts the server; throws with the end of its log if it does not start. */
export async function openEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { log } = options
  const cluster = describe(options)
  await mkdir(cluster.dataDir, { recursive: true, mode: 0o700 })
  const socket = cluster.transport === 'socket' ? await openSocketFolder(cluster.folder) : null
  const connection = (name: string) => connectionOf(cluster, socket, name)

  const stop = new AbortController()
  const server: User['server'] = { pid: null }
  const user = {
    cluster,
    server,
    connect: () => connection(ADMIN),
    signal: stop.signal,
    log,
    answerTimeoutMs: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
  }
  const lock = await becomeUser(cluster)
  let entered = enter(user)
  // If the time to stop runs out before `close`, the server would keep running unnoticed.
  const onExit = () => leaveOnExit(cluster, lock, server.pid)
  process.once('exit', onExit)
  const close = async () => {
    stop.abort()
    const holder = await entered.catch(() => null)
    await holder?.client.end().catch(() => undefined)
    await leave(cluster, lock)
    process.off('exit', onExit)
    await socket?.close()
  }
  const first = await enterFirst(entered, cluster).catch(async (error) => {
    await close() // Otherwise a server that did not answer in time would keep running unnoticed.
    throw error
  })

  void (async () => {
    for (let lost = first.lost; ; ) {
      await lost
      server.pid = null // The process id may soon belong to another program.
      if (stop.signal.aborted) return
      log.warn('PostgreSQL is gone: starting it again')
      entered = enterAgain(user)
      const again = await entered.catch(() => null) // Null only while this process is leaving.
      if (again === null) return
      lost = again.lost
    }
  })()
  return {
    connection: await connection(OWN_NAME),
    adminConnection: await connection(ADMIN),
    close,
  }
}

interface User {
  readonly cluster: Cluster
  /** The server's process id, set as soon as it is known, even before it answers. */
  readonly server: { pid: number | null }
  readonly connect: () => Promise<Connection>
  readonly signal: AbortSignal
  readonly log: Logger
  readonly answerTimeoutMs: number
}

/** The connection by which this process knows that the server is alive. */
interface Holder {
  readonly client: pg.Client
  readonly lost: Promise<void> // Resolves when the connection ends, for whatever reason.
}

function describe(options: EmbeddedPostgresOptions): Cluster {
  const dataDir = resolve(options.dataDir)
  return {
    dataDir,
    folder: join(dataDir, 'postgres'),
    logFile: join(dataDir, 'postgres.log'),
    transport: options.transport ?? (process.platform === 'win32' ? 'tcp' : 'socket'),
    settings: options.settings ?? {},
    runAs: options.runAs ?? null,
  }
}

async function connectionOf(
  { dataDir }: Cluster,
  socket: SocketFolder | null,
  name: string,
): Promise<Connection> {
  const who = { user: name, database: name, ssl: false }
  if (socket !== null) return { ...who, host: socket.path, port: PORT_OF_SOCKET }
  // Before the first start there is no port; nobody answers on port 0.
  const [port, password] = [await keptPort(dataDir), await keptPassword(dataDir)]
  return { ...who, host: '127.0.0.1', port: port ?? 0, password }
}

/** Takes the shared lock; waits while the previous last user stops the server. */
async function becomeUser(cluster: Cluster): Promise<FileLock> {
  for (;;) {
    const lock = shareFileLock(usersFile(cluster))
    if (lock !== null) return lock
    await sleep(POLL_MS)
  }
}

/** Connects, and starts the server if nobody answers. */
async function enter(user: User): Promise<Holder> {
  const { cluster, server: known, signal, log, answerTimeoutMs } = user
  // One process at a time creates and starts the server; the others wait until it answers.
  let starting: FileLock | null = null
  let server: ChildProcess | null = null
  let isMade = false
  let silentSince = performance.now()
  try {
    for (;;) {
      signal.throwIfAborted()
      known.pid = await runningPid(cluster.folder)
      // While our server is down, another program may answer on its TCP port. A socket is always
      // ours.
      const mayAnswer = cluster.transport === 'socket' || known.pid !== null
      const answer = mayAnswer ? await tryToConnect(await user.connect()) : NOT_RUNNING
      if (answer.kind === 'connected') {
        const how = server === null ? 'adopted' : 'started'
        log.info({ log_file: cluster.logFile }, `PostgreSQL ${how}`)
        known.pid = await runningPid(cluster.folder)
        return answer.holder
      }
      // The server is starting, recovering or stopping, however long that takes.
      if (answer.kind === 'busy') silentSince = performance.now()
      else {
        starting ??= takeFileLock(join(cluster.dataDir, 'postgres.start'))
        // Creating the cluster takes as long as the disk does, in any process.
        const isMaking = starting === null || !isMade
        if (starting !== null) server = await startUnlessRunning(cluster, server)
        isMade = starting !== null
        if (isMaking) silentSince = performance.now()
      }
      if (performance.now() - silentSince > answerTimeoutMs) {
        throw new Refusal(await whyUnreachable(answer, cluster))
      }
      await sleep(POLL_MS)
    }
  } finally {
    starting?.release()
  }
}

async function startUnlessRunning(
  cluster: Cluster,
  server: ChildProcess | null,
): Promise<ChildProcess | null> {
  if (isRunning(server) || (await runningPid(cluster.folder)) !== null) return server
  if (server !== null) await sleep(START_PAUSE_MS)
  await createCluster(cluster)
  return startCluster(cluster)
}

/** Like `enter`, but retries forever. The rest of the program keeps running. */
async function enterAgain(user: User): Promise<Holder> {
  for (;;) {
    try {
      return await enter(user)
    } catch (error) {
      user.signal.throwIfAborted()
      user.log.error({ err: error }, 'PostgreSQL could not be started: trying again')
      await sleep(RETRY_MS)
    }
  }
}

type Answer = { readonly kind: 'connected'; readonly holder: Holder } | Unreachable

interface Unreachable {
  readonly kind: 'busy' | 'refusing' | 'silent'
  readonly reason: string
}

const NOT_RUNNING: Answer = { kind: 'silent', reason: 'it is not running' }

async function tryToConnect(connection: Connection): Promise<Answer> {
  const client = newClient(connection, 'souk: sees that the server is there', {
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
  })
  const lost = new Promise<void>((resolve) => client.once('end', resolve))
  try {
    await client.connect()
    return { kind: 'connected', holder: { client, lost } }
  } catch (error) {
    await client.end().catch(() => undefined)
    const reason = formatError(error)
    const cannotConnectNow = hasSqlState(error, '57P03') || hasSqlState(error, '57P01')
    if (cannotConnectNow) return { kind: 'busy', reason }
    return { kind: hasHungUp(error) ? 'refusing' : 'silent', reason }
  }
}

/**
 * Releases the lock. A process that can then take it exclusively was the last user and stops the
 * server.
 */
async function leave(cluster: Cluster, lock: FileLock): Promise<void> {
  lock.release()
  const alone = await takeAlone(cluster)
  if (alone === null) return
  try {
    await stopCluster(cluster)
    await untilStopped(cluster)
  } finally {
    alone.release()
  }
}

/** Called on exit, so it must not wait for anything. */
function leaveOnExit(cluster: Cluster, lock: FileLock, serverPid: number | null): void {
  lock.release()
  if (serverPid === null || process.platform === 'win32') return
  if (takeFileLock(usersFile(cluster)) !== null) interrupt(serverPid)
}

/**
 * Two processes that leave at the same moment block each other for an instant, so this tries twice.
 */
async function takeAlone(cluster: Cluster): Promise<FileLock | null> {
  const lock = takeFileLock(usersFile(cluster))
  if (lock !== null) return lock
  await sleep(Math.random() * LEAVE_AGAIN_MS)
  return takeFileLock(usersFile(cluster))
}

function usersFile({ dataDir }: Cluster): string {
  return join(dataDir, 'postgres.users')
}

async function untilStopped({ folder }: Cluster): Promise<void> {
  const deadline = performance.now() + STOP_TIMEOUT_MS
  // After the deadline the server keeps stopping by itself; the next user waits for it.
  while (performance.now() < deadline && (await runningPid(folder)) !== null) await sleep(POLL_MS)
}

async function enterFirst(entered: Promise<Holder>, cluster: Cluster): Promise<Holder> {
  const holder = await entered
  await makeOwnDatabase(holder.client, cluster)
  return holder
}

/** The program uses a plain role, so that even a flaw in it does not give superuser rights. */
async function makeOwnDatabase(client: pg.Client, { transport, dataDir }: Cluster): Promise<void> {
  const { rows } = await client.query('select 1 from pg_database where datname = $1', [OWN_NAME])
  if (rows.length > 0) return
  const password = transport === 'tcp' ? `password '${await keptPassword(dataDir)}'` : ''
  for (const statement of [
    `create role ${OWN_NAME} login ${password}`,
    `grant pg_monitor to ${OWN_NAME}`,
    `create database ${OWN_NAME} owner ${OWN_NAME}`,
  ]) {
    await client.query(statement).catch((error) => {
      // Another process created it at the same moment.
      if (!['42710', '42P04', UNIQUE_VIOLATION].some((state) => hasSqlState(error, state)))
        throw error
    })
  }
}

function isRunning(server: ChildProcess | null): boolean {
  return server !== null && server.exitCode === null && server.signalCode === null
}

/** A running server states the problem itself, such as a full disk or too many connections. */
async function whyUnreachable({ kind, reason }: Unreachable, cluster: Cluster): Promise<string> {
  if (kind === 'refusing') return `PostgreSQL lets nobody in: ${reason}`
  return `PostgreSQL does not start: ${reason}\n${await endOfLog(cluster)}`
}

async function endOfLog({ logFile }: Cluster): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '')
  const tail = text.trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n')
  return `The end of its log, ${logFile}:\n${tail}`
}
