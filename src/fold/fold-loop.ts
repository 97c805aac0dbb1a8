/**
 * The worker: reads each lane of the log in order and folds it into tables.
 *
 * A lane has one owner at a time, by an advisory lock on the connection that commits, and each
 * commit depends on the lane's position. A worker that lost its connection, and thus its lock, can
 * never commit over its successor (I3: exactly once, whatever crashes). A worker that hangs, or
 * whose machine disappeared, does not hold its lanes for long.
 *
 * Bisection finds an event that cannot be folded, and sets it aside: one faulty event must not stop
 * all later figures. The next owner retries it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { StoredEvent } from '../events/event.ts'
import type { EventLog } from '../events/event-log.ts'
import { type Database, type Db, isTransient } from '../platform/postgres/postgres.ts'
import { withSessionLocks } from '../platform/postgres/session-locks.ts'
import { sql } from '../platform/postgres/sql.ts'
import { deleteUnfolded, listUnfolded, setAside, Unfoldable } from './unfolded-store.ts'

/** A transaction of this many clicks takes about 20 ms: short locks, few commits. */
const BATCH_EVENTS_MAX = 1_000
/**
 * The first batch of a lane, whose cost is unknown. Each run of one event type costs a dozen
 * statements.
 */
const BATCH_EVENTS_FIRST = 100
/**
 * Nodes cannot lease budgets while the money lane folds, so a longer batch makes the next one
 * smaller.
 */
const BATCH_MS = 1_000
/** Each lane is polled at this interval, with or without hints. Figures must appear within 5 s. */
const POLL_MS = 1_000
/** After an error, to spare a database in trouble. */
const RETRY_MS = 1_000
/**
 * A loop queries its connection every second. After this much silence it hangs or is gone, and the
 * server ends its session, which frees its locks.
 */
const SILENCE_MS_MAX = 15_000
/** First key of the advisory locks; the second is the lane. */
const LOCK_CLASS = 0x50_4f_4c_44

export type FoldEvents = (tx: Db, events: readonly StoredEvent[]) => Promise<void>

export interface FoldLoopOptions {
  readonly database: Database
  readonly log: EventLog
  readonly lanes: readonly number[]
  readonly fold: FoldEvents
  /** Silence after which others may take the lanes. Only tests need another value. */
  readonly silenceMsMax?: number
  /** Called with the events of each commit, for metrics. */
  readonly onFolded?: (lane: number, events: readonly StoredEvent[]) => void
  readonly onError: (error: unknown) => void
}

/** Folds the given lanes on one connection until closed. */
export class FoldLoop {
  readonly #options: FoldLoopOptions
  readonly #stopping = new AbortController()
  readonly #dirty = new Set<number>()
  readonly #owned = new Set<number>()
  readonly #limits = new Map<number, number>() // by lane: the number of events in the next batch
  #wake: () => void = () => undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: FoldLoopOptions) {
    this.#options = options
    options.log.onAppended((lane) => {
      if (!options.lanes.includes(lane)) return // a hint for another loop
      this.#dirty.add(lane)
      this.#wake()
    })
  }

  start(): void {
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    this.#wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { database, silenceMsMax = SILENCE_MS_MAX } = this.#options
    while (!this.#stopping.signal.aborted) {
      try {
        await withSessionLocks(database, silenceMsMax, (db) => this.#foldOn(db))
      } catch (error) {
        this.#owned.clear()
        this.#options.onError(error)
        await sleep(RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
      }
    }
  }

  async #foldOn(db: Db): Promise<void> {
    const { signal } = this.#stopping
    let polledMs = Number.NEGATIVE_INFINITY
    while (!signal.aborted) {
      const { lanes } = this.#options
      await this.#claim(db)
      // A hint may be lost, and hints for other lanes must not hide that.
      const isPoll = performance.now() - polledMs >= POLL_MS
      if (isPoll) polledMs = performance.now()
      const due = lanes.filter((lane) => isPoll || this.#dirty.has(lane))
      this.#dirty.clear()
      for (const lane of due) {
        if (signal.aborted) break
        // One batch of each lane in turn, so that a flooded lane delays no other.
        if (this.#owned.has(lane) && (await this.#foldBatch(db, lane))) this.#dirty.add(lane)
      }
      const idleMs = polledMs + POLL_MS - performance.now()
      if (this.#dirty.size === 0 && idleMs > 0) await this.#idle(idleMs)
    }
  }

  /** Waits for a hint, or for the next poll. */
  async #idle(ms: number): Promise<void> {
    if (this.#stopping.signal.aborted) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await sleep(ms, undefined, { signal: woken.signal }).catch(() => undefined)
  }

  /** Claims every lane without an owner. */
  async #claim(db: Db): Promise<void> {
    const wanted = this.#options.lanes.filter((lane) => !this.#owned.has(lane))
    if (wanted.length === 0) return
    const rows = await db.rows<{ lane: number }>(sql`
      select lane from unnest(${wanted}::int[]) as lane
      where pg_try_advisory_lock(${LOCK_CLASS}, lane)`)
    for (const { lane } of rows) {
      await this.#foldAgain(db, lane)
      this.#owned.add(lane)
    }
  }

  /** Events set aside may now fold: the program may be fixed, or missing data may have arrived. */
  async #foldAgain(db: Db, lane: number): Promise<void> {
    const { log, onError } = this.#options
    for (const seq of await listUnfolded(db, lane)) {
      const position = String(BigInt(seq) - 1n)
      const events = await log.read({ lane, position, limit: 1 })
      try {
        await db.transaction(async (tx) => {
          await deleteUnfolded(tx, { lane, seq })
          if (events[0]?.seq === seq) await this.#fold(tx, events)
        })
      } catch (error) {
        if (!(error instanceof Unfoldable)) throw error
        onError(error)
      }
    }
  }

  /** True if more events are likely waiting: the batch was full, or the next one is smaller. */
  async #foldBatch(db: Db, lane: number): Promise<boolean> {
    const { log, onFolded, onError } = this.#options
    const at = await db.row<{ position: string }>(sql`
      select position from lane where lane = ${lane}`)
    if (at === null) throw new Error(`lane ${lane} is not in table lane`)
    const limit = this.#limits.get(lane) ?? BATCH_EVENTS_FIRST
    const events = await log.read({ lane, position: at.position, limit })
    const [first] = events
    if (first === undefined) return false
    const commit = (fold: (tx: Db) => Promise<void>) =>
      db.transaction(async (tx) => {
        await moveOn(tx, { lane, position: at.position, events })
        await fold(tx)
      })
    const count = events.length
    const beganMs = performance.now()
    try {
      await commit((tx) => this.#fold(tx, events))
      const ms = performance.now() - beganMs
      this.#limits.set(lane, limitAfter({ limit, count, ms }))
    } catch (error) {
      // Smaller after any error: a statement that timed out would time out again.
      this.#limits.set(lane, Math.ceil(count / 2))
      if (!(error instanceof Unfoldable)) throw error
      if (count > 1) return true
      await commit((tx) => setAside(tx, first, error))
      onError(error)
    }
    onFolded?.(lane, events)
    return count === limit
  }

  async #fold(tx: Db, events: readonly StoredEvent[]): Promise<void> {
    try {
      await this.#options.fold(tx, events)
    } catch (error) {
      throw isTransient(error) ? error : new Unfoldable(events, error)
    }
  }
}

/** The size of the next batch. It grows only after a full batch that was fast. */
function limitAfter(batch: { limit: number; count: number; ms: number }): number {
  const { limit, count, ms } = batch
  // Never smaller than the first batch: where each commit is slow, fewer events save nothing.
  if (ms > BATCH_MS) return Math.max(Math.ceil(count / 2), Math.min(limit, BATCH_EVENTS_FIRST))
  return count === limit ? Math.min(2 * limit, BATCH_EVENTS_MAX) : limit
}

/** Commits only at the position after which the events were read. */
async function moveOn(
  tx: Db,
  batch: {
    readonly lane: number
    readonly position: string
    readonly events: readonly StoredEvent[]
  },
): Promise<void> {
  const { lane, position, events } = batch
  const moved = await tx.run(sql`
    update lane set position = ${events.at(-1)?.seq},
      watermark = greatest(watermark, ${watermark(events)})
    where lane = ${lane} and position = ${position}`)
  if (moved !== 1) throw new Error(`lane ${lane} was folded by another worker`)
}

function watermark(events: readonly StoredEvent[]): Date {
  return new Date(Math.max(...events.map(({ atMs }) => atMs)))
}
