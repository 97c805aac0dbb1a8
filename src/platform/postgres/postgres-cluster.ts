/**
 * One PostgreSQL cluster in a folder: created once, started and stopped as its owner.
 *
 * `embedded-postgres.ts` coordinates processes and decides who may stop the server.
 */
import { type ChildProcess, execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import * as files from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Refusal } from '../errors/refusal.ts'
import { freePort } from '../net/free-port.ts'
import {
  type Binaries,
  chooseRunAs,
  findBinaries,
  outcome,
  type RunAs,
  spawnAs,
} from './postgres-binaries.ts'
import { postgresSettings } from './postgres-settings.ts'

/** Unix sockets where they exist; otherwise TCP on the loopback address with a password. */
export type Transport = 'socket' | 'tcp'

export interface Cluster {
  readonly dataDir: string // SOUK_DATA
  readonly folder: string // the cluster's own files inside it
  readonly logFile: string
  readonly transport: Transport
  /** Additional settings for tests, such as `{ fsync: 'off' }`. */
  readonly settings: Readonly<Record<string, string>>
  /** Replaces the result of `chooseRunAs` in tests. */
  readonly runAs: RunAs | null
}

export const ADMIN = 'postgres' // The cluster's superuser, and its initial database.
export const PORT_OF_SOCKET = 5432 // Part of the socket's file name; no TCP port is used.

const SHARED_MEMORY = '/dev/shm'
const MAJOR_VERSION = '18'
const LOG_BYTES_MAX = 20_000_000 // Beyond this size the log of the last start is moved aside.
const DRAFT_AGE_MAX_MS = 600_000 // Creating a cluster takes a second; an older draft was abandoned.

/** Creates the cluster if there is none. Atomic, even if several processes try. */
export async function createCluster(cluster: Cluster): Promise<void> {
  const { folder, dataDir } = cluster
  const version = await files.readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => null)
  if (version?.trim() === MAJOR_VERSION) return
  if (version !== null) {
    throw new Refusal(
      `${folder} was made by PostgreSQL ${version.trim()}, this is ${MAJOR_VERSION}: ` +
        'dump it with its own version and restore, or set SOUK_DATA to a new folder',
    )
  }
  await removeOldDrafts(dataDir)
  const runAs = cluster.runAs ?? (await chooseRunAs(null))
  const { initdb } = await findBinaries(dataDir, runAs)
  const draft = await files.mkdtemp(join(dataDir, 'postgres.new-'))
  try {
    if (runAs.kind === 'user') await files.chown(draft, runAs.uid, runAs.gid)
    const password = cluster.transport === 'tcp' ? await keptPassword(dataDir) : null
    const command = [initdb, '-D', reachable(draft, runAs), ...initdbOptions(cluster, password)]
    const fault = await outcome(command, runAs, { cwd: draft })
    if (fault !== null) throw new Refusal(`initdb failed: ${fault}`)
    await files.rename(draft, folder)
  } catch (error) {
    await files.rm(draft, { recursive: true, force: true })
    if ((await ownerOf(folder)) === null) throw error // Ignored if another process was faster.
  }
}

/**
 * Starts the server and returns at once: connect to find out when it serves. The server outlives
 * this process, and Ctrl-C in this process's group does not reach it.
 */
export async function startCluster(cluster: Cluster): Promise<ChildProcess> {
  const { folder, dataDir, logFile } = cluster
  const owner = await ownerOf(folder)
  const runAs = cluster.runAs ?? (await chooseRunAs(owner))
  const binaries = await findBinaries(dataDir, runAs)
  // Root's cluster on a system without user namespaces, for example after a volume moved: nobody
  // takes it over.
  if (runAs.kind === 'user' && owner !== runAs.uid) await giveTo(folder, runAs)
  await clearAfterCrash(folder)
  await writeSettings(cluster)

  await putLongLogAside(logFile)
  const log = await files.open(logFile, 'a', 0o600)
  try {
    const child = spawnAs(startCommand(cluster, binaries, runAs), runAs, {
      cwd: folder,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', log.fd, log.fd],
    })
    child.on('error', () => undefined) // `exitCode` and the missing answer report the failure.
    child.unref()
    return child
  } finally {
    await log.close()
  }
}

/** Asks the server to stop: it cuts sessions and keeps everything committed. */
export async function stopCluster(cluster: Cluster): Promise<void> {
  const pid = await runningPid(cluster.folder)
  if (pid === null) return
  if (process.platform !== 'win32') return interrupt(pid)
  const { pg_ctl } = await findBinaries(cluster.dataDir, { kind: 'self' })
  await outcome([pg_ctl, 'stop', '-W', '-m', 'fast', '-D', cluster.folder], { kind: 'self' })
}

/** The same for a known server process. Not on Windows, where the signal would kill it. */
export function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // Ignored if it ended just now.
  }
}

/** The server's process id; null if none runs in this folder. */
export async function runningPid(folder: string): Promise<number | null> {
  const lock = await files.readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(lock, 10)
  return Number.isInteger(pid) && (await isServerOf(folder, pid)) ? pid : null
}

/** The password of the TCP transport, generated once. */
export async function keptPassword(dataDir: string): Promise<string> {
  const path = join(dataDir, 'postgres.password')
  const made = randomBytes(24).toString('hex')
  await files.writeFile(path, made, { mode: 0o600, flag: 'wx' }).catch(ignoreExisting)
  return files.readFile(path, 'utf8')
}

/** The port of the TCP transport; null before the first start. */
export async function keptPort(dataDir: string): Promise<number | null> {
  const text = await files.readFile(portFile(dataDir), 'utf8').catch(() => null)
  return text === null ? null : Number(text)
}

/** The same port at each start, unless another program has taken it meanwhile. */
async function choosePort(dataDir: string): Promise<number> {
  const host = '127.0.0.1'
  const kept = { host, port: (await keptPort(dataDir)) ?? 0 }
  const port = await freePort(kept).catch(() => freePort({ host, port: 0 }))
  await files.writeFile(portFile(dataDir), String(port), { mode: 0o600 })
  return port
}

function portFile(dataDir: string): string {
  return join(dataDir, 'postgres.port')
}

function initdbOptions({ settings, dataDir }: Cluster, password: string | null): string[] {
  // C.UTF-8 as a system locale exists only on Linux; the built-in locale exists everywhere and
  // sorts.
  const locale =
    process.platform === 'linux' ? ['--locale=C.UTF-8'] : ['--locale=C', '--builtin-locale=C.UTF-8']
  const access =
    password === null
      ? ['--auth=trust'] // A user who can reach the socket owns its folder (0700).
      : ['--auth=scram-sha-256', `--pwfile=${join(dataDir, 'postgres.password')}`]
  const durability = settings.fsync === 'off' ? ['--no-sync'] : []
  const encoding = ['-E', 'UTF8', '--locale-provider=builtin', ...locale, '--data-checksums']
  return ['-U', ADMIN, ...encoding, ...access, ...durability, '--no-instructions']
}

function startCommand({ folder, logFile }: Cluster, binaries: Binaries, runAs: RunAs): string[] {
  if (process.platform !== 'win32') return [binaries.postgres, '-D', reachable(folder, runAs)]
  return [binaries.pg_ctl, 'start', '-W', '-D', folder, '-l', logFile]
}

/**
 * How the program refers to its folder. The user that replaces root may not look into the parents
 * (a 0700 home, SOUK_DATA itself), but being started there is enough.
 */
function reachable(folder: string, runAs: RunAs): string {
  return runAs.kind === 'self' ? folder : '/proc/self/cwd'
}

/** Written at each start, so that the settings match the code that starts it. */
async function writeSettings({ folder, transport, settings, dataDir }: Cluster): Promise<void> {
  const address =
    transport === 'socket'
      ? {
          listen_addresses: '',
          // Relative, so that a path of any depth fits into a socket address.
          unix_socket_directories: '.',
          unix_socket_permissions: '0700',
          port: String(PORT_OF_SOCKET),
        }
      : {
          listen_addresses: '127.0.0.1',
          unix_socket_directories: '',
          port: String(await choosePort(dataDir)),
        }
  const { platform } = process
  const hasSharedMemory = platform !== 'linux' || (await isWritable(SHARED_MEMORY))
  const own = postgresSettings({ memoryBytes: memoryBytes(), platform, hasSharedMemory })
  const lines = Object.entries({ ...own, ...address, ...settings }).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`,
  )
  const path = join(folder, 'postgresql.conf')
  const head = '# Written by Souk at each start. For settings of your own use ALTER SYSTEM.\n'
  const draft = `${path}.${randomUUID()}` // Several processes may be starting the server at once.
  await files.writeFile(draft, `${head}${lines.join('\n')}\n`)
  await files.rename(draft, path)
}

async function isWritable(folder: string): Promise<boolean> {
  return files.access(folder, files.constants.W_OK | files.constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** The memory limit of the machine or of its container. */
function memoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
}

/**
 * Removes what a killed server left behind. PostgreSQL removes its lock itself, unless another
 * program has the dead server's process id (common in containers). It does not start while a
 * process of the dead server lives, which a long query does until its end.
 */
async function clearAfterCrash(folder: string): Promise<void> {
  if ((await runningPid(folder)) !== null) return
  if (process.platform === 'linux') {
    const pids = (await files.readdir('/proc')).map(Number).filter(Number.isInteger)
    for (const pid of pids) if (await isServerOf(folder, pid)) kill(pid)
  }
  await files.rm(join(folder, 'postmaster.pid'), { force: true })
  await files.rm(join(folder, `.s.PGSQL.${PORT_OF_SOCKET}.lock`), { force: true })
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

async function putLongLogAside(logFile: string): Promise<void> {
  const { size } = await files.stat(logFile).catch(() => ({ size: 0 }))
  if (size <= LOG_BYTES_MAX) return
  await files.rename(logFile, `${logFile}.1`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error // Ignored if another process was faster.
  })
}

async function isServerOf(folder: string, pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const cwd = await files.readlink(`/proc/${pid}/cwd`).catch(() => null)
    if (cwd === null || cwd !== (await files.realpath(folder))) return false
    // Confirms that the process is PostgreSQL and not a shell in this folder.
    return (await files.readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')) === 'postgres\n'
  }
  if (process.platform === 'win32') return isAlive(pid)
  const ps = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'comm=']).catch(() => null)
  return ps?.stdout.includes('postgres') ?? false
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function ownerOf(folder: string): Promise<number | null> {
  const found: Stats | null = await files.stat(folder).catch(() => null)
  return found?.uid ?? null
}

async function giveTo(folder: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  for (const name of await files.readdir(folder, { recursive: true })) {
    await files.lchown(join(folder, name), uid, gid)
  }
  // Last, because the folder's own owner records the identity, which must hold for everything below
  // it.
  await files.chown(folder, uid, gid)
}

async function removeOldDrafts(dataDir: string): Promise<void> {
  for (const name of await files.readdir(dataDir)) {
    if (!name.startsWith('postgres.new-')) continue
    const path = join(dataDir, name)
    const { mtimeMs } = await files.stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > DRAFT_AGE_MAX_MS) await files.rm(path, { recursive: true })
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
