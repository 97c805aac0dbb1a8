/**
 * The event log in PostgreSQL: appends share commits, and no reader misses an event.
 *
 * One connection writes. Each batch is one statement that takes its lanes' locks, draws its
 * numbers, inserts and commits (event-log-sql.ts). A second writer would wait for the first one's
 * locks, and batches would be half as large: 36 µs of the database per event instead of 30. Other
 * processes are notified separately (append-hints.ts).
 */
import pg from 'pg'
import { GroupCommit, type Writer } from '../platform/concurrency/group-commit.ts'
import { withTimeout } from '../platform/concurrency/timeout.ts'
import {
  type Connection,
  clientConfig,
  firstStatement,
  newClient,
  sessionSettings,
} from '../platform/postgres/postgres.ts'
import { makeAppendHints } from './append-hints.ts'
import type { LogEvent } from './event.ts'
import { type EventLog, EventRefused } from './event-log.ts'
import {
  APPEND_SESSION,
  INSERT_EVENTS,
  insertParameters,
  isRefusal,
  READ_EVENTS,
  storedEvent,
} from './event-log-sql.ts'

/** With larger batches the commit's cost no longer shows, but the last event's delay does. */
const MAX_BATCH_EVENTS = 500
/** About 20 MB, which one process appends in a second. The spool takes more. */
const MAX_QUEUED_EVENTS = 20_000
/** A batch without an answer for this long: the connection counts as dead. */
const ANSWER_TIMEOUT_MS = 5_000
/** A process must end even if the server hangs: the spool has its events. */
const CLOSE_TIMEOUT_MS = 1_000
const READ_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 2_000
/** Lanes read concurrently. */
const READER_COUNT = 2

/** Later than all days; `-infinity` sorts first as text as well. */
const NO_DAY = '9999-12-31'

const READER_SESSION = [
  sessionSettings(),
  // Always use the index: a partition without statistics looks small enough to sort, and then each
  // read of a backlog sorts all of it (100 times slower).
  'set enable_sort to off; set enable_bitmapscan to off; set enable_seqscan to off',
  // With the first day as a constant, earlier days are neither planned nor locked. At 738 days with
  // few open ones this takes a fiftieth of the time.
  'set plan_cache_mode to force_custom_plan',
  'set synchronous_commit to off', // It only reads and sends hints, which need not survive a crash.
].join('; ')

/** The log as the carrier sees it: it is notified of appends that bypassed it. */
export interface PostgresEventLog extends EventLog {
  hint(events: readonly LogEvent[]): void
}

/**
 * Opens the log over a migrated database. It connects on first use and after every failure: a
 * database that is down makes `append` reject, never the start.
 */
export function openPostgresEventLog(connection: Connection): PostgresEventLog {
  const writer = makeWriter(connection)
  const commits = new GroupCommit<LogEvent>({
    writers: [writer.write],
    maxBatchItems: MAX_BATCH_EVENTS,
    maxQueuedItems: MAX_QUEUED_EVENTS,
    isItemAtFault: (error) => error instanceof EventRefused,
  })
  const readers = new pg.Pool({
    ...clientConfig(connection, 'souk: event log'),
    max: READER_COUNT,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: READ_TIMEOUT_MS,
    onConnect: (client) => client.query(firstStatement(READER_SESSION)),
  } as pg.PoolConfig)
  readers.on('error', () => undefined) // An idle connection broke; the next read opens a new one.
  // Its query rejects as well.
  readers.on('connect', (client) => client.on('error', () => undefined))
  const hints = makeAppendHints({ connection, pool: readers })
  let closing: Promise<void> | null = null
  const firstDays = new Map<number, string>() // By lane, from the last read.

  return {
    async append(events) {
      for (let start = 0; start < events.length; start += MAX_BATCH_EVENTS) {
        await commits.add(events.slice(start, start + MAX_BATCH_EVENTS))
      }
      hints.appended(events)
    },
    async read({ lane, position, limit }) {
      for (;;) {
        const from = firstDays.get(lane) ?? NO_DAY
        const { rows } = await readers.query<unknown[]>({
          name: 'read_events',
          text: READ_EVENTS,
          values: [lane, position, limit, from],
          rowMode: 'array',
        })
        const firstDay = String(rows[0]?.[0])
        firstDays.set(lane, firstDay)
        if (firstDay >= from) return rows.map(storedEvent).filter((event) => event !== null)
      }
    },
    onAppended: hints.listen,
    isUnreachable: () => false, // Unknown without a query.
    hint: hints.appended,
    close() {
      closing ??= (async () => {
        await withTimeout(commits.close(), CLOSE_TIMEOUT_MS).catch(() => undefined)
        // A batch without an answer is cut off here and rejects.
        await Promise.all([hints.close(), readers.end(), writer.end()])
      })()
      return closing
    },
  }
}

/** A connection that appends batches, opened on demand and dropped after any error. */
function makeWriter(connection: Connection): { write: Writer<LogEvent>; end(): Promise<void> } {
  let client: pg.Client | null = null

  const connected = async (): Promise<pg.Client> => {
    if (client !== null) return client
    const fresh = newClient(connection, 'souk: event log', {
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
    })
    fresh.on('error', () => {
      if (client === fresh) client = null
    })
    await fresh.connect()
    client = fresh
    await fresh.query(APPEND_SESSION)
    return fresh
  }

  return {
    async write(events) {
      const values = written(events)
      try {
        const ready = await connected()
        await ready.query({ name: 'append_events', text: INSERT_EVENTS, values })
      } catch (error) {
        if (isRefusal(error)) throw new EventRefused(error.message, { cause: error })
        // Not awaited, because the server may never answer again.
        client?.end().catch(() => undefined)
        client = null
        throw error
      }
    },
    async end() {
      await client?.end()
    },
  }
}

/** Refuses a value that its field cannot hold: one such event must not block all others. */
function written(events: readonly LogEvent[]): (string | null)[] {
  try {
    return insertParameters(events)
  } catch (error) {
    throw new EventRefused('an event holds what its fields cannot', { cause: error })
  }
}
