/** The browser parts exist however the service was started: no separate build is needed. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { databaseUrl, type Scope, testDatabase } from './support/database.ts'
import { scopeOf } from './support/scope.ts'
import { serve } from './support/souk.ts'
import { ROOT } from './support/source-files.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const NOT_IN_A_CLONE = ['.git', 'node_modules', 'dist', 'data'].map((name) => join(ROOT, name))

async function makeClone(scope: Scope): Promise<string> {
  const clone = await temporaryFolder(scope, 'a clone ')
  await cp(ROOT, clone, { recursive: true, filter: (path) => !NOT_IN_A_CLONE.includes(path) })
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  return clone
}

test('souk serve builds the browser parts right after an installation', async (t) => {
  const scope = scopeOf(t)
  const clone = await makeClone(scope)
  const { connection } = await testDatabase(scope)
  const data = join(clone, 'data')
  const env = { DATABASE_URL: databaseUrl(connection), SOUK_DATA: data, PORT: '0' }
  const start = () =>
    serve({ ...env, LOG_LEVEL: 'error' }, { program: join(clone, 'bin/souk.mjs') })
  const statusOf = async (server: { url: string }) =>
    Promise.all(
      ['/dashboard/', '/docs/', '/tag/souk.js'].map(
        async (path) => (await fetch(server.url + path)).status,
      ),
    )

  const first = await start()
  const statuses = await statusOf(first)
  assert.equal(await first.stop(), 0)
  assert.deepEqual(statuses, [200, 200, 200])

  // A failing build (here: a folder in the way of a file) blocks nobody.
  await rm(join(clone, 'dist'), { recursive: true })
  await writeFile(join(clone, 'dist'), 'in the way')
  const second = await start()
  const health = await fetch(`${second.url}/healthz`)
  assert.equal(await second.stop(), 0)
  assert.equal(health.status, 200)
  assert(!existsSync(join(clone, 'dist', 'tag')))
})

test('a start that is stopped during its build exits at once and opens nothing', async (t) => {
  const clone = await makeClone(scopeOf(t))
  // However late the signal arrives, the build is still running.
  await writeFile(join(clone, 'scripts/build-tag.ts'), 'setTimeout(() => undefined, 30_000)\n')
  const env = { SOUK_DATA: join(clone, 'data'), PORT: '0' }
  const child = spawn(process.execPath, [join(clone, 'bin/souk.mjs'), 'serve'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const ended = once(child, 'close')
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.startsWith('Building tag')) child.kill('SIGTERM')
  }
  const [code] = await ended
  assert.equal(code, 0)
  assert.equal(output, '', 'it went on to serve')
  assert(!existsSync(join(clone, 'dist', 'tag.sources')), 'it built on')
  assert(!existsSync(join(clone, 'data')))
})
