/**
 * Writes openapi.json, the API's description, from the routes of a started service.
 *
 *   node scripts/write-openapi.ts
 *
 * A test compares the file with what this would write.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Http } from '../src/platform/http/http-server.ts'
import { startTestApp } from '../test/support/app.ts'
import { describeApi } from './describe-api.ts'

export const OPENAPI_FILE = join(import.meta.dirname, '../openapi.json')

/** The description as the file contains it. */
export function openapiText(http: Http): string {
  return `${JSON.stringify(describeApi(http.swagger()), null, 2)}\n`
}

if (import.meta.main) {
  const closers: (() => Promise<void>)[] = []
  const app = await startTestApp({ after: (work) => closers.push(work) }, { hasPages: false })
  writeFileSync(OPENAPI_FILE, openapiText(app.http))
  for (const close of closers.reverse()) await close()
}
