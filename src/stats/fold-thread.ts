/**
 * The fold on a thread of its own, started by start-fold.ts.
 *
 * A batch of a thousand clicks is some 40 ms of computing. On the thread that answers readers each
 * of them would wait for it; here they meet in PostgreSQL alone. It reads the log itself, so the
 * two threads share nothing but where the database is.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { MONEY_LANE, VIEW_LANES } from '../events/event.ts'
import { openPostgresEventLog } from '../events/event-log-postgres.ts'
import { type Connection, openDatabase } from '../platform/postgres.ts'
import { FoldLoop } from './fold-loop.ts'
import { foldMoney } from './fold-money.ts'
import { foldViews } from './fold-views.ts'

/** What the thread is given. */
export interface FoldWork {
  readonly connection: Connection
}

/** What the thread tells. */
export type FoldNews =
  | {
      readonly kind: 'folded'
      readonly lane: number
      readonly count: number
      readonly atMs: number
    }
  | { readonly kind: 'failed'; readonly error: unknown }

/** One for each loop's own transaction; the log brings connections of its own. */
const CONNECTIONS_MAX = 2

const { connection } = workerData as FoldWork
const tell = (news: FoldNews) => parentPort?.postMessage(news)
const database = openDatabase({
  ...{ connection, applicationName: 'souk: fold', connectionsMax: CONNECTIONS_MAX },
  onConnectionLost: (error) => tell({ kind: 'failed', error }),
})
const log = openPostgresEventLog(connection)
const shared = {
  database,
  log,
  onFolded: (lane: number, events: readonly { readonly atMs: number }[]) =>
    tell({ kind: 'folded', lane, count: events.length, atMs: events.at(-1)?.atMs ?? 0 }),
  onError: (error: unknown) => tell({ kind: 'failed', error }),
}
const loops = [
  new FoldLoop({ ...shared, lanes: [MONEY_LANE], fold: foldMoney }),
  new FoldLoop({ ...shared, lanes: VIEW_LANES, fold: foldViews }),
]
for (const loop of loops) loop.start()

// Any message means: finish the transaction under way, and end.
parentPort?.once('message', async () => {
  await Promise.all(loops.map((loop) => loop.close()))
  await log.close()
  await database.close()
})
