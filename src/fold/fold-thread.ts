/**
 * Runs the fold on a separate thread, started by start-fold.ts.
 *
 * A batch of 1,000 clicks takes about 40 ms of computing, which would delay every reader on the
 * main thread. The threads share only PostgreSQL: this one reads the log itself.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { MONEY_LANE, VIEW_LANES } from '../events/event.ts'
import { openPostgresEventLog } from '../events/event-log-postgres.ts'
import { type Connection, openDatabase } from '../platform/postgres/postgres.ts'
import { FoldLoop } from './fold-loop.ts'
import { foldMoney } from './fold-money.ts'
import { foldViews } from './fold-views.ts'

/** The thread's input. */
export interface FoldWork {
  readonly connection: Connection
}

/** The thread's messages. */
export type FoldMessage =
  | {
      readonly kind: 'folded'
      readonly lane: number
      readonly count: number
      readonly atMs: number
    }
  | { readonly kind: 'failed'; readonly error: unknown }

/** One for each loop's transaction. The log brings its own connections. */
const CONNECTIONS_MAX = 2

const { connection } = workerData as FoldWork
const send = (message: FoldMessage) => parentPort?.postMessage(message)
const database = openDatabase({
  ...{ connection, applicationName: 'souk: fold', connectionsMax: CONNECTIONS_MAX },
  onConnectionLost: (error) => send({ kind: 'failed', error }),
})
const log = openPostgresEventLog(connection)
const shared = {
  database,
  log,
  onFolded: (lane: number, events: readonly { readonly atMs: number }[]) =>
    send({ kind: 'folded', lane, count: events.length, atMs: events.at(-1)?.atMs ?? 0 }),
  onError: (error: unknown) => send({ kind: 'failed', error }),
}
const loops = [
  new FoldLoop({ ...shared, lanes: [MONEY_LANE], fold: foldMoney }),
  new FoldLoop({ ...shared, lanes: VIEW_LANES, fold: foldViews }),
]
for (const loop of loops) loop.start()

// Any message means: finish the current transaction and stop.
parentPort?.once('message', async () => {
  await Promise.all(loops.map((loop) => loop.close()))
  await log.close()
  await database.close()
})
