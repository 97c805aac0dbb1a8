/** Runs the traffic generator of the test data beside the repository. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const GENERATOR = fileURLToPath(new URL('../../shared/data/make-traffic.mjs', import.meta.url))

/** Reports missing test data. In CI that is a failure, as with tests. */
export function hasTrafficKit(): boolean {
  if (existsSync(GENERATOR)) return true
  console.log('needs ../shared/data')
  process.exitCode = process.env.CI ? 1 : 0
  return false
}

/** Writes the world, its traffic and the true figures into a folder. */
export function makeTraffic(folder: string, options: readonly string[]): void {
  execFileSync(process.execPath, [GENERATOR, '--out', folder, ...options])
}
