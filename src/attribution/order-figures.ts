/**
 * What everything known of an order comes to in money: its lines, what came back, and what counts.
 *
 * Computed afresh whenever something is told, and never stored as a truth of its own: the figures
 * depend on what was told and not on its order (P41), and a revision after a return needs no rule
 * of its own.
 */
import { MODEL } from '../events/event.ts'
import { MICROS_PER_DOLLAR, type Micros, micros, publisherPart } from '../platform/money.ts'
import { divideHalfEven } from '../platform/round.ts'
import { allocate } from './allocate.ts'
import {
  believed,
  holdOf,
  type OrderAccount,
  type Owner,
  type ReportedReturn,
} from './order-account.ts'
import { type HoldReason, type MergedOrder, mergeReports } from './order-merge.ts'
import { placeReturn, type ReturnRefusal, returnAmount } from './returns.ts'

interface LineFigures {
  readonly revenueMicros: Micros
  readonly commissionMicros: Micros // what the merchant owes
  readonly earningsMicros: Micros // the publisher's part of it
  readonly returned: number // units
}

/** What one return takes back of one line: amounts are positive. */
interface ReturnFigures {
  readonly return_id: string
  readonly line: number
  readonly quantity: number
  readonly revenueMicros: Micros
  readonly commissionMicros: Micros
  readonly earningsMicros: Micros
}

export interface OrderFigures {
  readonly order: MergedOrder | null // null while only returns are known
  readonly hold: HoldReason | null // why what was told last does not count yet
  readonly isHeld: boolean // and so nothing of it does: it was not locked before
  readonly isCounted: boolean // somebody led to it, and it is neither held nor rejected
  readonly lines: readonly LineFigures[]
  readonly returns: readonly ReturnFigures[]
  readonly refused: readonly { readonly return_id: string; readonly reason: ReturnRefusal }[]
  readonly gross: Totals
  readonly net: Totals // what counts now; all zero while held, rejected or nobody's
}

export interface Totals {
  readonly sales: number
  readonly revenueMicros: Micros
  readonly commissionMicros: Micros
  readonly earningsMicros: Micros
}

const ZERO = micros(0)
export const NOTHING: Totals = {
  sales: 0,
  revenueMicros: ZERO,
  commissionMicros: ZERO,
  earningsMicros: ZERO,
}

/** Computes all figures of an order from what was told. */
export function figuresOf(account: OrderAccount): OrderFigures {
  if (account.acceptedAtMs === null) {
    return {
      order: null,
      hold: null,
      isHeld: false,
      isCounted: false,
      lines: [],
      returns: [],
      refused: [],
      gross: NOTHING,
      net: NOTHING,
    }
  }
  const order = mergeReports(believed(account))
  const hold = holdOf(account)
  const isHeld = hold !== null && account.stood === undefined
  const owner = account.attribution?.owner ?? null
  const isCounted = !isHeld && owner !== null && account.rejection === null
  const gross = grossOf(order, owner)
  const shared = shareOut(order, gross)
  const { returns, refused, returned } = takeBack(account.returns, order, shared, owner)
  const lines = shared.map((line, index) => ({ ...line, returned: returned[index] ?? 0 }))
  return {
    order,
    hold,
    isHeld,
    isCounted,
    lines,
    returns,
    refused,
    gross,
    net: isCounted ? netOf({ order, gross, returns, returned }) : NOTHING,
  }
}

/** The commission is rounded once, on the order; its lines are parts of that. */
function grossOf(order: MergedOrder, owner: Owner | null): Totals {
  const commissionMicros = owner === null ? ZERO : commissionOf(order.revenueMicros, owner)
  return {
    sales: 1,
    revenueMicros: order.revenueMicros,
    commissionMicros,
    earningsMicros: publisherPart(commissionMicros, owner?.sharePpm ?? 0),
  }
}

function commissionOf(revenueMicros: Micros, { model, priceMicros }: Owner): Micros {
  switch (model) {
    case MODEL.cpa: {
      const exact = BigInt(revenueMicros) * BigInt(priceMicros)
      return micros(Number(divideHalfEven(exact, BigInt(MICROS_PER_DOLLAR))))
    }
    case MODEL.epp:
      return priceMicros
    case MODEL.cpc:
    case MODEL.none:
      return ZERO
  }
}

type SharedLine = Omit<LineFigures, 'returned'>

/** By price and quantity as told, not by the lines' revenues, which are rounded already. */
function shareOut(order: MergedOrder, gross: Totals): SharedLine[] {
  const weights = order.lines.map(({ weight }) => weight)
  const commissions = allocate(gross.commissionMicros, weights)
  const earnings = allocate(gross.earningsMicros, weights)
  return order.lines.map((line, index) => ({
    revenueMicros: line.revenueMicros,
    commissionMicros: commissions[index] ?? ZERO,
    earningsMicros: earnings[index] ?? ZERO,
  }))
}

/** Places every return afresh on the lines as they are believed now. */
function takeBack(
  returns: readonly ReportedReturn[],
  order: MergedOrder,
  lines: readonly SharedLine[],
  owner: Owner | null,
): Pick<OrderFigures, 'returns' | 'refused'> & { returned: number[] } {
  const returned = order.lines.map(() => 0)
  const taken: ReturnFigures[] = []
  const refused: { return_id: string; reason: ReturnRefusal }[] = []
  for (const { return_id, line, product_id, quantity } of returns) {
    const open = order.lines.map((told, index) => ({
      line: index,
      productId: told.productId,
      quantity: told.quantity,
      returned: returned[index] ?? 0,
    }))
    const placed = placeReturn(open, { line, productId: product_id, quantity })
    if (typeof placed === 'string') {
      refused.push({ return_id, reason: placed })
      continue
    }
    for (const { line: index, count } of placed) {
      const before = returned[index] ?? 0
      const units = { before, count, quantity: order.lines[index]?.quantity ?? 1 }
      const amounts = returnedAmounts(lines[index], units, owner)
      taken.push({ return_id, line: index, quantity: count, ...amounts })
      returned[index] = before + count
    }
  }
  return { returns: taken, refused, returned }
}

/** Only a commission on the sale (CPA) goes back with the goods (economics 6.1). */
function returnedAmounts(
  line: SharedLine | undefined,
  units: { before: number; count: number; quantity: number },
  owner: Owner | null,
): SharedLine {
  const part = (total: Micros | undefined) => returnAmount(total ?? ZERO, units)
  const isPaidBack = owner?.model === MODEL.cpa
  return {
    revenueMicros: part(line?.revenueMicros),
    commissionMicros: isPaidBack ? part(line?.commissionMicros) : ZERO,
    earningsMicros: isPaidBack ? part(line?.earningsMicros) : ZERO,
  }
}

/**
 * Gross less returns. A cancelled order that was locked keeps its commission but is no sale; a
 * sale is gone when all of its units are.
 */
function netOf(parts: {
  order: MergedOrder
  gross: Totals
  returns: readonly ReturnFigures[]
  returned: readonly number[]
}): Totals {
  const { order, gross, returns, returned } = parts
  const isAllBack = order.lines.every((line, index) => line.quantity === returned[index])
  const without = (total: Micros, read: (row: ReturnFigures) => number) =>
    micros(returns.reduce((rest, row) => rest - read(row), total as number))
  const isSale = !order.isCancelled && !isAllBack
  return {
    sales: isSale ? 1 : 0,
    revenueMicros: order.isCancelled ? ZERO : without(gross.revenueMicros, (r) => r.revenueMicros),
    commissionMicros: without(gross.commissionMicros, (row) => row.commissionMicros),
    earningsMicros: without(gross.earningsMicros, (row) => row.earningsMicros),
  }
}
