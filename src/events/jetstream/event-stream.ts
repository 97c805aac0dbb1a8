/**
 * The JetStream stream of events: publishing, and reading by sequence.
 *
 * Loaded only with NATS_URL. JetStream reports when a message is stored; whether that survives a
 * power loss depends on the server's `sync_interval` and number of replicas (docs/operations.md).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream'
import {
  type NatsConnection,
  PermissionViolationError,
  RequestError,
} from '@nats-io/transport-node'
import { formatError } from '../../platform/errors/format-error.ts'
import { Refusal } from '../../platform/errors/refusal.ts'
import { dial, FIRST_CONNECT_MS, RETRY_MS } from './dial-nats.ts'

/** One subject per lane, so that a client can follow one lane. */
const SUBJECTS = 'souk.event'
/** After this long without an answer the caller uses the spool. */
const ACK_TIMEOUT_MS = 2_000
/** A reader notices within twice this time that the server has forgotten it. */
const PULL_MS = 2_000
/** Prefetched for the reader: about 20,000 events. */
const MESSAGES_AHEAD = 200
/** Only a filter for message ids; event ids decide whether events are the same. */
const DUPLICATE_WINDOW_NS = 120 * 1e9
/** Of the bytes allowed to the stream; the rest may be less than one message. */
const FULL_FROM = 0.99
/** In the stream's description, because servers before 2.10 have no metadata. */
const OF_INSTALLATION = 'installation '
const FOREIGN_STREAM =
  'of NATS_URL holds events of another database: give each installation a NATS server or account ' +
  'of its own; delete the stream only if that database is gone'
/** The server's message names another consumer each time, so it would not count as a repeat. */
const FORBIDDEN_READER =
  'NATS_URL: its user may not make consumers, so no event is counted: let it publish to ' +
  '$JS.API.CONSUMER.>'
/** No stream reaches this, so a message that must follow it is never stored. */
const NO_SEQUENCE = 2 ** 52
/** On a cluster; a single server keeps one copy. */
const REPLICAS = 3

export interface StreamOptions {
  readonly natsUrl: string
  readonly streamName: string
  /**
   * The installation whose events the stream holds. The stream is marked with it, and another one's
   * stream is not touched.
   */
  readonly installation: string
}

export interface StreamMessage {
  readonly sequence: number
  readonly payload: Uint8Array
}

/** Connects in the background and after every break, until closed. */
export class EventStream {
  readonly #options: StreamOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #connection: NatsConnection | null = null
  /** Ends with the connection; reads then restart from their position. */
  #session = new AbortController()
  #lastError: unknown = new Error('not connected yet')

  private constructor(options: StreamOptions) {
    this.#options = options
    this.#running = this.#connectUntilStopped()
  }

  /** Waits briefly for the first connection. */
  static async open(options: StreamOptions): Promise<EventStream> {
    const stream = new EventStream(options)
    const isConnected = () => stream.#connection !== null
    for (let waited = 0; waited < FIRST_CONNECT_MS && !isConnected(); waited += 10) await sleep(10)
    return stream
  }

  isUnreachable(): boolean {
    return this.#connection === null
  }

  /**
   * Identifies this stream among all that had its name. Asks the server each time, because no
   * connection learns that another process recreated it.
   */
  created(): Promise<string> {
    return ensureStream(this.#connected(), this.#options)
  }

  /** Why it is unavailable; null if it is available. */
  problem(): Error | null {
    return this.#connection === null ? this.#absence() : null
  }

  /** Resolves when the server has stored the message; a repeated id within minutes is dropped. */
  async publish(lane: number, payload: Uint8Array, messageId: string): Promise<void> {
    const subject = `${SUBJECTS}.${this.#options.streamName}.${lane}`
    const options = { msgID: messageId, timeout: ACK_TIMEOUT_MS, retries: 0 }
    const connection = this.#connected()
    try {
      await jetstream(connection).publish(subject, payload, options)
    } catch (error) {
      // Nobody stores its subject: the stream is gone. Reconnecting recreates it.
      if (hasNoStream(error)) void connection.close()
      throw refusal('JetStream took no events', error)
    }
  }

  /**
   * Messages after a sequence, in order; waits for more at the end. Ends with the signal, when the
   * connection breaks, or when the server has forgotten the reader. Otherwise the client would
   * continue at the next number of whatever stream has the name by then.
   */
  async *read(after: number, until: AbortSignal): AsyncGenerator<StreamMessage> {
    const signal = AbortSignal.any([until, this.#session.signal])
    const { consumers } = jetstream(this.#connected())
    const from = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: after + 1 }
    const consumer = await consumers.get(this.#options.streamName, from).catch((error) => {
      throw isForbidden(error) ? new Refusal(FORBIDDEN_READER) : error
    })
    const messages = await consumer.consume({
      max_messages: MESSAGES_AHEAD,
      expires: PULL_MS,
      idle_heartbeat: PULL_MS / 2,
    })
    const stop = () => void messages.close()
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop() // Lost while the consumer was created, which no event reports.
    void (async () => {
      for await (const { type } of messages.status()) if (type === 'reset') stop()
    })()
    try {
      for await (const { seq, data } of messages) {
        if (signal.aborted) return
        yield { sequence: seq, payload: data }
      }
    } finally {
      signal.removeEventListener('abort', stop)
      await messages.close()
    }
  }

  /** The number of the last message, even if it was deleted. */
  async lastSequence(): Promise<number> {
    const manager = await jetstreamManager(this.#connected(), { checkAPI: false })
    return (await manager.streams.info(this.#options.streamName)).state.last_seq
  }

  /** Deletes the messages up to a sequence. */
  async cut(upTo: number): Promise<void> {
    const manager = await jetstreamManager(this.#connected(), { checkAPI: false })
    await manager.streams.purge(this.#options.streamName, { seq: upTo + 1 })
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#connection?.close()
    await this.#running
  }

  #connected(): NatsConnection {
    if (this.#connection === null) throw this.#absence()
    return this.#connection
  }

  #absence(): Error {
    return refusal('JetStream is away', this.#lastError)
  }

  async #connectUntilStopped(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        const connection = await dial(this.#options.natsUrl, [signal])
        // Aborted while it was created, which no event reports.
        if (signal.aborted) return await connection.close()
        await this.#keep(connection)
      } catch (error) {
        this.#lastError = error
      }
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async #keep(connection: NatsConnection): Promise<void> {
    const { signal } = this.#stopping
    const close = () => void connection.close()
    signal.addEventListener('abort', close)
    try {
      await this.#follow(connection)
    } finally {
      // Otherwise a server without JetStream would leave four connections a second behind.
      signal.removeEventListener('abort', close)
      await connection.close()
    }
  }

  /** Until the client gives up the connection; before that it moves among the servers. */
  async #follow(connection: NatsConnection): Promise<void> {
    try {
      await this.#begin(connection)
      for await (const { type } of connection.status()) {
        if (type === 'disconnect') this.#end()
        if (type === 'reconnect') await this.#begin(connection)
      }
    } finally {
      this.#end()
    }
  }

  async #begin(connection: NatsConnection): Promise<void> {
    await ensureStream(connection, this.#options)
    this.#session = new AbortController()
    this.#connection = connection
  }

  #end(): void {
    this.#connection = null
    this.#lastError = new Error('the connection was lost')
    this.#session.abort()
  }
}

/**
 * What the stream holds, whether it accepts more, and what is not copied yet by that stream's
 * position; null if there is none. Rejects if the server does not answer.
 */
export async function readStreamFacts(
  asked: Omit<StreamOptions, 'installation'> & { readonly installation: string | null },
  positionOf: (created: string) => Promise<number>,
) {
  const { natsUrl, streamName } = asked
  const connection = await dial(natsUrl)
  try {
    const known = await findStream(connection, asked)
    if (known === null) return null
    const { messages, first_seq: first, last_seq: last } = known.state
    const next = Math.max(first, (await positionOf(known.created)) + 1)
    const { streams } = await jetstreamManager(connection)
    const oldest = next > last ? null : await streams.getMessage(streamName, { seq: next })
    const waiting = oldest === null ? null : { messages: last - next + 1, since: oldest.time }
    const { num_replicas: replicas, max_bytes: bytesMax } = known.config
    const isFull = bytesMax > 0 && known.state.bytes >= FULL_FROM * bytesMax
    const isAllowed = await mayPublish(connection, streamName)
    return { messages, replicas, isFull, waiting, mayPublish: isAllowed }
  } finally {
    await connection.close()
  }
}

/** Also shown to users of commands, so without a stack. */
function refusal(what: string, cause: unknown): Refusal {
  // As `cause` it would be logged twice.
  return new Refusal(`NATS_URL: ${what} (${formatError(cause)})`)
}

/** Tests by publishing a message that the stream will not store. */
async function mayPublish(connection: NatsConnection, streamName: string): Promise<boolean> {
  const options = { expect: { lastSequence: NO_SEQUENCE }, timeout: ACK_TIMEOUT_MS, retries: 0 }
  try {
    await jetstream(connection).publish(`${SUBJECTS}.${streamName}.0`, undefined, options)
  } catch (error) {
    if (isForbidden(error)) return false
    // Otherwise the stream refused it, as intended.
    if (!(error instanceof JetStreamApiError)) throw error
  }
  return true
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof PermissionViolationError
}

/** Whether no stream stores this subject. */
function hasNoStream(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null
  return cause instanceof RequestError && cause.isNoResponders()
}

/** Creates the stream if it is missing and marks an unmarked one; returns its creation time. */
async function ensureStream(connection: NatsConnection, options: StreamOptions): Promise<string> {
  const known = await findStream(connection, options)
  const { streams } = await jetstreamManager(connection)
  const { streamName: name, installation } = options
  const description = OF_INSTALLATION + installation
  if (known !== null) {
    // Created before streams were marked, or by hand: it belongs to the first installation that
    // opens it.
    if (!known.config.description) await streams.update(name, { description })
    return known.created
  }
  const made = await streams.add({
    name,
    description,
    subjects: [`${SUBJECTS}.${name}.*`],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New, // A full stream refuses; nothing that was accepted is dropped.
    duplicate_window: DUPLICATE_WINDOW_NS,
    num_replicas: connection.info?.cluster === undefined ? 1 : REPLICAS,
  })
  return made.created
}

/**
 * Rejects if it belongs to another installation, which would otherwise count this one's clicks.
 * `null`: the owner is not known.
 */
async function findStream(
  connection: NatsConnection,
  { streamName, installation }: { streamName: string; installation: string | null },
): Promise<StreamInfo | null> {
  const { streams } = await jetstreamManager(connection)
  try {
    const known = await streams.info(streamName)
    const { description = '' } = known.config
    const isMarked = description.startsWith(OF_INSTALLATION) && installation !== null
    if (isMarked && description !== OF_INSTALLATION + installation) {
      throw new Refusal(`the stream ${streamName} ${FOREIGN_STREAM}`)
    }
    return known
  } catch (error) {
    const isApiError = error instanceof JetStreamApiError
    if (isApiError && error.code === JetStreamApiCodes.StreamNotFound) return null
    throw error
  }
}
