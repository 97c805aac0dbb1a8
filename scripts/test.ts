/**
 * `npm test`: everything, or the files that are named (`npm test -- src/platform`).
 *
 * Types, lint and the tidy rules are tests among the others, so that the runner's summary at the
 * end is the whole truth.
 */
import { spawn, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openTestServer } from '../test/database.ts'
import { CHROMIUM, findProgram, installCommand, NATS_SERVER } from '../test/machine.ts'
import { makeTemporaryFolder, testFolder } from '../test/test-folder.ts'

const ROOT = join(import.meta.dirname, '..')
const PATTERN = '**/*.{test,spec}.ts'
const FOLDERS = ['src', 'test', 'tag', 'dashboard', 'bench']

// Half of the files wait for servers and browsers most of the time, so two always fit.
const CONCURRENCY_MIN = 2
/** The longest takes a minute on a quiet machine, five on a busy one: only what hangs meets it. */
const TEST_TIMEOUT_MS = 900_000

/** A mirror fails now and then, and a fresh machine's own updates hold the locks for a while. */
const [INSTALL_TRIES, INSTALL_PAUSE_MS, LOCK_SECONDS_MAX] = [3, 20_000, 300]

const named = process.argv.slice(2)
const files = (named.length > 0 ? named : FOLDERS).map((path) =>
  path.endsWith('.ts') ? path : `${path}/${PATTERN}`,
)
if (named.length === 0) await needPrograms()

// Held for all of them: each test process would else start and stop the server by itself.
const server = await openTestServer()
const temporary = makeTemporaryFolder()
const runner = spawn(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${Math.max(CONCURRENCY_MIN, availableParallelism())}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    ...files,
  ],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      ...process.env,
      TMPDIR: temporary,
      // Hundreds of processes load the same files: half of the second that each takes for it.
      NODE_COMPILE_CACHE: join(testFolder(), 'compiled'),
    },
  },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal))
runner.on('exit', async (code) => {
  await server.close()
  rmSync(temporary, { recursive: true, force: true })
  process.exit(code ?? 1)
})

/** Finds what the tests need, installs it where that is possible, or says how to. */
async function needPrograms(): Promise<void> {
  const missing = () => [CHROMIUM, NATS_SERVER].filter((need) => findProgram(need) === null)
  if (missing().length === 0) return
  const mayInstall = process.getuid?.() === 0 && aptGet('--version')
  for (let tries = 0; mayInstall && missing().length > 0 && tries < INSTALL_TRIES; tries += 1) {
    if (tries > 0) await sleep(INSTALL_PAUSE_MS)
    const packages = missing().map((need) => need.aptPackage)
    process.stderr.write(`Installing ${packages.join(', ')} …\n`)
    aptGet('update')
    aptGet('install', '-y', '--no-install-recommends', ...packages)
  }
  const still = missing()
  if (still.length === 0) return
  const purposes = still.map(({ programs, purpose }) => `${purpose} need ${programs[0]}`)
  process.stderr.write(`${purposes.join('; ')}. Install with:\n\n  ${installCommand(still)}\n`)
  process.exit(1)
}

function aptGet(...args: string[]): boolean {
  const patience = ['-o', `DPkg::Lock::Timeout=${LOCK_SECONDS_MAX}`]
  const { status } = spawnSync('apt-get', ['-qq', ...patience, ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    // Its progress is of no use here; its complaints are.
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return status === 0
}
