/**
 * What the npm scripts run: installs what the lockfile pins if it is not installed, builds the
 * browser parts if they are stale, and goes on under the pinned Node.
 *
 * Plain JavaScript without dependencies: on a fresh machine there is only git, npm and some Node.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { isInstalled } from './installed.mjs'
import { becomeNode, fail, findNode, ROOT } from './runtime.mjs'

// What each verb runs, and whether it needs the browser parts built.
const VERBS = {
  demo: { program: ['bin/souk.mjs', 'demo'], isBuilding: true },
  test: { program: ['scripts/test.ts'], isBuilding: true },
  dev: { program: ['scripts/dev.ts'], isBuilding: true },
  bench: { program: ['bench/run.ts'], isBuilding: true },
  build: { program: ['scripts/build.ts'], isBuilding: false },
}

const [name, ...rest] = process.argv.slice(2)
const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
if (verb === undefined) fail(`usage: node scripts/launch.mjs ${Object.keys(VERBS).join('|')}`)

if (!isInstalled(ROOT)) {
  process.stderr.write('Installing what package-lock.json pins (about a minute, once) …\n')
  // No package's script runs: nothing here needs one, and whoever installs need not trust them.
  const status = runNpm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
  if (status !== 0) fail('npm ci failed; see above. Network and disk permitting, try again.')
}
if (verb.isBuilding && run(findNode(), [join(ROOT, 'scripts/build.ts'), '--if-stale']) !== 0) {
  fail('The browser parts could not be built; see above.')
}
const [script, ...args] = verb.program
becomeNode([join(ROOT, script), ...args, ...rest], { isTied: true })

/** Runs npm: the one that runs this script, or the one on the path. */
function runNpm(args) {
  const path = process.env.npm_execpath
  return path?.endsWith('.js') ? run(process.execPath, [path, ...args]) : run('npm', args)
}

function run(command, args) {
  // On Windows npm is a script that only a shell can start.
  const shell = process.platform === 'win32' && command === 'npm'
  return spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', shell }).status
}
