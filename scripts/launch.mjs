/**
 * What the npm scripts run: installs what the lockfile pins if it is not installed, builds the
 * browser parts if they are stale, and goes on under the pinned Node.
 *
 * Plain JavaScript without dependencies: on a fresh machine there is only git, npm and some Node.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statSync, utimes } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isInstalled } from './installed.mjs'
import { becomeNode, fail, findNode, ROOT } from './runtime.mjs'

// What each verb runs, and whether it needs the browser parts built.
const VERBS = {
  demo: { program: ['bin/souk.mjs', 'demo'], isBuilding: true },
  test: { program: ['scripts/test.ts'], isBuilding: true },
  soak: { program: ['scripts/test.ts', '--soak'], isBuilding: true },
  dev: { program: ['scripts/dev.ts'], isBuilding: true },
  bench: { program: ['bench/run.ts'], isBuilding: true },
  build: { program: ['scripts/build.ts'], isBuilding: false },
}

const [name, ...rest] = process.argv.slice(2)
const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
if (verb === undefined) fail(`usage: node scripts/launch.mjs ${Object.keys(VERBS).join('|')}`)

/** Made by who installs, and touched every second: one that is older was left by a dead one. */
const LOCK = join(ROOT, 'dist/install.lock')
const LOCK_TOUCH_MS = 1_000
const LOCK_AGE_MAX_MS = 10_000

// One at a time: two at once would take each other's packages away. Once is enough, also where npm
// is told to leave something out.
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
  // Whoever had the lock until now may have done it.
  const status = isInstalled(ROOT) ? 0 : await install()
  rmSync(LOCK, { recursive: true, force: true })
  if (status !== 0) fail('npm ci failed; see above. Network and disk permitting, try again.')
}

async function install() {
  process.stderr.write('Installing what package-lock.json pins (about a minute, once) …\n')
  const touch = () => utimes(LOCK, new Date(), new Date(), () => undefined)
  const touching = setInterval(touch, LOCK_TOUCH_MS)
  // No package's script runs: nothing here needs one, and whoever installs need not trust them.
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const status = await runNpm(['ci', '--ignore-scripts', ...quiet])
  clearInterval(touching)
  return status
}

/** Runs npm: the one that runs this script, or the one on the path. */
function runNpm(args) {
  const path = process.env.npm_execpath
  const [command, all] = path?.endsWith('.js') ? [process.execPath, [path, ...args]] : ['npm', args]
  // On Windows npm is a script that only a shell can start.
  const shell = process.platform === 'win32' && command === 'npm'
  const npm = spawn(command, all, { cwd: ROOT, stdio: 'inherit', shell })
  return new Promise((resolve) => npm.on('exit', resolve).on('error', () => resolve(1)))
}

function run(command, args) {
  return spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' }).status
}
