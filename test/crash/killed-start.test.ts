/** A start whose embedded PostgreSQL is killed, as by a system that is short of memory. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { runningPid } from '../../src/platform/postgres/postgres-cluster.ts'
import { readyUrl, SOUK } from '../support/souk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a service whose PostgreSQL is killed during the start is ready a moment later', async (t) => {
  const dataDir = await temporaryFolder(t, 'souk-killed-start-')
  const env = { ...process.env, SOUK_DATA: dataDir, PORT: '0', LOG_LEVEL: 'info' }
  const child = spawn(process.execPath, [SOUK, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  const ready = readyUrl(child)
  let isKilled = false
  for await (const line of createInterface({ input: child.stderr })) {
    if (isKilled || !line.includes('PostgreSQL started')) continue
    const pid = await runningPid(join(dataDir, 'postgres'))
    assert.ok(pid !== null)
    process.kill(pid, 'SIGKILL')
    isKilled = true
    ready.then(
      () => child.kill('SIGTERM'),
      () => undefined,
    )
  }
  assert.ok(isKilled)
  assert.match(await ready, /^http:/)
  assert.deepEqual(await ended, [0, null])
})
