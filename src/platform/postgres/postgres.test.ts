import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { openProxy } from '../../../test/support/proxy.ts'
import { listen } from './listen.ts'
import { hasSqlState, isTransient, isUnreachable, openDatabase } from './postgres.ts'
import { identifier, joinSql, prepared, sql } from './sql.ts'

const db = await testDatabase()
await db.run(sql`create table note (id bigint primary key, text text not null)`)

test('int8, numeric and date are returned as text, timestamps as UTC, also in arrays', async () => {
  const row = await db.row(sql`
    select 9223372036854775807::int8 as int8, array[9007199254740993, null]::int8[] as int8s,
           1.50::numeric as numeric, array[0.10]::numeric[] as numerics,
           date '2026-03-29' as date, array[date '2026-03-29'] as dates,
           timestamptz '2026-03-29 02:30:00+02' as timestamptz,
           timestamp '2026-03-29 02:30:00.125' as timestamp, 7::int4 as int4
  `)
  assert.deepEqual(row, {
    int8: '9223372036854775807',
    int8s: ['9007199254740993', null],
    numeric: '1.50',
    numerics: ['0.10'],
    date: '2026-03-29',
    dates: ['2026-03-29'],
    timestamptz: new Date('2026-03-29T00:30:00Z'),
    timestamp: new Date('2026-03-29T02:30:00.125Z'),
    int4: 7,
  })
})

test('settings of the server, database or role do not reach our sessions', async (t) => {
  const own = await testDatabase({ after: (work) => t.after(work) })
  const { database } = own.connection
  for (const [name, value] of FOREIGN_SETTINGS) {
    await own.run(sql`alter database ${identifier(String(database))} set ${identifier(name)}
      to ${identifier(value)}`)
  }
  const { connection } = own
  const fresh = openDatabase({ connection, applicationName: 'test', connectionsMax: 1 })
  t.after(() => fresh.close())

  assert.deepEqual(
    await fresh.row(sql`select date '2026-03-29' as date, timestamptz '2026-03-29 12:00Z' as at`),
    { date: '2026-03-29', at: new Date('2026-03-29T12:00:00Z') },
  )
  for (const [name, value] of FOREIGN_SETTINGS) {
    const seen = await fresh.row<{ value: string }>(sql`select current_setting(${name}) as value`)
    assert.notEqual(seen?.value, value, name)
  }
})

const FOREIGN_SETTINGS = [
  ['datestyle', 'SQL, DMY'],
  ['timezone', 'Asia/Kolkata'],
  ['extra_float_digits', '-15'],
  ['array_nulls', 'off'],
  ['bytea_output', 'escape'],
  ['default_transaction_isolation', 'serializable'],
  ['statement_timeout', '5s'],
  ['lock_timeout', '2s'],
  ['idle_in_transaction_session_timeout', '3s'],
  ['idle_session_timeout', '20s'],
  ['transaction_timeout', '25s'],
] as const

test('values are bound, never spliced, and queries compose', async () => {
  const nasty = `'; drop table note; --`
  const condition = joinSql([sql`text = ${nasty}`, sql`id = ${'1'}`], ' and ')
  await db.run(sql`insert into note values (1, ${nasty})`)

  const query = sql`select ${identifier('id')} from note where ${condition} limit ${5}`
  assert.equal(query.text, 'select "id" from note where text = $1 and id = $2 limit $3')
  assert.deepEqual(await db.rows(query), [{ id: '1' }])
})

test('a prepared query is parsed once per connection', async () => {
  const connection = await db.reserve()
  try {
    for (const id of [1, 2, 3]) {
      await connection.rows(prepared('note by id', sql`select text from note where id = ${id}`))
    }
    const statements = await connection.rows(sql`select name from pg_prepared_statements`)
    assert.deepEqual(statements, [{ name: 'note by id' }])
  } finally {
    connection.release()
  }
})

test('a transaction commits as a whole or not at all, and a nested one alone', async () => {
  const insert = (id: number) => sql`insert into note values (${id}, 'in a transaction')`
  const ids = async () =>
    (await db.rows<{ id: string }>(sql`select id from note order by id`)).length
  const before = await ids()

  await assert.rejects(
    db.transaction(async (tx) => {
      await tx.run(insert(10))
      throw new Error('changed my mind')
    }),
    /changed my mind/,
  )
  assert.equal(await ids(), before)

  await db.transaction(async (tx) => {
    await tx.run(insert(11))
    const failed = tx.transaction(async (inner) => {
      await inner.run(insert(12))
      await inner.run(insert(11))
    })
    await assert.rejects(failed, (error) => hasSqlState(error, '23505'))
    await tx.run(insert(13))
  })
  assert.equal(await ids(), before + 2)
})

test('a transaction whose failure was swallowed does not count as committed', async () => {
  const work = db.transaction(async (tx) => {
    await tx.run(sql`insert into note values (20, 'lost')`)
    await tx.run(sql`select 1 / 0`).catch(() => undefined)
  })
  await assert.rejects(work, /cannot be committed/)
})

test('a failed statement does not cost its connection', async () => {
  const single = openDatabase({
    connection: db.connection,
    applicationName: 'single',
    connectionsMax: 1,
  })
  const pid = () => single.row<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  const before = await pid()
  await assert.rejects(single.run(sql`select 1 / 0`), (error) => hasSqlState(error, '22012'))
  assert.deepEqual(await pid(), before)
  await single.close()
})

test('a snapshot sees nothing that is committed after its first statement', async () => {
  const count = sql`select count(*) from note where id = 30`
  await db.transaction(
    async (tx) => {
      assert.deepEqual(await tx.row(count), { count: '0' })
      await db.run(sql`insert into note values (30, 'later')`)
      assert.deepEqual(await tx.row(count), { count: '0' })
    },
    { isSnapshot: true },
  )
  assert.deepEqual(await db.row(count), { count: '1' })
})

test('a lost connection rejects its query, and the next query gets a new connection', async () => {
  const other = openDatabase({ connection: db.connection, applicationName: 'other' })
  const sleeping = other.run(sql`select pg_sleep(60)`)
  const isLost = assert.rejects(sleeping, (error) => isUnreachable(error))
  const terminate = sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'other' and query like '%pg_sleep(60)' and state = 'active'
  `
  while ((await db.run(terminate)) === 0);
  await isLost
  assert.deepEqual(await other.row(sql`select 1 as one`), { one: 1 })
  await other.close()
})

test('a broken idle connection is reported with its reason and nothing else', async () => {
  const { promise: lost, resolve } = Promise.withResolvers<Error>()
  const other = openDatabase({
    connection: db.connection,
    applicationName: 'idle',
    onConnectionLost: resolve,
  })
  const own = await other.row<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  await db.run(sql`select pg_terminate_backend(${own?.pid})`)
  const error = await lost
  await other.close()
  assert.match(error.message, /terminating connection/)
  assert.ok(!('client' in error))
})

test('an unreachable server is distinguished from a wrong statement', async () => {
  const nowhere = openDatabase({
    connection: { host: '/nowhere', user: 'nobody', database: 'none' },
    applicationName: 'nowhere',
  })
  await assert.rejects(nowhere.rows(sql`select 1`), (error) => isUnreachable(error))
  await assert.rejects(db.rows(sql`select no_such_column`), (error) => !isUnreachable(error))
  await nowhere.close()
})

test('a transaction that was rolled back for another one may be retried', async () => {
  for (const code of ['40001', '40P01']) {
    const text = `do $$ begin raise sqlstate '${code}'; end $$`
    await assert.rejects(
      db.run({ text, values: [], parts: [text] }),
      (error) => isUnreachable(error) && isTransient(error),
      code,
    )
  }
})

test('a connection whose transaction could not be rolled back is not reused', async (t) => {
  const { connection } = db
  const only = openDatabase({ connection, applicationName: 'only', connectionsMax: 1 })
  t.after(() => only.close())
  only.pool.once('acquire', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    const refusing = (...args: unknown[]) =>
      args[0] === 'rollback' ? Promise.reject(new Error('out of memory')) : query(...args)
    Object.assign(client, { query: refusing })
  })
  await assert.rejects(only.transaction((tx) => tx.run(sql`select 1 / 0`)))
  assert.deepEqual(await only.row(sql`select 1 as one`), { one: 1 })
})

test('a server that refuses a session counts as unreachable', async (t) => {
  const own = await testDatabase({ after: (work) => t.after(work) })
  const database = identifier(String(own.connection.database))
  await db.run(sql`alter database ${database} with allow_connections false`)
  const fresh = openDatabase({ connection: own.connection, applicationName: 'test' })
  t.after(() => fresh.close())
  await assert.rejects(fresh.row(sql`select 1`), isUnreachable)
})

test('a host that left the network counts as unreachable, whatever error the system gives', () => {
  for (const code of ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'ECONNABORTED']) {
    const error = Object.assign(new Error(`read ${code}`), { code, syscall: 'read' })
    assert.ok(isUnreachable(error), code)
  }
})

test('a server with an invalid certificate counts as unreachable', () => {
  const codes = ['CERT_HAS_EXPIRED', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID']
  const more = ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_OSSL_X509_KEY_VALUES_MISMATCH']
  for (const code of [...codes, ...more, 'DEPTH_ZERO_SELF_SIGNED_CERT']) {
    const error = Object.assign(new Error('no'), { code })
    assert.equal(isUnreachable(error) && isTransient(error), true, code)
  }
  assert.equal(isUnreachable(new Error('The server does not support SSL connections')), true)
})

test('a statement that exceeds its time limit is cancelled', async () => {
  const hasty = openDatabase({
    connection: db.connection,
    applicationName: 'hasty',
    statementTimeoutMs: 50,
  })
  await assert.rejects(hasty.run(sql`select pg_sleep(60)`), (error) => hasSqlState(error, '57014'))
  await hasty.close()
})

test('a silent server is given up, and the pool continues once it answers again', async (t) => {
  const { host, port } = db.connection
  const proxy = await openProxy({ path: `${host}/.s.PGSQL.${port}` }, 'pass')
  const far = openDatabase({
    connection: { ...db.connection, host: '127.0.0.1', port: proxy.port },
    applicationName: 'far',
    connectionsMax: 1,
    statementTimeoutMs: 1_000, // Enough for a statement on a busy machine.
  })
  t.after(async () => {
    await far.close()
    await proxy.close()
  })
  const answers = async () => (await far.row<{ one: number }>(sql`select 1 as one`))?.one === 1
  assert.ok(await answers())
  proxy.setMode('hang')
  const work = far.transaction((tx) => tx.transaction((inner) => inner.row(sql`select 1`)))
  await assert.rejects(work, isUnreachable)
  proxy.setMode('pass')
  assert.ok(await answers())
})

test('a busy pool that reached a standby finds the primary again', async (t) => {
  const own = await testDatabase({ after: (work) => t.after(work) })
  const database = identifier(String(own.connection.database))
  const { connection } = own
  await own.run(sql`create table note (id int)`)
  await own.run(sql`alter database ${database} set default_transaction_read_only to on`)
  const pool = openDatabase({ connection, applicationName: 'test', connectionsMax: 1 })
  t.after(() => pool.close())
  const write = sql`insert into note values (1)`
  await assert.rejects(pool.run(write), (error) => hasSqlState(error, '25006'))
  await assert.rejects(
    pool.transaction((tx) => tx.transaction((inner) => inner.run(write))),
    (error) => hasSqlState(error, '25006'),
  )

  await own.run(sql`alter database ${database} reset default_transaction_read_only`)
  assert.equal(await pool.run(write), 1)
})

test('a server that never answers its first statement is given up', {
  timeout: 60_000,
}, async (t) => {
  const server = await openMuteServer(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const connection = { host: '127.0.0.1', port: server.port, user: 'souk', database: 'souk' }
  const pool = openDatabase({ connection, applicationName: 'test', statementTimeoutMs: 0 })
  const refused = assert.rejects(pool.row(sql`select 1`), isUnreachable)
  await server.untilAsked(1)
  t.mock.timers.tick(3_000)
  await refused
  await pool.close()

  const ignored = { onNotification: () => undefined, onListening: () => undefined }
  const listener = listen({ connection, applicationName: 'test', channel: 'news', ...ignored })
  await server.untilAsked(2)
  t.mock.timers.tick(3_000)
  await server.untilLeft(2)
  await listener.close()
})

/** Accepts connections, as a pooler does, and answers no statement. */
async function openMuteServer(t: TestContext) {
  const asked: Socket[] = []
  const left = new Set<Socket>()
  const news = new EventEmitter()
  const welcome = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1')
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(welcome)
      socket.once('data', () => {
        asked.push(socket)
        news.emit('change')
      })
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      left.add(socket)
      news.emit('change')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await once(news, 'change')
  }
  return {
    port: (server.address() as AddressInfo).port,
    untilAsked: (times: number) => until(() => asked.length >= times),
    untilLeft: (times: number) => until(() => left.size >= times),
  }
}

test('an idle connection is probed soon enough that proxies do not drop it unnoticed', async (t) => {
  const { host, port } = db.connection
  const proxy = await openProxy({ path: `${host}/.s.PGSQL.${port}` }, 'pass')
  const { mock } = t.mock.method(Socket.prototype, 'setKeepAlive')
  const far = openDatabase({
    connection: { ...db.connection, host: '127.0.0.1', port: proxy.port },
    applicationName: 'far',
  })
  t.after(async () => {
    await far.close()
    await proxy.close()
  })
  await far.row(sql`select 1`)
  assert.deepEqual(mock.calls[0]?.arguments, [true, 10_000])
})

test('a listener reconnects after a break and reports it', async () => {
  const heard: string[] = []
  const waiting: (() => void)[] = []
  let timesListening = 0
  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise<void>((resolve) => waiting.push(resolve))
  }
  const listener = listen({
    connection: db.connection,
    applicationName: 'listener',
    channel: 'Weather',
    onNotification: (payload) => {
      heard.push(payload)
      wake()
    },
    onListening: () => {
      timesListening += 1
      wake()
    },
  })
  await until(() => timesListening === 1)
  await db.run(sql`select pg_notify('Weather', 'one')`)
  await until(() => heard.length === 1)

  await db.run(sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener'
  `)
  await until(() => timesListening === 2)
  await db.run(sql`select pg_notify('Weather', 'two')`)
  await until(() => heard.length === 2)
  await listener.close()
  assert.deepEqual(heard, ['one', 'two'])
})
