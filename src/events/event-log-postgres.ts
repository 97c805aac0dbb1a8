/**
 * The event log in PostgreSQL: appends that share commits, in an order no reader misses.
 *
 * One connection writes; each batch is one statement that takes its lanes' locks, draws its
 * numbers, inserts and commits (event-log-sql.ts). A second one would wait for the locks of the
 * first, and both batches would be half as large: 36 µs of the database an event instead of 30.
 * Other processes are told by a notification sent apart from the appends (append-hints.ts).
 */
import pg from 'pg'
import { GroupCommit, type Writer } from '../platform/group-commit.ts'
import { withPatience } from '../platform/patience.ts'
import {
  type Connection,
  clientConfig,
  firstStatement,
  newClient,
  sessionSettings,
} from '../platform/postgres.ts'
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

/** Beyond this the cost of a commit no longer shows, and the wait of the last one does. */
const MAX_BATCH_EVENTS = 500
/** Some 20 MB, and about what one process appends in a second. Above: the spool's work. */
const MAX_QUEUED_EVENTS = 20_000
/** A batch without an answer for this long: the connection is taken for dead and dropped. */
const ANSWER_TIMEOUT_MS = 5_000
/** The end of a process must not wait for a server that hangs: the spool has what it holds. */
const CLOSE_TIMEOUT_MS = 1_000
const READ_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 2_000
/** Lanes read at once. */
const READER_COUNT = 2

/** After all days; `-infinity`, all of them, comes before them in the order of text as well. */
const NO_DAY = '9999-12-31'

const READER_SESSION = [
  sessionSettings(),
  // In the order of the index, always: a partition that is too new for statistics looks small
  // enough to sort, and then each read of a backlog sorts all of it (measured: 100 times slower).
  'set enable_sort to off; set enable_bitmapscan to off; set enable_seqscan to off',
  // With the first day as a constant, the days before it are neither planned nor locked. Measured
  // at 738 days, of which few are open: a fiftieth of the time that all of them take.
  'set plan_cache_mode to force_custom_plan',
  'set synchronous_commit to off', // it only reads and sends hints, which need not survive a crash
].join('; ')

/** The log as the carrier of a stream sees it: told of appends that went past it. */
export interface PostgresEventLog extends EventLog {
  hint(events: readonly LogEvent[]): void
}

/**
 * Opens the log over a database that has the migrations. It connects on first use, and again
 * after every failure: a database that is away makes `append` reject, never the start.
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
  readers.on('error', () => undefined) // an idle connection broke: the next read makes a new one
  readers.on('connect', (client) => client.on('error', () => undefined)) // its query rejects too
  const hints = makeAppendHints({ connection, pool: readers })
  let closing: Promise<void> | null = null
  const firstDays = new Map<number, string>() // by lane, as the last read said

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
    isAway: () => false, // A database is asked: nothing is kept that could tell.
    hint: hints.appended,
    close() {
      closing ??= (async () => {
        await withPatience(commits.close(), CLOSE_TIMEOUT_MS).catch(() => undefined)
        // A batch still without an answer is cut here, and rejects.
        await Promise.all([hints.close(), readers.end(), writer.end()])
      })()
      return closing
    },
  }
}

/** A connection that appends batches, opened when needed and dropped after any trouble. */
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
        // Not awaited: the far end may never answer again.
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

/** Refuses what is no value of its field: one such event must not keep all others away. */
function written(events: readonly LogEvent[]): (string | null)[] {
  try {
    return insertParameters(events)
  } catch (error) {
    throw new EventRefused('an event holds what its fields cannot', { cause: error })
  }
}
