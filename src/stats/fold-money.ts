/**
 * The money lane in one total order: clicks, orders, returns, reversals, payments, lease closings.
 *
 * Runs of one type go to that type's fold together; the order between runs is the log's. What they
 * change of the daily figures is written at the end, in one statement: rows are then locked in one
 * order, as the views lock them, and neither waits for the other in a circle.
 */
import { closeLeases } from '../demand/settle.ts'
import { EVENT_TYPE, type EventType, type StoredEvent } from '../events/event.ts'
import { foldPaymentReversals, foldPayments } from '../ledger/fold-payments.ts'
import type { Db } from '../platform/postgres.ts'
import { addFigures, type FigureChange } from './figures.ts'
import { foldClicks } from './fold-clicks.ts'
import { foldNetworks } from './fold-networks.ts'
import { foldOrders } from './fold-orders.ts'
import { foldReversals } from './fold-reversals.ts'

/** Folds a run, and adds to `changes` what it changes of the daily figures. */
type FoldRun = (tx: Db, run: readonly StoredEvent[], changes: FigureChange[]) => Promise<void>

const FOLDS: Partial<Record<EventType, FoldRun>> = {
  [EVENT_TYPE.click]: foldClicks,
  [EVENT_TYPE.leaseClose]: closeLeases,
  [EVENT_TYPE.order]: foldOrders,
  [EVENT_TYPE.orderReturn]: foldOrders,
  [EVENT_TYPE.orderDecision]: foldOrders,
  [EVENT_TYPE.reversal]: foldReversals,
  [EVENT_TYPE.payment]: foldPayments,
  [EVENT_TYPE.paymentReversal]: foldPaymentReversals,
  [EVENT_TYPE.networkRow]: foldNetworks,
}

export async function foldMoney(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  const changes: FigureChange[] = []
  for (const run of runsOfOneType(events)) {
    const type = (run[0] as StoredEvent).type
    const fold = FOLDS[type]
    if (fold === undefined) throw new Error(`nothing folds events of type ${type}`)
    await fold(tx, run, changes)
  }
  await addFigures(tx, changes)
}

function runsOfOneType(events: readonly StoredEvent[]): StoredEvent[][] {
  const runs: StoredEvent[][] = []
  for (const event of events) {
    const run = runs.at(-1)
    if (run?.[0]?.type === event.type) run.push(event)
    else runs.push([event])
  }
  return runs
}
