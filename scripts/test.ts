/**
 * `npm test`: runs everything, or the named files (`npm test -- src/platform`).
 *
 * Types, lint and the tidy rules are tests too, so the runner's summary covers everything.
 */
import { spawn, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveBrowser } from '../tag/testing/browser-server.ts'
import { openTestServer } from '../test/support/database.ts'
import { CHROMIUM, findProgram, installCommand, NATS_SERVER } from '../test/support/programs.ts'
import { makeTemporaryFolder, testFolder } from '../test/support/test-folder.ts'
import { groupTestFiles } from '../test/support/test-groups.ts'

const ROOT = join(import.meta.dirname, '..')
const PATTERN = '**/*.{test,spec}.ts'
const FOLDERS = ['src', 'test', 'tag', 'dashboard', 'bench']

/** `npm run test:soak` runs only the tests that have a longer form, in that form. */
const SOAK = '--soak'

/** Tests spend about a third of their time waiting for servers and browsers. */
const PROCESSES_PER_CORE = 1.5
/** Only a hanging test reaches this limit. */
const TEST_TIMEOUT_MS = 900_000

/**
 * Package mirrors fail occasionally, and a fresh machine's own updates hold the locks for a while.
 */
const [INSTALL_TRIES, INSTALL_PAUSE_MS, LOCK_SECONDS_MAX] = [3, 20_000, 300]

/**
 * The runner ends a file when its tests so far have ended, and closes their databases, even if the
 * next file is still loading. So the first test of a group lasts until all of its files are loaded.
 */
const LOADING = `import { test } from 'node:test'
const loading = Promise.withResolvers()
test('the files of a group load', () => loading.promise)
`
const LOADED = 'loading.resolve()\n'

const named = process.argv.slice(2).filter((word) => word !== SOAK)
const isSoak = process.argv.includes(SOAK)
const files = (named.length > 0 ? named : FOLDERS)
  .flatMap((path) => globSync(path.endsWith('.ts') ? path : `${path}/${PATTERN}`, { cwd: ROOT }))
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !path.includes('node_modules/'))
  .filter((path) => !isSoak || usesSoak(path))
  .sort()
if (files.length === 0) {
  process.stderr.write(`No test file matches ${named.join(', ')}\n`)
  process.exit(1)
}
if (named.length === 0) await needPrograms()

// Shared by all tests. Otherwise each test process would start its own.
const server = await openTestServer()
const temporary = makeTemporaryFolder()
const browser = files.some((path) => path.endsWith('.spec.ts')) ? await serveBrowser() : null
const runner = spawn(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${Math.ceil(PROCESSES_PER_CORE * availableParallelism())}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    ...writeEntries(join(temporary, 'groups')),
  ],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      ...process.env,
      TMPDIR: temporary,
      ...(isSoak && { SOUK_SOAK: '1' }),
      ...(browser && { SOUK_TEST_BROWSER: browser.wsEndpoint() }),
      // Many processes load the same files. The cache halves their start-up time of about a second.
      NODE_COMPILE_CACHE: join(testFolder(), 'compiled'),
    },
  },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal))
runner.on('exit', async (code) => {
  await Promise.all([browser?.close(), server.close()])
  rmSync(temporary, { recursive: true, force: true })
  process.exit(code ?? 1)
})

function usesSoak(path: string): boolean {
  return readFileSync(join(ROOT, path), 'utf8').includes('test/support/soak.ts')
}

/**
 * Writes one file per group of tests, which imports them. The runner starts files in order of name.
 */
function writeEntries(folder: string): string[] {
  mkdirSync(folder, { recursive: true })
  return groupTestFiles(files).map(({ name, files: members }, at) => {
    const place = String(at).padStart(3, '0')
    const path = join(folder, `${place}-${name.replaceAll(/[^\w-]+/g, '-')}.test.ts`)
    const imports = members.map((file) => `await import(${JSON.stringify(join(ROOT, file))})\n`)
    writeFileSync(path, [LOADING, ...imports, LOADED].join(''))
    return path
  })
}

/** Finds the programs that the tests need. Installs them where possible, or says how to. */
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
  const lockOptions = ['-o', `DPkg::Lock::Timeout=${LOCK_SECONDS_MAX}`]
  const { status } = spawnSync('apt-get', ['-qq', ...lockOptions, ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    // Progress messages are not useful here, but errors are.
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return status === 0
}
