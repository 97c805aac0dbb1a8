/** How interrupted commands and servers end, and what happens if their output cannot be written. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runningPid } from '../../src/platform/postgres/postgres-cluster.ts'
import { databaseUrl, testDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { ownMs } from '../support/process-time.ts'
import { openProxy } from '../support/proxy.ts'
import { scopeOf } from '../support/scope.ts'
import { readyUrl, SOUK } from '../support/souk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder({ after }, 'souk-ends-')
const isWindows = process.platform === 'win32' // On Windows its signals end a process at once.
const hasFullDisk = process.platform === 'linux'

test('an interrupted command leaves no PostgreSQL behind', { skip: isWindows }, async () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const dataDir = join(folder, signal)
    const child = start(['migrate'], { SOUK_DATA: dataDir })
    while (!isRunning(dataDir)) await sleep(10)
    child.kill(signal)
    assert.deepEqual(await once(child, 'exit'), [null, signal])
    assert.equal(isRunning(dataDir), false)
  }
})

test('an interruption while PostgreSQL hangs stops it as soon as it continues', {
  skip: isWindows,
}, async () => {
  await Promise.all(
    [
      { command: 'serve', code: 0 },
      { command: 'migrate', code: 130 },
    ].map(async ({ command, code }) => {
      const dataDir = join(folder, `${command} hangs`)
      const child = start([command], { SOUK_DATA: dataDir, PORT: '0', LOG_LEVEL: 'fatal' })
      let pid: number | null = null
      while (pid === null) pid = await runningPid(join(dataDir, 'postgres'))
      process.kill(pid, 'SIGSTOP')
      child.kill('SIGINT')
      assert.deepEqual(await once(child, 'exit'), [code, null])
      process.kill(pid, 'SIGCONT')
      while (isRunning(dataDir)) await sleep(10)
    }),
  )
})

test('a server whose terminal is closed stops cleanly', { skip: isWindows }, async () => {
  const dataDir = join(folder, 'serve')
  const child = start(['serve'], { SOUK_DATA: dataDir, PORT: '0' })
  await readyUrl(child)
  child.kill('SIGHUP')
  assert.deepEqual(await once(child, 'exit'), [0, null])
  assert.equal(isRunning(dataDir), false)
})

test("a server with a silent database has ended well before a stop's ten seconds", {
  skip: isWindows,
}, async (t) => {
  const scope = scopeOf(t)
  const { connection } = await testDatabase(scope)
  const { host = '', port = 0 } = connection
  const proxy = await openProxy(
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
    'pass',
  )
  scope.after(() => proxy.close())
  const url = databaseUrl({ ...connection, host: '127.0.0.1', port: proxy.port })
  const child = start(['serve'], {
    ...{ SOUK_DATA: join(folder, 'silent'), PORT: '0', DATABASE_URL: url, LOG_LEVEL: 'fatal' },
  })
  await readyUrl(child)
  proxy.setMode('hang')
  const from = ownMs()
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
  const tookMs = ownMs() - from
  assert.ok(tookMs < 9_000, `${tookMs} ms: what runs it kills it at ten seconds`)
})

const onFullDisk = { skip: !hasFullDisk }

test('a server whose output is on a full disk serves, and stops', onFullDisk, async (t) => {
  const port = String(await freePort())
  const env = { SOUK_DATA: join(folder, 'full'), PORT: port, LOG_LEVEL: 'trace' }
  const child = start(['serve'], env, openSync('/dev/full', 'w'))
  t.after(() => child.kill('SIGKILL'))
  while (!(await isReady(port))) {
    assert.equal(child.exitCode, null)
    await sleep(50)
  }
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})

test('a result that could not be written counts as refused', onFullDisk, async () => {
  const child = start(['--help'], {}, openSync('/dev/full', 'w'))
  assert.deepEqual(await once(child, 'exit'), [1, null])
})

function start(args: readonly string[], env: Record<string, string>, output?: number) {
  return spawn(process.execPath, [SOUK, ...args], {
    env: { ...process.env, LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', output ?? 'pipe', output ?? 'inherit'],
  })
}

/** The server's pid file, which it deletes when it stops. */
function isRunning(dataDir: string): boolean {
  return existsSync(join(dataDir, 'postgres', 'postmaster.pid'))
}

async function isReady(port: string): Promise<boolean> {
  const signal = AbortSignal.timeout(2_000)
  const url = `http://127.0.0.1:${port}/readyz`
  return fetch(url, { signal }).then(
    ({ ok }) => ok,
    () => false,
  )
}
