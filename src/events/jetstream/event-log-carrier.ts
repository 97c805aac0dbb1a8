/**
 * Copies events from the JetStream stream into the event log, in the stream's order.
 *
 * One process at a time does this. A batch of events and the stream position commit together, and
 * an existing event conflicts on `(day, id)`. So each event is copied once, whatever crashes,
 * retries or redeliveries happen (I3). The fold, reconcile and everything else read one table,
 * whichever way an event came.
 */
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { withTimeout } from '../../platform/concurrency/timeout.ts'
import { type Connection, newClient } from '../../platform/postgres/postgres.ts'
import { HOUR_MS } from '../../platform/time/timestamp.ts'
import type { LogEvent } from '../event.ts'
import { storableText } from '../event-fields.ts'
import { eventFromJson, eventToJson } from '../event-json.ts'
import { APPEND_SESSION, INSERT_EVENTS, insertParameters, isRefusal } from '../event-log-sql.ts'
import type { EventStream, StreamMessage } from './event-stream.ts'

/** A transaction of this size takes about 20 ms. */
const BATCH_EVENTS_MAX = 1_000
/** A batch is whatever has arrived by then. */
const LINGER_MS = 2
/** Between two checks whether the carrier is gone, and after an error. */
const RETRY_MS = 1_000
const CONNECT_TIMEOUT_MS = 2_000
/** A statement without an answer for this long: the connection counts as dead. */
const ANSWER_TIMEOUT_MS = 5_000
/**
 * The server ends a session that was silent for this long, because its process is frozen or its
 * machine gone; another process continues. TCP alone would take two hours, or never notice.
 */
const SILENCE_MS_MAX = 15_000
/** First key of the carrier's advisory lock; the second is the hashed name of the stream. */
const CARRIER_LOCK = 0x53_43_41_52 // 'SCAR'
/** A stop has ten seconds for everything. */
const LAST_CARRY_MS = 1_000
/** Copied messages stay for another week: a database restored from a backup gets them again. */
const KEEP_DAYS = 7
const CUT_INTERVAL_MS = HOUR_MS

export interface CarrierOptions {
  readonly stream: Pick<EventStream, 'isUnreachable' | 'created' | 'read' | 'lastSequence' | 'cut'>
  readonly streamName: string
  readonly connection: Connection
  /** After this silence others may carry; only tests set another time. */
  readonly silenceMsMax?: number
  readonly onCarried: (events: readonly LogEvent[]) => void
  readonly onProblem: (error: unknown) => void
}

export class EventLogCarrier {
  readonly #options: CarrierOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  /** Null while another process carries, or nobody can. */
  #carrying: Carried | null = null

  constructor(options: CarrierOptions) {
    this.#options = options
    this.#running = this.#runUntilStopped()
  }

  /** Ends with everything in the stream copied to the log, unless that takes long. */
  async close(): Promise<void> {
    await withTimeout(this.#untilCarried(), LAST_CARRY_MS).catch(() => undefined)
    this.#stopping.abort()
    await this.#running
  }

  async #untilCarried(): Promise<void> {
    const last = await this.#options.stream.lastSequence().catch(() => 0) // The server may be down.
    while (this.#carrying !== null && this.#carrying.position < last) await sleep(LINGER_MS)
  }

  async #runUntilStopped(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#run()
      } catch (error) {
        if (!signal.aborted) this.#options.onProblem(error)
      }
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Carries until stopped, on one connection that holds the lock. */
  async #run(): Promise<void> {
    const { stream, streamName, connection, silenceMsMax = SILENCE_MS_MAX } = this.#options
    if (stream.isUnreachable()) return
    const client = newClient(connection, 'souk: event carrier', {
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
    })
    const lost = new AbortController()
    client.on('error', () => lost.abort())
    client.on('end', () => lost.abort())
    await client.connect()
    try {
      await client.query(
        `${APPEND_SESSION}; set idle_session_timeout to ${silenceMsMax};
        set idle_in_transaction_session_timeout to ${silenceMsMax}`,
      )
      if (!(await takeLock(client, streamName))) return
      const created = await stream.created()
      const carried = await openPosition(client, { streamName, created })
      // Otherwise messages with the lost messages' numbers would wait until somebody appends.
      if (carried.position > (await stream.lastSequence())) await this.#restart(carried)
      const signal = AbortSignal.any([this.#stopping.signal, lost.signal])
      this.#carrying = carried
      // Reads the last copied message again, to check that its number still means it.
      await this.#carry(carried, stream.read(Math.max(0, carried.position - 1), signal))
    } finally {
      this.#carrying = null
      lost.abort() // Ends the read, which may be waiting for a message.
      await client.end().catch(() => undefined)
    }
  }

  async #carry(state: Carried, messages: AsyncIterable<StreamMessage>): Promise<void> {
    const { stream, onCarried, onProblem, silenceMsMax = SILENCE_MS_MAX } = this.#options
    const askMs = silenceMsMax / 3
    const incoming = messages[Symbol.asyncIterator]()
    const take = () => {
      const taken = incoming.next()
      // Abandoned if storing fails; a caller that awaits it still gets the error.
      taken.catch(() => undefined)
      return taken
    }
    let batch = newBatch()
    let cutAt = 0
    let next = take()
    while (true) {
      // The client's count includes internal messages that it never yields. A batch that waited for
      // the next message by that count would wait until somebody appended again.
      const arrived = await (batch.last === 0
        ? meanwhile(next, { everyMs: askMs, ask: () => state.client.query('select') })
        : Promise.race([next, sleep(LINGER_MS)]))
      if (arrived?.done) return // Messages that were not stored are read again.
      if (arrived !== undefined) {
        const { sequence, payload } = arrived.value
        if (sequence > state.position) addMessage(batch, sequence, payload)
        else if (!isAsCarried(state, arrived.value)) return await this.#restart(state)
        next = take()
        if (batch.events.length < BATCH_EVENTS_MAX) continue
      }
      const refused = await storeBatch(state, batch)
      onCarried(batch.events)
      for (const { error } of refused) onProblem(error)
      batch = newBatch()
      if (performance.now() < cutAt) continue
      cutAt = performance.now() + CUT_INTERVAL_MS
      const upTo = await cutPosition(state)
      if (upTo !== null) await stream.cut(upTo)
    }
  }

  async #restart(state: Carried): Promise<void> {
    const problem = `stream ${state.streamName} lost messages: it is read again`
    this.#options.onProblem(new Error(problem))
    await restart(state)
  }
}

/** Waits for `next` and runs a check from time to time until it arrives. */
async function meanwhile<T>(
  next: Promise<T>,
  { everyMs, ask }: { everyMs: number; ask: () => Promise<unknown> },
): Promise<T> {
  const come = new AbortController()
  const askOn = async (): Promise<never> => {
    for (;;) {
      await sleep(everyMs, undefined, { signal: come.signal, ref: false })
      await ask()
    }
  }
  const asking = askOn()
  try {
    return await Promise.race([next, asking])
  } finally {
    come.abort()
    await asking.catch(() => undefined) // A running check finishes first.
  }
}

/** How far a stream has been copied, and the connection that stores this. */
interface Carried {
  readonly client: pg.Client
  readonly streamName: string
  readonly created: string
  position: number
  /** Hash of the message at the position; null if unknown. */
  digest: Buffer | null
}

interface Refused {
  readonly text: string
  readonly error: unknown
}

interface Batch {
  readonly events: LogEvent[]
  readonly refused: Refused[]
  last: number
  lastPayload: Uint8Array
}

const newBatch = (): Batch => ({ events: [], refused: [], last: 0, lastPayload: Buffer.of() })

const digestOf = (payload: Uint8Array): Buffer => hash('sha256', payload, 'buffer')

function addMessage(batch: Batch, sequence: number, payload: Uint8Array): void {
  batch.last = sequence
  batch.lastPayload = payload
  for (const text of Buffer.from(payload).toString().split('\n')) {
    try {
      batch.events.push(eventFromJson(text))
    } catch (error) {
      batch.refused.push({ text, error })
    }
  }
}

async function takeLock(client: pg.Client, streamName: string): Promise<boolean> {
  const { rows } = await client.query<{ is_mine: boolean }>(
    'select pg_try_advisory_lock($1, hashtext($2)) as is_mine',
    [CARRIER_LOCK, streamName],
  )
  return rows[0]?.is_mine === true
}

async function openPosition(
  client: pg.Client,
  { streamName, created }: { streamName: string; created: string },
): Promise<Carried> {
  const key = [streamName, created]
  await client.query(
    'insert into stream_position (stream, created) values ($1, $2) on conflict do nothing',
    key,
  )
  const { rows } = await client.query<{ position: string; digest: Buffer | null }>(
    'select position, digest from stream_position where stream = $1 and created = $2',
    key,
  )
  const [row] = rows
  const position = Number(row?.position)
  return { client, streamName, created, position, digest: row?.digest ?? null }
}

/**
 * Whether the position still means the message that was copied last. A stream that lost its newest
 * messages assigns their numbers again; messages with such numbers would be before the position and
 * never read. The check uses the data being read and not the server, because another server of a
 * cluster may answer, and copies can differ after a partition.
 */
function isAsCarried({ position, digest }: Carried, { sequence, payload }: StreamMessage): boolean {
  return sequence === position && (digest === null || digest.equals(digestOf(payload)))
}

/** From the first existing message: those already copied conflict and stay single. */
async function restart(state: Carried): Promise<void> {
  const key = [state.streamName, state.created]
  await state.client.query('delete from stream_day where stream = $1 and created = $2', key)
  await state.client.query(
    'update stream_position set position = 0, digest = null where stream = $1 and created = $2',
    key,
  )
  state.position = 0
}

/** Stores events and position in one transaction; returns what the log refused, with reasons. */
async function storeBatch(state: Carried, batch: Batch): Promise<readonly Refused[]> {
  const insertAll = (client: pg.Client) => insert(client, batch.events)
  try {
    await inTransaction(state, batch, insertAll)
    return batch.refused
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
  // One of them is invalid; separately, the others pass.
  const refused = [...batch.refused]
  await inTransaction(state, { ...batch, refused }, async (client) => {
    for (const event of batch.events) {
      await client.query('savepoint one_event')
      try {
        await insert(client, [event])
      } catch (error) {
        if (!isRefusal(error)) throw error
        await client.query('rollback to savepoint one_event')
        refused.push({ text: eventToJson(event), error })
      }
    }
  })
  return refused
}

async function insert(client: pg.Client, events: readonly LogEvent[]): Promise<void> {
  if (events.length === 0) return
  await client.query({
    name: 'append_events',
    text: INSERT_EVENTS,
    values: insertParameters(events),
  })
}

async function inTransaction(
  state: Carried,
  { last, lastPayload, refused }: Batch,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const { client, streamName, created, position } = state
  const digest = digestOf(lastPayload)
  await client.query('begin')
  try {
    const { rowCount } = await client.query(
      `update stream_position set position = $3, digest = $5
       where stream = $1 and created = $2 and position = $4`,
      [streamName, created, last, position, digest],
    )
    if (rowCount !== 1) throw new Error(`stream ${streamName} was carried by another process`)
    await work(client)
    for (const { text, error } of refused) {
      await client.query(
        `insert into refused_event (stream, created, position, event, error)
         values ($1, $2, $3, $4, $5)`,
        [streamName, created, last, storableText(text), String(error)],
      )
    }
    await client.query('commit')
    state.position = last
    state.digest = digest
  } catch (error) {
    // Every other error ends the connection, which need not answer again.
    if (isRefusal(error)) await client.query('rollback')
    throw error
  }
}

/** Records where today began; returns up to where the stream has been kept long enough. */
async function cutPosition(state: Carried): Promise<number | null> {
  const { client, streamName, created, position } = state
  await client.query(
    `insert into stream_day (stream, created, position) values ($1, $2, $3)
     on conflict do nothing`,
    [streamName, created, position],
  )
  const { rows } = await client.query<{ position: string }>(
    `delete from stream_day
     where stream = $1 and created = $2 and day <= current_date - $3::int returning position`,
    [streamName, created, KEEP_DAYS],
  )
  return rows.length === 0 ? null : Math.max(...rows.map((row) => Number(row.position)))
}
