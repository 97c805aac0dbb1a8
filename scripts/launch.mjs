/**
 * The launcher behind the npm scripts. Installs the pinned packages if needed, builds stale browser
 * parts, and continues under the pinned Node.
 *
 * Plain JavaScript without dependencies, because a fresh machine has only git, npm and some Node.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statSync, utimes } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isInstalled } from './installed.mjs'
import { becomeNode, fail, findNode, ROOT } from './runtime.mjs'

// The command of each verb, and whether it needs the browser parts.
const VERBS = {
  demo: { program: ['bin/souk.mjs', 'demo'], isBuilding: true },
  test: { program: ['scripts/test.ts'], isBuilding: true },
  soak: { program: ['scripts/test.ts', '--soak'], isBuilding: true },
  dev: { program: ['scripts/dev.ts'], isBuilding: true },
  bench: { program: ['bench/run.ts'], isBuilding: true },
  build: { program: ['scripts/build.ts'], isBuilding: false },
  pictures: { program: ['scripts/take-pictures.ts'], isBuilding: true },
}

const [name, ...rest] = process.argv.slice(2)
const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
if (verb === undefined) fail(`usage: node scripts/launch.mjs ${Object.keys(VERBS).join('|')}`)

/**
 * The installing process touches this file every second. An older one was left by a process that
 * died.
 */
const LOCK = join(ROOT, 'dist/install.lock')
const LOCK_TOUCH_MS = 1_000
const LOCK_AGE_MAX_MS = 10_000

// One installation at a time, because two would delete each other's packages. Once is enough, even
// where npm is configured to omit packages.
for (let isReady = isInstalled(ROOT); !isReady; ) {
  isReady = takeLock()
  if (isReady) await installLocked()
  else {
    await sleep(LOCK_TOUCH_MS)
    isReady = isInstalled(ROOT)
  }
}
if (verb.isBuilding && run(findNode(), [join(ROOT, 'scripts/build.ts'), '--if-stale']) !== 0) {
  fail('The browser parts could not be built; see above.')
}
const [script, ...args] = verb.program
becomeNode([join(ROOT, script), ...args, ...rest], { isTied: true })

function takeLock() {
  try {
    mkdirSync(join(ROOT, 'dist'), { recursive: true })
    mkdirSync(LOCK)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') fail(`${ROOT} cannot be installed in: ${error.message}`)
  }
  const touched = statSync(LOCK, { throwIfNoEntry: false })
  const isLeft = touched !== undefined && Math.abs(Date.now() - touched.mtimeMs) > LOCK_AGE_MAX_MS
  if (isLeft) rmSync(LOCK, { recursive: true, force: true })
  return false
}

async function installLocked() {
  // The previous owner of the lock may have installed everything.
  const status = isInstalled(ROOT) ? 0 : await install()
  rmSync(LOCK, { recursive: true, force: true })
  if (status !== 0) fail('npm ci failed; see above. Network and disk permitting, try again.')
}

async function install() {
  process.stderr.write('Installing what package-lock.json pins (about a minute, once) …\n')
  const touch = () => utimes(LOCK, new Date(), new Date(), () => undefined)
  const touching = setInterval(touch, LOCK_TOUCH_MS)
  // No install scripts run: no package here needs one, and users need not trust them.
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const status = await runNpm(['ci', '--ignore-scripts', ...quiet])
  clearInterval(touching)
  return status
}

/** Runs the npm that started this script, or the one on the path. */
function runNpm(args) {
  const path = process.env.npm_execpath
  const [command, all] = path?.endsWith('.js') ? [process.execPath, [path, ...args]] : ['npm', args]
  // On Windows npm is a script that needs a shell.
  const shell = process.platform === 'win32' && command === 'npm'
  const npm = spawn(command, all, { cwd: ROOT, stdio: 'inherit', shell })
  return new Promise((resolve) => npm.on('exit', resolve).on('error', () => resolve(1)))
}

function run(command, args) {
  return spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' }).status
}
