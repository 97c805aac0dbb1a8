/**
 * Finds the test data beside the repository.
 *
 * It is real data under other licences, so it is never copied into the project. A test that needs
 * it is skipped with a reason if it is missing, and fails under `CI`.
 */
import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const KIT = fileURLToPath(new URL('../../../shared/data/', import.meta.url))

/**
 * The absolute path of a file or folder of the test data, such as `oracles/gtin-cases.json`.
 *
 * Null after marking the test as skipped; throws instead if `CI` is set.
 */
export function kitPath(t: TestContext, path: string): string | null {
  const found = `${KIT}${path}`
  if (existsSync(found)) return found
  const message = `needs ../shared/data/${path}`
  if (process.env.CI) throw new Error(message)
  t.skip(message)
  return null
}
