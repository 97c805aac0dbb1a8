/** The log and its fold on request: what the worker does all the time. */
import { LANES, type LogEvent, MONEY_LANE } from '../src/events/event.ts'
import { openPostgresEventLog } from '../src/events/event-log-postgres.ts'
import type { Database } from '../src/platform/postgres.ts'
import { sql } from '../src/platform/sql.ts'
import { foldMoney } from '../src/stats/fold-money.ts'
import { foldViews } from '../src/stats/fold-views.ts'
import type { Scope } from './database.ts'

export interface FoldedLog {
  append(events: readonly LogEvent[]): Promise<void>
  /** Appends and folds. */
  tell(...events: readonly LogEvent[]): Promise<void>
  /** Folds all that the log has. */
  fold(): Promise<void>
}

export function openFoldedLog(scope: Scope, db: Database): FoldedLog {
  const log = openPostgresEventLog(db.connection)
  scope.after(() => log.close())

  const foldLane = async (lane: number) => {
    for (;;) {
      const at = await db.row<{ position: string }>(
        sql`select position from lane where lane = ${lane}`,
      )
      const events = await log.read({ lane, position: at?.position ?? '0', limit: 1000 })
      const last = events.at(-1)
      if (last === undefined) return
      await db.transaction(async (tx) => {
        await (lane === MONEY_LANE ? foldMoney(tx, events) : foldViews(tx, events))
        await tx.run(sql`update lane set position = ${last.seq} where lane = ${lane}`)
      })
    }
  }
  const { append } = log
  const fold = async () => {
    for (const lane of LANES) await foldLane(lane)
  }
  const tell = (...events: readonly LogEvent[]) => append(events).then(fold)
  return { append, fold, tell }
}
