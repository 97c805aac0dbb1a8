/**
 * The money lane in one total order: clicks, orders, returns, reversals, payments, lease closings.
 *
 * Runs of one event type are folded together, because each run costs a dozen statements. The
 * changes of the daily figures are written at the end, in one statement, so that rows are locked in
 * the same order as in the views fold and neither can deadlock.
 */

import { closeLeases } from '../budgets/book-spend.ts'
import { EVENT_TYPE, type EventType, type StoredEvent } from '../events/event.ts'
import { clickIdsOf, type OrderBody } from '../orders/read-order.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { addFigures, type FigureChange } from './figures.ts'
import { addClickFigures } from './fold-click-figures.ts'
import { foldClicks } from './fold-clicks.ts'
import { passNamedIds } from './fold-named-ids.ts'
import { foldNetworks } from './fold-networks.ts'
import { foldOrders } from './fold-orders.ts'
import { foldPaymentReversals, foldPayments } from './fold-payments.ts'
import { foldReversals } from './fold-reversals.ts'

/** Folds a run, and adds its changes of the daily figures to `changes`. */
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
  await passNamedIds(tx, events)
  const changes: FigureChange[] = []
  for (const run of runsOf(events)) {
    const type = (run[0] as StoredEvent).type
    const fold = FOLDS[type]
    if (fold === undefined) throw new Error(`nothing folds events of type ${type}`)
    await fold(tx, run, changes)
  }
  await addFigures(tx, changes)
  await addClickFigures(tx, changes)
}

/**
 * Groups events for folding: in log order, except that clicks go before the orders among them.
 * Readers click and buy at once, and a run per change of type would be as many runs as orders. A
 * click does not depend on orders. An order depends on the clicks it names, so a click after an
 * order that names it stays behind that order.
 */
function runsOf(events: readonly StoredEvent[]): StoredEvent[][] {
  const runs: StoredEvent[][] = []
  let clicks: StoredEvent[] = []
  let orders: StoredEvent[] = []
  const named = new Set<string>()
  const endRuns = () => {
    runs.push(...[clicks, orders].filter((run) => run.length > 0))
    clicks = []
    orders = []
    named.clear()
  }
  for (const event of events) {
    if (event.type === EVENT_TYPE.click) {
      if (named.has(event.clickId?.toString('hex') ?? '')) endRuns()
      clicks.push(event)
    } else if (FOLDS[event.type] === foldOrders) {
      orders.push(event)
      for (const clickId of namedBy(event)) named.add(clickId)
    } else {
      endRuns()
      const last = runs.at(-1)
      if (last?.[0]?.type === event.type) last.push(event)
      else runs.push([event])
    }
  }
  endRuns()
  return runs
}

/** The clicks that an event names. */
function namedBy({ type, body }: StoredEvent): readonly string[] {
  return type === EVENT_TYPE.order ? clickIdsOf(JSON.parse(body ?? '') as OrderBody) : []
}
