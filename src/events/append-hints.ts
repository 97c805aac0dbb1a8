/**
 * Notifies readers that something was appended: at once within the process, by NOTIFY to other
 * processes.
 *
 * It is only a hint: it is throttled, may be lost with its connection, and readers also poll. It is
 * sent apart from the appends, because NOTIFY takes a lock of the whole server until its commit is
 * on disk. Inside the append it would serialize the commits of all nodes (half the rate with eight
 * connections).
 */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { type Listener, listen } from '../platform/postgres/listen.ts'
import type { Connection } from '../platform/postgres/postgres.ts'
import { LANES } from './event.ts'

const CHANNEL = 'event_appended'
/** Each notification is its own transaction, so at most 20 a second per process. */
const NOTIFY_INTERVAL_MS = 50

export interface AppendHints {
  appended(events: readonly { readonly lane: number }[]): void
  listen(callback: (lane: number) => void): void
  close(): Promise<void>
}

/** Sends through `pool`, whose commits should not wait for a disk. */
export function makeAppendHints(options: { connection: Connection; pool: pg.Pool }): AppendHints {
  const callbacks: ((lane: number) => void)[] = []
  const sender = randomUUID() // Lets a process skip its own notifications.
  const notifier = makeNotifier(async (lanes) => {
    await options.pool.query('select pg_notify($1, $2)', [CHANNEL, `${sender} ${lanes.join(',')}`])
  })
  const call = (lanes: Iterable<number>) => {
    for (const lane of lanes) for (const callback of callbacks) callback(lane)
  }
  let listener: Listener | null = null

  return {
    appended(events) {
      const lanes = new Set(events.map(({ lane }) => lane))
      call(lanes)
      notifier.add(lanes)
    },
    listen(callback) {
      callbacks.push(callback)
      listener ??= listen({
        connection: options.connection,
        applicationName: 'souk: event hints',
        channel: CHANNEL,
        onNotification: (payload) => {
          const [from, lanes = ''] = payload.split(' ')
          if (from !== sender) call(lanes.split(',').map(Number))
        },
        // Covers notifications that were missed while not listening.
        onListening: () => call(LANES),
      })
    },
    async close() {
      await notifier.close()
      await listener?.close()
    },
  }
}

/** Sends the first change at once and combines those that follow within the interval. */
function makeNotifier(send: (lanes: number[]) => Promise<void>) {
  const waiting = new Set<number>()
  let timer: NodeJS.Timeout | null = null
  let sending: Promise<void> = Promise.resolve()

  const flush = () => {
    timer = null
    if (waiting.size === 0) return
    const lanes = [...waiting]
    waiting.clear()
    // A lost hint costs a reader one poll.
    sending = send(lanes).catch(() => undefined)
    timer = setTimeout(flush, NOTIFY_INTERVAL_MS)
    timer.unref()
  }
  return {
    add(lanes: Iterable<number>) {
      for (const lane of lanes) waiting.add(lane)
      if (timer === null) flush()
    },
    async close() {
      if (timer !== null) clearTimeout(timer)
      await sending
    },
  }
}
