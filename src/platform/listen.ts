/**
 * Notifications of PostgreSQL on a connection of their own that comes back by itself.
 *
 * A notification sent while the connection is away is lost for good. So the listener is told
 * each time that it hears again, and then reads what it may have missed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Connection, firstStatement, newClient, sessionSettings } from './postgres.ts'
import { identifier } from './sql.ts'

const RETRY_MS = 250 // An embedded server is back within seconds; nobody minds four tries each.
const CONNECT_TIMEOUT_MS = 3_000

export interface ListenOptions {
  readonly connection: Connection
  readonly applicationName: string
  readonly channel: string
  /** A notification: its payload ('' when it has none). */
  readonly onNotification: (payload: string) => void
  /** The channel is heard, at first and again after each break: read what may be missed. */
  readonly onListening: () => void
}

export interface Listener {
  close(): Promise<void>
}

/** Listens until closed; `onListening` says when the first connection stands. */
export function listen(options: ListenOptions): Listener {
  const stop = new AbortController()
  const { signal } = stop
  let client: pg.Client | null = null

  const running = (async () => {
    while (!signal.aborted) {
      client = listeningClient(options)
      const ended = untilEnded(client)
      const isListening = await startListening(client, options.channel)
      if (isListening && !signal.aborted) {
        options.onListening()
        await ended
      } else {
        await client.end().catch(() => undefined)
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  })()
  return {
    close: async () => {
      stop.abort()
      // Cut rather than ended: an end() waits for a server that may be silent, and one during
      // connect() leaves that waiting for ever. Who only listens has nothing to finish.
      client?.connection.stream.destroy()
      await running
    },
  }
}

function listeningClient({
  connection,
  applicationName,
  onNotification,
}: ListenOptions): pg.Client {
  return newClient(connection, applicationName, {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  }).on('notification', ({ payload }) => onNotification(payload ?? ''))
}

function untilEnded(client: pg.Client): Promise<void> {
  return new Promise((resolve) => client.once('end', resolve))
}

/** False when the server is away: the loop tries again. */
async function startListening(client: pg.Client, channel: string): Promise<boolean> {
  try {
    await client.connect()
    const hear = `listen ${identifier(channel).text}`
    await client.query(firstStatement(`${sessionSettings()}; ${hear}`))
    return true
  } catch {
    return false
  }
}
