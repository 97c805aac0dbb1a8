/** The log, and its fold on request, as the worker does it. */
import assert from 'node:assert/strict'
import { type LogEvent, MONEY_LANE } from '../../src/events/event.ts'
import { openPostgresEventLog } from '../../src/events/event-log-postgres.ts'
import { foldMoney } from '../../src/fold/fold-money.ts'
import { foldViews } from '../../src/fold/fold-views.ts'
import type { Database, Db } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import type { Scope } from './database.ts'

export interface FoldedLog {
  append(events: readonly LogEvent[]): Promise<void>
  /** Appends and folds. */
  record(...events: readonly LogEvent[]): Promise<void>
  /** Folds everything in the log. */
  fold(): Promise<void>
}

const BATCH_EVENTS = 1_000

interface LaneBehind {
  readonly lane: number
  readonly position: string
}

/** Lanes with unfolded events, in one query, because reading each takes far longer. */
export function lanesBehind(db: Db): Promise<LaneBehind[]> {
  return db.rows(sql`
    select lane, position from lane
    where position < (select coalesce(max(seq), 0) from event where event.lane = lane.lane)
    order by lane`)
}

export function openFoldedLog(scope: Scope, db: Database): FoldedLog {
  const log = openPostgresEventLog(db.connection)
  scope.after(() => log.close())

  const foldBatch = async ({ lane, position }: LaneBehind) => {
    const events = await log.read({ lane, position, limit: BATCH_EVENTS })
    const last = events.at(-1)
    assert.ok(last, `lane ${lane} has events that reading from ${position} does not find`)
    await db.transaction(async (tx) => {
      await (lane === MONEY_LANE ? foldMoney(tx, events) : foldViews(tx, events))
      await tx.run(sql`update lane set position = ${last.seq} where lane = ${lane}`)
    })
  }
  const { append } = log
  const fold = async () => {
    for (let behind = await lanesBehind(db); behind.length > 0; behind = await lanesBehind(db)) {
      for (const lane of behind) await foldBatch(lane)
    }
  }
  const record = (...events: readonly LogEvent[]) => append(events).then(fold)
  return { append, fold, record }
}
