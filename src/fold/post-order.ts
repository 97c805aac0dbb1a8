/**
 * What a change of an order posts: the difference of its figures before and after, to the ledger,
 * the statistics and the campaign's budget.
 */

import { bookSpend } from '../budgets/book-spend.ts'
import { returnToBudget } from '../budgets/budget-account.ts'
import { EVENT_TYPE, type StoredEvent } from '../events/event.ts'
import {
  type Amounts,
  changeEntry,
  type LedgerEntry,
  orderEntry,
  type Parties,
} from '../ledger/entries.ts'
import { insertLedgerEntries } from '../ledger/store.ts'
import type { Owner } from '../orders/order-account.ts'
import { NOTHING, type OrderFigures, orderFigures, type Totals } from '../orders/order-figures.ts'
import type { OrderKey, OrderRecord } from '../orders/order-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import type { FigureChange } from './figures.ts'

/** What a campaign owes more, or less, because of an order. */
interface Spending {
  readonly campaignId: number
  readonly day: string // of the order
  readonly today: string // of the event
  readonly micros: number
}

/** Collected over a run of events and written once; the figures' changes over the whole batch. */
export interface Postings {
  readonly entries: LedgerEntry[]
  readonly changes: FigureChange[]
  readonly spendings: Spending[]
}

export function noPostings(changes: FigureChange[]): Postings {
  return { entries: [], changes, spendings: [] }
}

/** All but the figures, which the batch writes. */
export async function writePostings(tx: Db, postings: Postings): Promise<void> {
  const { entries, spendings } = postings
  await insertLedgerEntries(tx, entries)
  await bookSpend(
    tx,
    spendings
      .filter(({ micros }) => micros > 0)
      // Not leased: the debt of a sale arises after the click (docs/spec/budgets.md#accounts).
      .map(({ campaignId, today, micros }) => ({
        campaignId,
        day: today,
        leaseId: '0',
        reservedMicros: 0,
        merchantCostMicros: micros,
      })),
  )
  for (const { campaignId, day, today, micros } of spendings) {
    if (micros < 0) await returnToBudget(tx, { campaignId, day, micros: -micros }, today)
  }
}

/**
 * Adds what leads from an order's standing before to that after; the order as it stands then.
 * Nothing is posted of an order that nobody led to.
 */
export function postChange(
  postings: Postings,
  event: StoredEvent,
  { before, after }: { readonly before: OrderRecord; readonly after: OrderRecord },
): OrderRecord {
  const isReturn = event.type === EVENT_TYPE.orderReturn
  const owner = after.account.attribution?.owner ?? null
  if (owner === null) return after
  const figures = { from: orderFigures(before.account), to: orderFigures(after.account) }
  const [from, to] = [figures.from.net, figures.to.net]
  const ownerBefore = before.account.attribution?.owner ?? owner
  const sides = {
    before: { parties: partiesOf(before, ownerBefore), amounts: amountsOf(from) },
    after: { parties: partiesOf(after, owner), amounts: amountsOf(to) },
  }
  const { orderId } = after
  const entry = after.isPosted
    ? changeEntry(event, { kind: isReturn ? 'return' : 'revision', orderId, ...sides })
    : orderEntry(event, sides.after.parties, { orderId, amounts: sides.after.amounts })
  postings.changes.push(
    ...figureChanges({
      cause: isReturn ? 'return' : figures.from.isCounted ? 'revision' : 'order',
      event,
      from: { ...sides.before.parties, clickId: ownerBefore.clickId, totals: from },
      to: { ...sides.after.parties, clickId: owner.clickId, totals: to },
      isNewRow: isNewRow(figures, { isReturn }),
    }),
  )
  // Also where the ledger stands still: two campaigns may pay the same for one page.
  const spending = (campaignId: number | null, micros: number): Spending[] =>
    campaignId === null
      ? []
      : [{ campaignId, day: after.day ?? event.day, today: event.day, micros }]
  postings.spendings.push(
    ...(ownerBefore.campaignId === owner.campaignId
      ? spending(owner.campaignId, to.commissionMicros - from.commissionMicros)
      : [
          ...spending(ownerBefore.campaignId, -from.commissionMicros),
          ...spending(owner.campaignId, to.commissionMicros),
        ]),
  )
  if (entry === null) return after
  postings.entries.push(entry)
  return { ...after, isPosted: true }
}

function partiesOf({ merchId }: OrderKey, { pubId, articleId }: Owner): Parties {
  return { merchId, pubId, articleId }
}

function amountsOf({ commissionMicros, earningsMicros }: Totals): Amounts {
  return { merchantCostMicros: commissionMicros, publisherEarningsMicros: earningsMicros }
}

/**
 * Whether an order or a return happened, which has its row also where it moves no figure: a
 * returned gift, or a sale that is fully returned when it is reported.
 */
function isNewRow(
  { from, to }: { readonly from: OrderFigures; readonly to: OrderFigures },
  { isReturn }: { readonly isReturn: boolean },
): boolean {
  return to.isCounted && (!from.isCounted || (isReturn && isMoreBack(from, to)))
}

/** Whether more units were returned, or more was refunded. */
function isMoreBack(from: OrderFigures, to: OrderFigures): boolean {
  const units = ({ lines }: OrderFigures) => lines.reduce((sum, { returned }) => sum + returned, 0)
  const refunds = ({ lines }: OrderFigures) =>
    lines.reduce((sum, { refundedMinor }) => sum + refundedMinor, 0n)
  return units(to) > units(from) || refunds(to) > refunds(from)
}

type OwnerTotals = Parties & { readonly clickId: string; readonly totals: Totals }

/** What moves in the statistics; two rows where the sale moved to another article. */
function figureChanges(move: {
  readonly cause: FigureChange['cause']
  readonly event: StoredEvent
  readonly from: OwnerTotals
  readonly to: OwnerTotals
  readonly isNewRow: boolean
}): FigureChange[] {
  const { cause, event, from, to, isNewRow } = move
  const isSameRow = from.pubId === to.pubId && from.articleId === to.articleId
  const row = (side: OwnerTotals, add: Totals, less: Totals): FigureChange => ({
    cause,
    eventId: event.id,
    atMs: event.atMs,
    day: event.day,
    clickId: side.clickId,
    pubId: side.pubId,
    articleId: side.articleId,
    merchId: side.merchId,
    sales: add.sales - less.sales,
    revenueMicros: add.revenueMicros - less.revenueMicros,
    earningsMicros: add.earningsMicros - less.earningsMicros,
  })
  const moves = (item: FigureChange) => item.sales || item.revenueMicros || item.earningsMicros
  const taken = isSameRow ? [] : [row(from, NOTHING, from.totals)].filter(moves)
  const given = row(to, to.totals, isSameRow ? from.totals : NOTHING)
  const isKept = isNewRow || moves(given)
  if (!isSameRow || from.clickId === to.clickId) return isKept ? [...taken, given] : taken
  // Another click of the same row: the row may stand still, but its clicks do not.
  return [{ ...given, moved: { clickId: from.clickId, ...from.totals }, makesRow: Boolean(isKept) }]
}
