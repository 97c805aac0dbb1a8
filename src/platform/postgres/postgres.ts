/**
 * The connection to PostgreSQL: a pool, transactions, typed rows, and notifications.
 *
 * One driver and one dialect serve the embedded server and any other. Values are exact: int8,
 * numeric and date are read as text, because a JavaScript number or Date would corrupt them;
 * timestamps as Date, in UTC.
 */
import pg from 'pg'
import { arrayLiteral } from './pg-array.ts'
import { type Sql, sql } from './sql.ts'

// In local time, offsets before standard time have seconds that Node drops: year 1 in New York was
// off by two seconds and became a year that no Date can read back.
pg.defaults.parseInputDatesAsUTC = true

/** The server's address: the result of `openEmbeddedPostgres`, or `{ connectionString }`. */
export type Connection = Pick<
  pg.ClientConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl'
>

/** The argument of every store function: a database, or a transaction of it. */
export interface Db {
  /** All rows of a query. Int8, numeric and date are strings, timestamps are Dates. */
  rows<T>(query: Sql): Promise<T[]>
  /** The first row; null if there is none. */
  row<T>(query: Sql): Promise<T | null>
  /** Runs a statement; returns the number of affected rows. */
  run(query: Sql): Promise<number>
  /**
   * Commits if `work` resolves, rolls back if it throws. Inside another transaction: a savepoint.
   */
  transaction<T>(work: (tx: Db) => Promise<T>, options?: TransactionOptions): Promise<T>
}

interface TransactionOptions {
  /** Read only; every statement sees the database as it was at the first one. */
  readonly isSnapshot?: boolean
}

/** One reserved connection: for session locks, and for COPY through `client`. */
export interface ReservedDb extends Db {
  readonly client: pg.PoolClient
  /** Returns it to the pool. With an error, closes the connection and releases its locks. */
  release(error?: Error): void
}

export interface Database extends Db {
  readonly connection: Connection
  readonly pool: pg.Pool
  reserve(): Promise<ReservedDb>
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly connection: Connection
  readonly applicationName: string
  readonly connectionsMax?: number
  /** 0 means no limit, for imports and reconciliation. */
  readonly statementTimeoutMs?: number
  /** Called when an idle connection breaks; running queries reject by themselves. */
  readonly onConnectionLost?: (error: Error) => void
}

const CONNECTIONS_MAX = 10 // Of about 100 that a small server allows, for several processes.
const STATEMENT_TIMEOUT_MS = 30_000 // Longer than any report page takes, shorter than an outage.
/** The server ends a statement itself. If it is silent for this much longer, it is gone. */
const SILENCE_MS = 2_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000 // A stuck process must not hold row locks forever.
const CONNECT_TIMEOUT_MS = 3_000 // A caller that waits longer should get a 503.
const START_CONNECT_TIMEOUT_MS = 10_000 // A start may wait longer, but not forever.
const IDLE_TIMEOUT_MS = 60_000
/**
 * An idle connection is probed after this time and given up ten seconds later. The system's default
 * of two hours is longer than proxies remember a connection, so a listener would stop hearing
 * anything.
 */
const KEEP_ALIVE_MS = 10_000

/** Opens a pool; connections are created on first use. */
export function openDatabase(options: DatabaseOptions): Database {
  const { connection, onConnectionLost = () => undefined } = options
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS
  const pool = new pg.Pool({
    ...clientConfig(connection, options.applicationName),
    max: options.connectionsMax ?? CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // Otherwise a connection whose other end vanished is waited for until TCP gives up: 15 minutes.
    ...(statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + SILENCE_MS } : {}),
    onConnect: (client) => client.query(firstStatement(sessionSettings({ statementTimeoutMs }))),
  } as pg.PoolConfig)
  pool.on('error', (error) => {
    // The pool attaches its client, with cancel key and statements, which must not be logged.
    Reflect.deleteProperty(error, 'client')
    onConnectionLost(error)
  })
  // A connection that breaks while it is in use rejects its query and also emits this event;
  // without a listener the process would exit.
  pool.on('connect', (client) => client.on('error', () => undefined))

  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    try {
      const result = await work(client)
      client.release()
      return result
    } catch (error) {
      // Not for every error: a unique violation should not close a good connection. But a
      // connection that could not be rolled back would refuse every later query.
      client.release(endsConnection(error) || client.getTransactionStatus() !== 'I')
      throw error
    }
  }
  return {
    ...dbOver((query) => withClient((client) => send(client, query))),
    transaction: (work, mode) => withClient((client) => clientDb(client).transaction(work, mode)),
    connection,
    pool,
    reserve: async () => {
      const client = await pool.connect()
      return { ...clientDb(client), client, release: (error) => client.release(error) }
    },
    close: () => pool.end(),
  }
}

/**
 * The first statement is part of connecting and has the same time limit: behind a pooler the server
 * itself may be silent.
 */
export function firstStatement(text: string): pg.QueryConfig & { query_timeout: number } {
  return { text, query_timeout: CONNECT_TIMEOUT_MS }
}

/**
 * A connection outside any pool (LISTEN, locks, COPY), not yet connected; `end` reports its end.
 */
export function newClient(
  connection: Connection,
  applicationName: string,
  timeouts: Pick<pg.ClientConfig, 'connectionTimeoutMillis' | 'query_timeout'> = {},
): pg.Client {
  const client = new pg.Client({ ...clientConfig(connection, applicationName), ...timeouts })
  // Pending queries reject as well; without a listener this event would exit the process.
  client.on('error', () => undefined)
  return client
}

/** Settings of every connection: exact types, sockets kept alive. */
export function clientConfig(connection: Connection, applicationName: string): pg.ClientConfig {
  return {
    ...connection,
    application_name: applicationName,
    connectionTimeoutMillis: START_CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: exactTypes,
  }
}

/**
 * Session settings, independent of those of server, database or role: how values are read and
 * written, the isolation that the locks are designed for, and no time limits but these. A statement
 * sets them, because poolers refuse start-up options.
 */
export function sessionSettings({ statementTimeoutMs = 0 } = {}): string {
  return [
    `set timezone to 'UTC'`,
    `set datestyle to 'ISO'`,
    `set extra_float_digits to 1`,
    `set array_nulls to on`,
    `set bytea_output to 'hex'`,
    `set default_transaction_isolation to 'read committed'`,
    `set statement_timeout to ${Math.trunc(statementTimeoutMs)}`,
    NO_TRANSACTION_TIMEOUT,
    `set lock_timeout to 0`,
    `set idle_in_transaction_session_timeout to ${IDLE_IN_TRANSACTION_TIMEOUT_MS}`,
    `set idle_session_timeout to 0`,
    ...(statementTimeoutMs === 0 ? [ENDS_WITH_ITS_CLIENT] : []),
  ].join('; ')
}

/** Servers before 17 lack this setting, and they must be reachable to be reported as too old. */
const NO_TRANSACTION_TIMEOUT = `select set_config('transaction_timeout', '0', false)
  where current_setting('server_version_num')::int >= 170000`

/**
 * A statement without a time limit ends when its client disconnects, for example after Ctrl-C. By
 * default the server would notice only at the statement's end. Some systems cannot check, and
 * refuse the value.
 */
const ENDS_WITH_ITS_CLIENT = `select set_config('client_connection_check_interval', '5s', false)
  where version() !~* 'windows|mingw|visual|solaris|illumos'`

/**
 * True if the database is unreachable or cannot serve now: the caller may retry, spool, or answer
 * 503. False for errors of the statement itself.
 */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (hasHungUp(error)) return true
  if (error instanceof AggregateError && error.errors.some(isUnreachable)) return true
  if ('syscall' in error && error.syscall === 'connect') return true
  const code = 'code' in error ? String(error.code) : ''
  if (UNREACHABLE_CODES.has(code) || UNREACHABLE_SQLSTATE.test(code)) return true
  if (UNTRUSTED_CODE.test(code)) return true
  return UNREACHABLE_MESSAGE.test(error.message)
}

/**
 * True if the server answers but refuses the session: unknown role or database, wrong password,
 * missing privilege.
 */
export function isForbidden(error: unknown): boolean {
  return error instanceof pg.DatabaseError && FORBIDDEN_SQLSTATE.test(error.code ?? '')
}

// 28 authorization, 3D000 unknown database, 42501 missing privilege.
const FORBIDDEN_SQLSTATE = /^(28...|3D000|42501)$/

/**
 * True if a retry may succeed: unreachable, a deadlock, tables of another version. False if the
 * statement is at fault: an impossible value, a constraint, a programming error.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return isUnreachable(error)
  return !REFUSED_SQLSTATE.test(error.code ?? '')
}

// 21 cardinality, 22 data, 23 constraints, 54 limits such as a key's length, P0001 a trigger's
// refusal.
const REFUSED_SQLSTATE = /^(2[123]...|54...|P0001)$/

/** Resolves when the server answers. */
export async function ping(db: Db): Promise<void> {
  await db.row(sql`select 1`)
}

export const UNIQUE_VIOLATION = '23505'
export const LOCK_NOT_AVAILABLE = '55P03'

/** True for a PostgreSQL error with this SQLSTATE. */
export function hasSqlState(error: unknown, sqlState: string): boolean {
  return error instanceof pg.DatabaseError && error.code === sqlState
}

/**
 * The server sends FATAL just before it closes the connection; the driver's own errors follow. A
 * server that accepts no writes is a standby since a failover: only a new connection finds the
 * primary.
 */
function endsConnection(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return isUnreachable(error)
  return hasHungUp(error) || error.code === READ_ONLY
}

/** True for errors about the session, such as a password or a recreated database. */
export function hasHungUp(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'FATAL'
}

/** A write on a standby or on a read-only server. */
export const READ_ONLY = '25006'

const UNREACHABLE_CODES = new Set([
  ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  // Also for a connection that was open: the network's report about its host.
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
])

// A certificate that is expired or not trusted, no TLS at the other end, or an unreadable or wrong
// client key.
const UNTRUSTED_CODE = /(^|_)CERT|^UNABLE_TO_|^ERR_(TLS|SSL|OSSL)_|^EPROTO$/

// 08 connection, 40 rolled back for another transaction (deadlock, conflict with a standby's
// recovery), 53 out of resources (disk, connections), 57P shutting down or starting, 58 system
// error, 25006 a standby after a failover, 55P03 and 57014 timeouts.
const UNREACHABLE_SQLSTATE = /^(08...|40...|53...|57P0.|58...|25006|55P03|57014)$/

// The driver gives these errors no code.
const UNREACHABLE_MESSAGE = new RegExp(
  [
    '^Connection terminated',
    '^Query read timeout',
    '^timeout exceeded when trying to connect',
    '^timeout expired', // The same, of a connection outside a pool.
    '^Client has encountered a connection error',
    '^Client was closed',
    '^The server does not support SSL connections',
    '^Cannot use a pool after calling end',
  ].join('|'),
)

async function send(client: pg.ClientBase, query: Sql): Promise<pg.QueryResult> {
  const { text, name } = query
  const values = query.values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value))
  return client.query({ text, values, ...(name === undefined ? {} : { name }) })
}

function dbOver(query: (query: Sql) => Promise<pg.QueryResult>): Omit<Db, 'transaction'> {
  return {
    rows: async <T>(statement: Sql) => (await query(statement)).rows as T[],
    row: async <T>(statement: Sql) => ((await query(statement)).rows[0] ?? null) as T | null,
    run: async (statement) => (await query(statement)).rowCount ?? 0,
  }
}

/** A connection inside this many transactions; each one after the first is a savepoint. */
function clientDb(client: pg.PoolClient, depth = 0): Db {
  return {
    ...dbOver((query) => send(client, query)),
    transaction: (work, mode) => transact(client, work, { ...mode, depth }),
  }
}

async function transact<T>(
  client: pg.PoolClient,
  work: (tx: Db) => Promise<T>,
  { depth, isSnapshot = false }: TransactionOptions & { readonly depth: number },
): Promise<T> {
  const { begin, end, undo } = depth === 0 ? outermost(isSnapshot) : savepoint(`nested_${depth}`)
  await client.query(begin)
  try {
    const result = await work(clientDb(client, depth + 1))
    const { command } = await client.query(end)
    // PostgreSQL answers the commit of a failed transaction with a silent rollback.
    if (command === 'ROLLBACK') throw new Error('a failed transaction cannot be committed')
    return result
  } catch (error) {
    // If the connection is gone, so is the transaction.
    if (!endsConnection(error)) await client.query(undo).catch(() => undefined)
    throw error
  }
}

const outermost = (isSnapshot: boolean) => ({
  begin: isSnapshot ? 'begin isolation level repeatable read read only' : 'begin',
  end: 'commit',
  undo: 'rollback',
})

const savepoint = (name: string) => ({
  begin: `savepoint ${name}`,
  end: `release savepoint ${name}`,
  undo: `rollback to savepoint ${name}`,
})

const { builtins } = pg.types
// The driver's list has no names for array types.
const INT8_ARRAY = 1016
const DATE_ARRAY = 1182
const NUMERIC_ARRAY = 1231
const TEXT_ARRAY = 1009 as typeof builtins.TEXT

const TEXT_TYPES: ReadonlySet<number> = new Set([builtins.INT8, builtins.NUMERIC, builtins.DATE])
const TEXT_ARRAY_TYPES: ReadonlySet<number> = new Set([INT8_ARRAY, DATE_ARRAY, NUMERIC_ARRAY])

const exactTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format === 'binary') return pg.types.getTypeParser(oid, 'binary')
    if (TEXT_TYPES.has(oid)) return (text: string) => text
    if (TEXT_ARRAY_TYPES.has(oid)) return pg.types.getTypeParser(TEXT_ARRAY)
    if (oid === builtins.TIMESTAMP) return (text: string) => new Date(`${text.replace(' ', 'T')}Z`)
    return pg.types.getTypeParser(oid)
  }) as typeof pg.types.getTypeParser,
}
