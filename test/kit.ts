/**
 * Where is the test data that lives beside the repository?
 *
 * It is real data under other people's licences, so it is never copied in here. A test that needs
 * it says so: skipped with a reason where the kit is missing, a loud failure under `CI`.
 */
import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const KIT = fileURLToPath(new URL('../../shared/data/', import.meta.url))

/**
 * The absolute path of a file or folder of the kit, such as `oracles/gtin-cases.json`.
 *
 * Null after marking the test as skipped; throws instead when `CI` is set.
 */
export function kitPath(t: TestContext, path: string): string | null {
  const found = `${KIT}${path}`
  if (existsSync(found)) return found
  const message = `needs ../shared/data/${path}`
  if (process.env.CI) throw new Error(message)
  t.skip(message)
  return null
}
