/**
 * `npm run dev`: runs the demo network, restarts it when the server's code changes, and rebuilds
 * the browser parts when theirs changes (then reload the page).
 */
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const BROWSER_PARTS = ['tag', 'dashboard']
const SETTLE_MS = 200 // Editors write a file in several steps.

const server = spawn(
  process.execPath,
  [
    '--watch-path=src',
    '--watch-path=migrations',
    '--watch-preserve-output',
    'src/cli/souk.ts',
    'demo',
  ],
  { cwd: ROOT, stdio: 'inherit' },
)
server.on('exit', (code) => process.exit(code ?? 1))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal))

let settled: NodeJS.Timeout | undefined
for (const part of BROWSER_PARTS) {
  watch(join(ROOT, part), { recursive: true }, () => {
    clearTimeout(settled)
    settled = setTimeout(build, SETTLE_MS)
  })
}

function build(): void {
  spawn(process.execPath, ['scripts/build.ts', '--if-stale'], { cwd: ROOT, stdio: 'inherit' })
}
