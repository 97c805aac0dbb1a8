/** A start that must fail reports the reason at once. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../src/platform/postgres/sql.ts'
import { databaseUrl, testDatabase } from '../support/database.ts'
import { ownMs } from '../support/process-time.ts'
import { scopeOf } from '../support/scope.ts'
import { type Environment, readyUrl, SOUK, serve, soukExit } from '../support/souk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder({ after }, 'souk start ')
const file = join(folder, 'a file')
writeFileSync(file, '10.0.0.0/8\nnobody\n\nnowhere # twice\n')

const AT_ONCE_MS = 20_000 // For a busy machine; the test is that it does not take forever.

/** The stderr of a server that does not start. */
async function refusal(env: Environment, command = 'serve'): Promise<string> {
  const started = ownMs()
  const { stdout, stderr } = await soukExit({ SOUK_DATA: folder, ...env }, 1, command)
  assert.equal(stdout, '')
  assert.ok(ownMs() - started < AT_ONCE_MS)
  assert.doesNotMatch(stderr, /^ {4}at /m, 'a stack trace is nothing an operator can act on')
  return stderr
}

test('an unwritable SOUK_DATA is reported at once', async () => {
  const impossible = [join(file, 'below')]
  if (process.platform === 'linux') impossible.push('/proc/souk', '/proc/souk/data')
  for (const path of impossible) {
    const message = await refusal({ SOUK_DATA: path })
    assert.match(message, new RegExp(`SOUK_DATA: "${path}" cannot be used: `))
  }
})

test('a spool that is no folder is reported before anything is opened', async (t) => {
  const data = await temporaryFolder(scopeOf(t), 'souk data of a test ')
  const spool = join(data, 'spool')
  writeFileSync(spool, '')
  const message = await refusal({ SOUK_DATA: data })
  assert.match(message, new RegExp(`SOUK_DATA: "${spool}" cannot be used: ENOTDIR`))
  assert.deepEqual(readdirSync(data), ['spool'])
})

test('a port in use, and a foreign address, are reported before anything is opened', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  for (const command of ['serve', 'demo']) {
    const message = await refusal({ PORT: String(port) }, command)
    assert.match(
      message,
      new RegExp(`PORT: another program listens on port ${port} of 127\\.0\\.0\\.1`),
    )
  }
  // TEST-NET-1, which no machine has; and a link-local address without its interface.
  for (const host of ['192.0.2.1', 'fe80::1']) {
    const message = await refusal({ HOST: host, PORT: '0' })
    assert.ok(message.includes(`HOST: "${host}" is no address`), message)
  }
})

test('the demo says that it is starting before it can show anything', async () => {
  const message = await refusal({ HOST: '192.0.2.1', PORT: '0' }, 'demo')
  assert.match(message, /^Starting PostgreSQL and the demo network …$/m)
})

test('an impossible folder is reported together with every other wrong value', async () => {
  const message = await refusal({
    PORT: 'many',
    SOUK_DATA: join(file, 'below'),
    RETENTION_DAYS: 'x',
  })
  assert.match(message, /3 wrong value/)
  for (const name of ['PORT', 'SOUK_DATA', 'RETENTION_DAYS']) {
    assert.match(message, new RegExp(`^ {2}${name}: `, 'm'))
  }
})

test('a port in use and an unwritable folder are reported together', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs a folder that even root cannot make')
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const message = await refusal({ PORT: String(port), SOUK_DATA: '/proc/souk' })
  assert.match(message, /2 wrong value/)
  assert.match(message, /^ {2}PORT: another program/m)
  assert.match(message, /^ {2}SOUK_DATA: "\/proc\/souk" cannot be used: /m)
})

test('a DATABASE_URL that the server refuses is reported with the reason', async () => {
  const { connection } = await testDatabase()
  const url = new URL(databaseUrl(connection))
  url.pathname = '/no such database'
  const message = /^The database refuses DATABASE_URL: database "no such database" does not exist$/m
  assert.match(await refusal({ DATABASE_URL: url.href, PORT: '0' }), message)
  assert.match(await refusal({ DATABASE_URL: url.href, PORT: '0' }, 'migrate'), message)
})

test('a cluster of another PostgreSQL version is left alone and reported', async () => {
  const made = join(folder, 'of seventeen')
  mkdirSync(join(made, 'postgres'), { recursive: true })
  writeFileSync(join(made, 'postgres/PG_VERSION'), '17\n')
  const message = await refusal({ SOUK_DATA: made, PORT: '0' })
  assert.match(message, /postgres was made by PostgreSQL 17, this is 18: dump it/)
})

test('every wrong line of a blocklist, and an invalid GEOIP_DB, are reported together', async () => {
  const message = await refusal({ IP_BLOCKLIST: file, GEOIP_DB: file, RETENTION_DAYS: 'many' })
  assert.match(message, /3 wrong value/)
  assert.match(message, /IP_BLOCKLIST: .* line 2: "nobody" .*; line 4: "nowhere"/)
  assert.match(message, /GEOIP_DB: .* is not a MaxMind database/)
  assert.match(message, /RETENTION_DAYS: must be a whole number/)
})

test('ready names a URL that answers, for any HOST', async (t) => {
  const scope = scopeOf(t)
  const { connection } = await testDatabase(scope)
  const outside = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)
  // On other systems the loopback interface has one address.
  const another = process.platform === 'linux' ? ['127.0.0.2'] : []
  for (const host of ['0.0.0.0', outside?.address ?? '127.0.0.1', ...another]) {
    const env = { DATABASE_URL: databaseUrl(connection), SOUK_DATA: folder, LOG_LEVEL: 'error' }
    const server = await serve({ ...env, HOST: host, PORT: '0' })
    const { status } = await fetch(`${server.url}/readyz`)
    assert.equal(await server.stop(), 0)
    assert.equal(status, 200)
  }
})

test('with --json a server prints one JSON value when it is ready', async (t) => {
  const { connection } = await testDatabase(scopeOf(t))
  const env = { DATABASE_URL: databaseUrl(connection), SOUK_DATA: folder, PORT: '0' }
  const person = ['--email', 'a@daily.example', '--password', 'a long one']
  await soukExit(env, 0, 'user', 'create', ...person) // With data, so that no demo is loaded.
  for (const command of [['serve'], ['demo', '--no-history']]) {
    const child = spawn(process.execPath, [SOUK, ...command, '--json'], {
      env: { ...process.env, ...env },
    })
    child.stdout.once('data', () => child.kill('SIGTERM'))
    assert.match(JSON.parse(await text(child.stdout)), /^ready http:\/\/localhost:\d+$/)
  }
})

test('a hanging start ends on SIGTERM like a running service', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  const holder = await db.reserve()
  scope.after(async () => holder.release())
  await holder.client.query('begin')
  await holder.client.query('lock table migration')
  const env = { DATABASE_URL: databaseUrl(db.connection), SOUK_DATA: folder, PORT: '0' }
  const child = spawn(process.execPath, [SOUK, 'serve'], { env: { ...process.env, ...env } })
  const isWaiting = sql`select from pg_stat_activity where wait_event_type = 'Lock'
    and application_name = 'souk: migrate' and datname = current_database()`
  while ((await db.row(isWaiting)) === null) await sleep(50)
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
  await holder.client.query('rollback')
})

test('Ctrl-C during the very first start ends it cleanly', async (t) => {
  const dataDir = await temporaryFolder(t, 'souk-first-')
  const env = { ...process.env, SOUK_DATA: dataDir, PORT: '0', LOG_LEVEL: 'error' }
  // In its own group, because a terminal signals a whole group.
  const child = spawn(process.execPath, [SOUK, 'serve'], { env, detached: true })
  const errors = text(child.stderr)
  while (globSync(join(dataDir, 'postgres.new-*', 'base')).length === 0) await sleep(20)
  process.kill(-Number(child.pid), 'SIGINT')
  assert.deepEqual(await once(child, 'exit'), [0, null])
  assert.equal(await errors, '')
})

test('the embedded PostgreSQL needs no shared memory of the system', async (t) => {
  const dataDir = await temporaryFolder(t, 'souk-no-shm-')
  const disguise = ['--user', '--map-root-user', '--mount', 'sh', '-c']
  // The tests' own folder may be in there as well.
  const hide = `mount --bind '${dataDir}' /mnt && mount -t tmpfs -o ro none /dev/shm`
  if (spawnSync('unshare', [...disguise, hide]).status !== 0) return t.skip('no namespaces here')
  const args = [...disguise, `${hide} && exec "$0" "$1" migrate --json`, process.execPath, SOUK]
  const child = spawn('unshare', args, { env: { ...process.env, SOUK_DATA: '/mnt' } })
  const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.equal(errors, '')
  assert.equal(JSON.parse(said).from, 0)
})

test('under node --watch, which observes loaded files in threads, no error is logged', async (t) => {
  const { connection } = await testDatabase(scopeOf(t))
  const env = { DATABASE_URL: databaseUrl(connection), SOUK_DATA: folder, PORT: '0' }
  // The environment of `npm run dev`, without its waiting for changes.
  const watching = { ...env, LOG_LEVEL: 'error', WATCH_REPORT_DEPENDENCIES: '1' }
  const child = spawn(process.execPath, [SOUK, 'serve'], { env: { ...process.env, ...watching } })
  const errors = text(child.stderr)
  await readyUrl(child)
  child.kill('SIGTERM')
  assert.equal(await errors, '')
})
