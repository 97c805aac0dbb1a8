/**
 * Checks whether a reachable database can be used. Reports every problem with its fix before
 * anything is created in it.
 */
import type pg from 'pg'
import { withTimeout } from '../concurrency/timeout.ts'
import { type Connection, newClient } from './postgres.ts'

export interface DatabaseFacts {
  readonly version: string
  readonly version_number: number
  readonly encoding: string
  readonly is_read_only: boolean
  readonly role: string
  readonly database: string
  /** The first existing schema of the search path; null if there is none. */
  readonly schema: string | null
  /** Whether the role may create its tables there, and the schema of the job queue beside it. */
  readonly may_create: boolean
  /** Reconciliation compares in temporary tables. */
  readonly may_use_temporary: boolean
  /** Server process ids that served each query of two open connections. */
  readonly served_by: readonly [readonly number[], readonly number[]]
}

/** Souk uses `returning old` and virtual columns, which PostgreSQL 18 added. */
const VERSION_MIN = 180_000
/** The query reads only catalogue data, so any working server answers in time. */
const ANSWER_TIMEOUT_MS = 10_000
const CLOSE_MS = 1_000
/**
 * Queries per connection, in turn. A pooler that lends out its last connection fails at the second
 * one.
 */
const QUESTIONS = 3

/** One sentence per problem; an empty list means the database can be used. */
export function databaseFaults(facts: DatabaseFacts): string[] {
  const { version, encoding, role, database, schema } = facts
  const faults: string[] = []
  if (facts.version_number < VERSION_MIN) {
    faults.push(`PostgreSQL ${version}: needs PostgreSQL 18 or later`)
  }
  if (encoding !== 'UTF8') {
    faults.push(
      `the database has the encoding ${encoding}: ` +
        `recreate it with encoding 'UTF8' template template0`,
    )
  }
  if (facts.is_read_only) {
    faults.push(
      'the database takes no writes: name the primary server, not a standby; ' +
        `if it is the primary, ${role} or the server has default_transaction_read_only set`,
    )
  }
  if (schema === null) {
    faults.push(`no schema of the search path of ${role} is there: create one, or \`public\``)
  } else if (!facts.may_create) {
    faults.push(
      `${role} may not create tables in the schema ${schema} of ${database}: ` +
        `alter database "${database}" owner to "${role}"`,
    )
  }
  if (!facts.may_use_temporary) {
    faults.push(
      `${role} may not make temporary tables: grant temporary on database "${database}" to "${role}"`,
    )
  }
  if (isSharedByTransactions(facts.served_by)) {
    faults.push(
      'a pooler gives a connection’s transactions to other connections’ sessions: put it into ' +
        'session mode, or name the server itself',
    )
  }
  return faults
}

/**
 * Sessions carry locks, settings and prepared statements. A pooler that shares them loses paid
 * clicks: a reader's `synchronous_commit to off` would reach a writer.
 */
function isSharedByTransactions([one, other]: DatabaseFacts['served_by']): boolean {
  const [first] = one
  const [second] = other
  return first === second || one.some((pid) => pid !== first) || other.some((pid) => pid !== second)
}

/** Reads everything that `databaseFaults` judges. */
export async function readDatabaseFacts(connection: Connection): Promise<DatabaseFacts> {
  const ask = () =>
    newClient(connection, 'souk: looks at the database', { query_timeout: ANSWER_TIMEOUT_MS })
  const clients = [ask(), ask()] as const
  const [one, other] = clients
  try {
    await Promise.all(clients.map((client) => client.connect()))
    const { rows } = await one.query(FACTS)
    const ones: number[] = []
    const others: number[] = []
    for (let asked = 0; asked < QUESTIONS; asked += 1) {
      ones.push(await servedBy(one))
      others.push(await servedBy(other))
    }
    return { ...rows[0], served_by: [ones, others] }
  } finally {
    // A silent server never confirms the end of a connection.
    await Promise.allSettled(clients.map((client) => withTimeout(client.end(), CLOSE_MS)))
  }
}

async function servedBy(client: pg.Client): Promise<number> {
  const { rows } = await client.query('select pg_backend_pid() as pid')
  return rows[0].pid
}

const FACTS = `
  select current_setting('server_version') as version,
    current_setting('server_version_num')::int as version_number,
    current_setting('server_encoding') as encoding,
    current_setting('transaction_read_only')::boolean as is_read_only,
    current_user as role, current_database() as database, current_schema() as schema,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
    has_database_privilege(current_database(), 'temporary') as may_use_temporary`
