/**
 * Commands that change money append events like everybody else and wait until they are folded.
 *
 * Beside a running server its worker folds them. Without one the command folds them itself, under
 * the same lock, so that its result is complete when it is printed.
 */
import { hostname } from 'node:os'
import { appendInTransaction } from '../events/append-in-transaction.ts'
import type { AppendWhole } from '../events/append-money.ts'
import { type LogEvent, MONEY_LANE } from '../events/event.ts'
import { ensureEventPartitions } from '../events/partitions.ts'
import { FoldLoop } from '../fold/fold-loop.ts'
import { foldMoney } from '../fold/fold-money.ts'
import { waitUntilFolded } from '../fold/lane-store.ts'
import { openEventLog } from '../node/open-event-log.ts'
import type { FoldedIntake, IntakeDeps } from '../orders/intake.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { makeIdSource } from '../platform/ids.ts'
import { claimNode } from '../platform/postgres/node-registry.ts'
import type { CommandContext } from './command.ts'

/** A worker that has not folded a command's events by then is not working. */
const FOLD_MS_MAX = 60_000
/** More for a file of orders, because a slow machine needs this per event. */
const FOLD_MS_PER_EVENT = 5

export interface CommandWriter extends FoldedIntake {
  readonly appendWhole: AppendWhole
}

/** Lends a writer to `work` and then releases its node number. */
export async function withEventWriter<T>(
  context: CommandContext,
  work: (writer: CommandWriter) => Promise<T>,
): Promise<T> {
  const db = await context.database()
  const problems: unknown[] = []
  const onError = (error: unknown) => void problems.push(error)
  // A failed clean-up must not hide the command's result; an unreleased number is free a minute
  // later.
  await using stack = new AsyncDisposableStack()
  const log = await openEventLog(context.config, db, onError)
  stack.defer(() => log.close().catch(onError))
  const claim = await claimNode({
    db,
    host: hostname(),
    pid: process.pid,
    roles: 'command',
    knowsCountries: false,
    onLost: () => undefined,
    onError,
  })
  stack.defer(() => claim.release({ isSpoolEmpty: true }).catch(onError))
  const now = () => context.now().getTime()
  const ids = makeIdSource({ nodeId: claim.nodeId, now })
  // Earlier events precede these in the lane as well.
  let last: readonly LogEvent[] = []
  let appended = 0
  const folded = async () => {
    const loop = new FoldLoop({ database: db, log, lanes: [MONEY_LANE], fold: foldMoney, onError })
    const timeoutMs = FOLD_MS_MAX + appended * FOLD_MS_PER_EVENT
    loop.start()
    try {
      if (await waitUntilFolded(db, last, { timeoutMs })) return
    } finally {
      await loop.close()
    }
    const why = problems.length === 0 ? '' : ` (${String(problems.at(-1))})`
    throw new Refusal(
      `it is recorded, and will count once the worker has folded it: see the worker’s log${why}`,
    )
  }
  await ensureEventPartitions(db, now())
  const isAppended = (events: readonly LogEvent[]) => {
    if (events.length === 0) return // The earlier ones are still waited for.
    last = events
    appended += events.length
  }
  const append: IntakeDeps['append'] = async (events) => {
    await log.append(events)
    isAppended(events)
  }
  const appendWhole: AppendWhole = async (events, also) => {
    await db.transaction(async (tx) => {
      await also(tx)
      // A stream takes a file in parts. After a stop, the same file again appends the rest.
      if (context.config.natsUrl !== null) await log.append(events)
      else await appendInTransaction(tx, events)
    })
    isAppended(events)
  }
  return await work({ db, append, appendWhole, nextId: () => ids.next(), now, folded })
}
