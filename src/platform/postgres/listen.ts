/**
 * PostgreSQL notifications on a dedicated connection that reconnects by itself.
 *
 * A notification sent while the connection is down is lost. So `onListening` is called after every
 * connect, and the caller then reads what it may have missed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Connection, firstStatement, newClient, sessionSettings } from './postgres.ts'
import { identifier } from './sql.ts'

// An embedded server is back within seconds; four attempts a second do no harm.
const RETRY_MS = 250
const CONNECT_TIMEOUT_MS = 3_000

export interface ListenOptions {
  readonly connection: Connection
  readonly applicationName: string
  readonly channel: string
  /** A notification's payload; empty if it has none. */
  readonly onNotification: (payload: string) => void
  /** The connection listens, initially or after a break: read what may be missed. */
  readonly onListening: () => void
}

export interface Listener {
  close(): Promise<void>
}

/** Listens until closed; `onListening` reports the first connection. */
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
      // Destroyed instead of ended: `end()` waits for a server that may be silent, and during
      // `connect()` it never returns. A listener has nothing to finish.
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

/** False if the server is down; the loop tries again. */
async function startListening(client: pg.Client, channel: string): Promise<boolean> {
  try {
    await client.connect()
    const listenStatement = `listen ${identifier(channel).text}`
    await client.query(firstStatement(`${sessionSettings()}; ${listenStatement}`))
    return true
  } catch {
    return false
  }
}
