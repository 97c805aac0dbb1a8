/** Reruns publishers' days, each on a separate thread and a few at a time. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { FairLimiter } from '../platform/concurrency/concurrency-limiter.ts'
import type { Fault } from '../platform/errors/api-errors.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { parseTimestamp } from '../platform/time/timestamp.ts'
import type { DayReports, DayRun } from './day-run.ts'
import type { DayMessage, DayOrder } from './day-run-thread.ts'
import type { PublisherDay } from './receipt-store.ts'

const THREAD = new URL('./day-run-thread.ts', import.meta.url)
/** Each keeps a core busy for as long as it takes. */
const DAYS_AT_ONCE = 2

export interface Progress {
  readonly auctions: number // of the day
  readonly done: number
}

export interface DayWanted<Run extends DayRun> extends PublisherDay {
  /** Only one run at a time per key: others with the same key wait for it. */
  readonly owner: string
  readonly run: Run
  readonly auctionsMax?: number
  readonly onProgress?: (progress: Progress) => void
  /** How long it may wait for its start; absent: for as long as it takes. */
  readonly timeoutMs?: number
}

export class DayRuns {
  readonly #db: Database
  readonly #limiter = new FairLimiter(DAYS_AT_ONCE)
  readonly #threads = new Set<Worker>()
  #isClosed = false

  constructor(db: Database) {
    this.#db = db
  }

  /** Rejects with a 503 when its timeout passes before it could start. */
  run<Run extends DayRun>(wanted: DayWanted<Run>): Promise<DayReports[Run['kind']]> {
    const { owner, timeoutMs = null } = wanted
    return this.#limiter.run(owner, () => this.#runThread(wanted), timeoutMs)
  }

  /** Ends the runs, those that wait included: their callers learn that they failed. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#threads].map((thread) => thread.terminate()))
  }

  async #runThread<Run extends DayRun>(wanted: DayWanted<Run>): Promise<DayReports[Run['kind']]> {
    if (this.#isClosed) throw new Error('the service is stopping')
    const { pubId, day, run, auctionsMax = null, onProgress } = wanted
    const { connection } = this.#db
    const workerData: DayOrder = { connection, wanted: { pubId, day }, run, auctionsMax }
    // Without the flags of this process: a test runner's mean nothing to the thread.
    const thread = new Worker(THREAD, { workerData, execArgv: [] })
    this.#threads.add(thread)
    const ended = once(thread, 'exit') // Rejects with the error that broke the thread, if any.
    let report: DayReports[keyof DayReports] | undefined
    // Under `node --watch` Node sends its own messages the same way.
    thread.on('message', (message: DayMessage | { readonly kind?: never }) => {
      if (message.kind === 'progress') onProgress?.(message)
      else if (message.kind === 'report') report = message.report
    })
    thread.unref()
    await ended.finally(() => this.#threads.delete(thread))
    if (report === undefined) throw new Error('the thread ended without a report')
    return report as DayReports[Run['kind']]
  }
}

/** What a schema of digits cannot say: there is no 30 February. */
export function dayFaults({ date }: { date?: unknown }): Fault[] {
  const isDay = typeof date === 'string' && parseTimestamp(date) !== null
  return isDay ? [] : [{ field: 'date', rule: 'must be a day, YYYY-MM-DD' }]
}
