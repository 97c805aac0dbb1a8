/** The service that an attack runs against, and the reconciliation that follows every attack. */
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Database } from '../src/platform/postgres/postgres.ts'
import { openDatabaseOf } from './database.ts'
import type { LoadResult } from './load.ts'
import { type BenchNetwork, makeBenchNetwork } from './network.ts'
import { type Service, startService } from './service.ts'

export const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/149.0 Safari/537.36'
const LINKS = 1_000

export interface Target extends Service, BenchNetwork {
  readonly db: Database
  readonly port: number
}

/**
 * Attacks a service with the limits and quotas that it ships with. It trusts the attacker's
 * addresses, so that one machine can be many. Resolves to whether the work and `souk reconcile` say
 * that the bounds held.
 */
export async function attack(
  name: string,
  work: (target: Target) => Promise<boolean>,
): Promise<boolean> {
  await using stack = new AsyncDisposableStack()
  const env = { RATE_LIMITS: '', TRUSTED_PROXIES: '127.0.0.1' }
  const service = await startService(stack, env)
  const db = await openDatabaseOf(stack, service.dataDir)
  const network = await makeBenchNetwork(db, LINKS)
  await sleep(4_000) // Campaigns reach the edge within 2 s, leases a second later.
  console.log(`\n${name}`)
  const isHeld = await work({
    ...service,
    ...network,
    db,
    port: Number(new URL(service.base).port),
  })
  return (await isReconciled(service.dataDir)) && isHeld
}

/** Recomputes every figure from the log once it is folded; prints what differs. */
export async function isReconciled(dataDir: string): Promise<boolean> {
  await sleep(3_000) // What was accepted last is folded by then.
  const env = { ...process.env, SOUK_DATA: dataDir }
  const args = ['bin/souk.mjs', 'reconcile', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    ...{ env, maxBuffer: 64 * 1024 ** 2 },
  }).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }))
  const { events, differences } = JSON.parse(stdout) as { events: number; differences: unknown[] }
  console.log(`  souk reconcile: ${events} events, ${differences.length} differences`)
  return differences.length === 0
}

/** The longest redirect of nineteen readers in twenty during an attack. */
export const P95_MAX_MS = 50

/** Whether readers alone are fast enough for the machine to judge an attack on them. */
export function isQuiet({ p95 }: LoadResult): boolean {
  const isFast = p95 < P95_MAX_MS / 2
  if (!isFast) console.log('  redirects are not judged: this machine is too busy by itself')
  return isFast
}

/** Addresses of documentation networks: as many different ones as wanted. */
export function addressOf(number: number): string {
  return `2001:db8:${((number >> 16) & 0xffff).toString(16)}:${(number & 0xffff).toString(16)}::1`
}
