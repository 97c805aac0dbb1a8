/**
 * The worker: reads each lane of the log in order and folds it into tables.
 *
 * One worker owns a lane at a time, by an advisory lock on the connection that commits, and each
 * commit is conditional on the lane's position. So a worker that lost its connection, and with it
 * the lock, can never commit over the one that took over (I3: once, whatever crashes). Nor does a
 * worker that hangs, or whose machine vanished, keep its lanes for long.
 *
 * An event that cannot be folded is found by halving its batch and set aside: a mistake of ours in
 * one must not stop every figure that comes after it. It is tried again by the next owner.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { StoredEvent } from '../events/event.ts'
import type { EventLog } from '../events/event-log.ts'
import { type Database, type Db, isTransient } from '../platform/postgres.ts'
import { withSessionLocks } from '../platform/session-locks.ts'
import { sql } from '../platform/sql.ts'
import { listUnfolded, setAside, takeBack, Unfoldable } from './unfolded-store.ts'

/** A transaction of this many clicks takes some 20 ms: short locks, few commits. */
const BATCH_EVENTS_MAX = 1_000
/** A lane's first batch, whose cost is unknown: each run of one kind costs a dozen statements. */
const BATCH_EVENTS_FIRST = 100
/** Nodes cannot lease budgets while the money lane folds: a longer batch makes the next smaller. */
const BATCH_MS = 1_000
/** Each lane is polled this often, hint or none: figures must be there within 5 s. */
const POLL_MS = 1_000
/** After an error, so that a broken database is not hammered. */
const RETRY_MS = 1_000
/**
 * A loop queries its connection every second. After this long a silence it hangs or is gone, and
 * the server ends its session, which frees its locks.
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
  /** Silence after which others may take the lanes; only tests need another value. */
  readonly silenceMsMax?: number
  /** Called with what each commit folded; for metrics. */
  readonly onFolded?: (lane: number, events: readonly StoredEvent[]) => void
  readonly onError: (error: unknown) => void
}

/** Folds the given lanes on one connection until closed. */
export class FoldLoop {
  readonly #options: FoldLoopOptions
  readonly #stopping = new AbortController()
  readonly #dirty = new Set<number>()
  readonly #owned = new Set<number>()
  readonly #limits = new Map<number, number>() // by lane: events of the next batch
  #wake: () => void = () => undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: FoldLoopOptions) {
    this.#options = options
    options.log.onAppended((lane) => {
      if (!options.lanes.includes(lane)) return // another loop's
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
      // A lane's hint may be lost, and hints for other lanes must not hide that.
      const isPoll = performance.now() - polledMs >= POLL_MS
      if (isPoll) polledMs = performance.now()
      const due = lanes.filter((lane) => isPoll || this.#dirty.has(lane))
      this.#dirty.clear()
      for (const lane of due) {
        if (signal.aborted) break
        // One batch of each lane in turn: a flooded lane keeps no other waiting.
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

  /** Takes every lane that no other worker holds. */
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

  /** Events set aside may fold at a new start: a fixed program, or what they lacked has come. */
  async #foldAgain(db: Db, lane: number): Promise<void> {
    const { log, onError } = this.#options
    for (const seq of await listUnfolded(db, lane)) {
      const position = String(BigInt(seq) - 1n)
      const events = await log.read({ lane, position, limit: 1 })
      try {
        await db.transaction(async (tx) => {
          await takeBack(tx, { lane, seq })
          if (events[0]?.seq === seq) await this.#fold(tx, events)
        })
      } catch (error) {
        if (!(error instanceof Unfoldable)) throw error
        onError(error)
      }
    }
  }

  /** True when more is likely to wait: the batch was full, or the next is to be smaller. */
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
      // Smaller whatever the error was: a statement that timed out would time out again.
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

/** How many events the next batch may have: it grows only after a full one that was quick. */
function limitAfter(batch: { limit: number; count: number; ms: number }): number {
  const { limit, count, ms } = batch
  // Never fewer than the first: where each commit is slow, fewer events would save nothing.
  if (ms > BATCH_MS) return Math.max(Math.ceil(count / 2), Math.min(limit, BATCH_EVENTS_FIRST))
  return count === limit ? Math.min(2 * limit, BATCH_EVENTS_MAX) : limit
}

/** Commits only over the position that the events were read behind. */
async function moveOn(
  tx: Db,
  told: {
    readonly lane: number
    readonly position: string
    readonly events: readonly StoredEvent[]
  },
): Promise<void> {
  const { lane, position, events } = told
  const moved = await tx.run(sql`
    update lane set position = ${events.at(-1)?.seq},
      watermark = greatest(watermark, ${watermark(events)})
    where lane = ${lane} and position = ${position}`)
  if (moved !== 1) throw new Error(`lane ${lane} was folded by another worker`)
}

function watermark(events: readonly StoredEvent[]): Date {
  return new Date(Math.max(...events.map(({ atMs }) => atMs)))
}
