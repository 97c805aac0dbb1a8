/**
 * Processor time of a service and its embedded PostgreSQL, from Linux' /proc. Unlike a rate, it
 * stays the same on a busy machine.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const TICKS_PER_SECOND = 100 // USER_HZ, the same on every Linux that Node runs on

export interface CpuTime {
  readonly node: number // seconds
  readonly postgres: number
}

/** Null without /proc. Ignores processes that have ended. */
export function cpuTime({ pid, dataDir }: { pid: number; dataDir: string }): CpuTime | null {
  if (process.platform !== 'linux') return null
  const file = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')
  const postmaster = Number(file.split('\n', 1)[0])
  let postgres = 0
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(name) : null
    if (stat !== null && stat.parent === postmaster) postgres += stat.seconds
  }
  return { node: readStat(String(pid))?.seconds ?? 0, postgres }
}

function readStat(pid: string): { parent: number; seconds: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command is in brackets and may contain spaces. The numbers follow it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number)
    return { parent: parent ?? 0, seconds: ((user ?? 0) + (system ?? 0)) / TICKS_PER_SECOND }
  } catch {
    return null // The process ended meanwhile.
  }
}
