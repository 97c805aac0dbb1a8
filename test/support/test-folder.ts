/**
 * Where the tests keep their PostgreSQL and Node's compile cache between runs.
 *
 * Each test creates and drops a database of six hundred files. In memory that takes 0.05 s of
 * processor time. An ext4 disk without a journal, which skips recently deleted inodes, takes up to
 * a second.
 */
import { createHash } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './source-files.ts'

const MEMORY = '/dev/shm'
/** A run uses half a gigabyte at most; a container has 64 MB unless it was given more. */
const BYTES_MIN = 4 * 1024 ** 3
const PREFIX = 'souk-tests-'
/** The run's process id; the process removes its folder unless it is killed. */
const PROCESS = /^souk-tests-(\d+)-/

/** The same for every process of this user and checkout. */
export function testFolder(): string {
  if (!hasRoom(MEMORY)) return join(ROOT, 'data/test')
  const checkout = createHash('sha256').update(ROOT).digest('hex').slice(0, 8)
  return join(MEMORY, `souk-test-${process.getuid?.()}-${checkout}`)
}

/**
 * A new folder for one run's temporary files: clusters, browser profiles. The system's default if
 * memory is too small or, as in most containers, does not allow programs.
 */
export function makeTemporaryFolder(): string {
  const parent = hasRoom(MEMORY) && mayRunPrograms(MEMORY) ? MEMORY : tmpdir()
  removeLeftovers(parent)
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
  chmodSync(folder, 0o1777) // Some tests run programs as other users.
  return folder
}

/** Removes folders of killed runs, which would otherwise stay in memory until a reboot. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = PROCESS.exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // It belongs to another user.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { blocks, bsize } = statfsSync(folder)
    return blocks * bsize >= BYTES_MIN
  } catch {
    return false // It does not exist, or is not writable.
  }
}

function mayRunPrograms(folder: string): boolean {
  const trial = mkdtempSync(join(folder, 'souk-trial-'))
  try {
    writeFileSync(join(trial, 'program'), '', { mode: 0o700 })
    accessSync(join(trial, 'program'), constants.X_OK)
    return true
  } catch {
    return false
  } finally {
    rmSync(trial, { recursive: true })
  }
}
