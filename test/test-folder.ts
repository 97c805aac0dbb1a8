/**
 * Where the tests keep their PostgreSQL and what Node has compiled, from run to run.
 *
 * Each test makes a database of six hundred files and drops it again. In memory that takes 0.05 s
 * of processor time; an ext4 disk without a journal, which passes over every file deleted in the
 * last minutes before it makes a new one, takes up to a second.
 */
import { createHash } from 'node:crypto'
import { existsSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './source-files.ts'

const MEMORY = '/dev/shm'
/** A run holds half a gigabyte at most; a container has 64 MB there unless it was given more. */
const BYTES_MIN = 4 * 1024 ** 3

/** The same for every process of this user and checkout. */
export function testFolder(): string {
  if (!existsSync(MEMORY) || sizeOf(MEMORY) < BYTES_MIN) return join(ROOT, 'data/test')
  const checkout = createHash('sha256').update(ROOT).digest('hex').slice(0, 8)
  return join(MEMORY, `souk-test-${process.getuid?.()}-${checkout}`)
}

function sizeOf(folder: string): number {
  const { blocks, bsize } = statfsSync(folder)
  return blocks * bsize
}
