/** Builds the browser parts into dist/: `node scripts/build.ts [--if-stale]`. */
import { buildBrowserParts } from '../src/server/browser-parts.ts'

try {
  await buildBrowserParts({ isOnlyIfStale: process.argv.includes('--if-stale') })
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
