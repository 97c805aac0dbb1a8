/**
 * Computes an order's money from its lines, its returns, and its state.
 *
 * Recomputed whenever something is added, and never stored as a separate truth. The figures depend
 * on what was reported and not on the order of arrival (P41), and a revision after a return needs
 * no special rule.
 */
import { isDeepStrictEqual } from 'node:util'
import { ISO_4217 } from '../platform/money/iso4217.ts'
import { type Micros, micros, PPM, publisherPart } from '../platform/money/money.ts'
import { divideHalfEven } from '../platform/money/round.ts'
import { allocate, allocateUnits } from './allocate.ts'
import { parseMinor } from './currency.ts'
import {
  believed,
  holdOf,
  type OrderAccount,
  type Owner,
  type ReportedReturn,
} from './order-account.ts'
import { type HoldReason, type MergedOrder, mergeReports } from './order-merge.ts'
import {
  goneMinor,
  goneOf,
  type LineBack,
  type PlacedReturn,
  placeReturn,
  type ReturnableLine,
  type ReturnRefusal,
} from './returns.ts'

interface LineFigures {
  readonly revenueMicros: Micros
  readonly commissionMicros: Micros // what the merchant owes
  readonly earningsMicros: Micros // the publisher's share of it
  readonly returned: number // units
  readonly refundedMinor: bigint // by amount, in minor units of the order's currency
}

/** The effect of one return on one line, as positive amounts. */
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
  readonly hold: HoldReason | null // why the latest report does not count yet
  // and so the order does not count at all, because it was not locked before
  readonly isHeld: boolean
  readonly isCounted: boolean // it has a click, and is neither held nor rejected
  readonly lines: readonly LineFigures[]
  readonly returns: readonly ReturnFigures[]
  readonly refused: readonly { readonly return_id: string; readonly reason: ReturnRefusal }[]
  readonly gross: Totals
  readonly net: Totals // what counts now; all zero while held, rejected or without a click
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

/** Computes all figures of an order. */
export function orderFigures(account: OrderAccount): OrderFigures {
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
  const isHeld = hold !== null && account.inForce === undefined
  const owner = account.attribution?.owner ?? null
  const isCounted = !isHeld && owner !== null && account.rejection === null
  const gross = grossOf(order, owner)
  const shared = shareOut(order, gross)
  const { returns, refused, returned } = applyReturns(account.returns, order, shared, owner)
  const lines = returned.map((line) => {
    return { ...line.worth, returned: line.returned, refundedMinor: line.refundedMinor }
  })
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

/** The commission is rounded once, on the order. Its lines are parts of that. */
function grossOf(order: MergedOrder, owner: Owner | null): Totals {
  const commissionMicros = owner === null ? ZERO : commissionOf(order.revenueMicros, owner)
  return {
    sales: 1,
    revenueMicros: order.revenueMicros,
    commissionMicros,
    earningsMicros: publisherPart(commissionMicros, owner?.sharePpm ?? 0),
  }
}

function commissionOf(revenueMicros: Micros, { terms }: Owner): Micros {
  switch (terms.model) {
    case 'cpa': {
      const exact = BigInt(revenueMicros) * BigInt(terms.ratePpm)
      return micros(Number(divideHalfEven(exact, BigInt(PPM))))
    }
    case 'epp':
      return terms.paymentMicros
    case 'cpc':
    case 'none':
      return ZERO
  }
}

type SharedLine = Omit<LineFigures, 'returned' | 'refundedMinor'>
const NO_WORTH = { revenueMicros: ZERO, commissionMicros: ZERO, earningsMicros: ZERO }

/** By reported price and quantity, not by the lines' revenues, which are already rounded. */
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

/** A line with its returns and refunds so far. */
interface LineState extends ReturnableLine {
  readonly worth: SharedLine
  readonly netMinor: bigint // its part of a net value, of which `takenMinor` is gone
  readonly takenMinor: bigint
}

/** Applies every return to the lines as they are now. */
function applyReturns(
  returns: readonly ReportedReturn[],
  order: MergedOrder,
  shared: readonly SharedLine[],
  owner: Owner | null,
): AppliedReturns {
  let lines = linesBefore(order, shared)
  const applied: ReturnFigures[] = []
  const refused: { return_id: string; reason: ReturnRefusal }[] = []
  for (const reported of returns) {
    const placed = placeReported(lines, reported, order)
    if (typeof placed === 'string') {
      refused.push({ return_id: reported.return_id, reason: placed })
      continue
    }
    const before = lines
    lines = linesAfter(before, placed, order)
    applied.push(...rowsOf(reported.return_id, { before, after: lines, order, owner }))
  }
  return { returns: applied, refused, returned: lines }
}

interface AppliedReturns extends Pick<OrderFigures, 'returns' | 'refused'> {
  readonly returned: readonly LineState[]
}

function linesBefore(order: MergedOrder, shared: readonly SharedLine[]): LineState[] {
  const weights = order.lines.map(({ weight }) => weight)
  const nets = order.isNet ? allocateUnits(order.valueMinor, weights) : []
  return order.lines.map(({ productId, quantity, valueMinor }, line) => ({
    ...{ line, productId, quantity, valueMinor, returned: 0, refundedMinor: 0n },
    worth: shared[line] ?? NO_WORTH,
    ...{ netMinor: nets[line] ?? 0n, takenMinor: 0n },
  }))
}

function placeReported(
  lines: readonly LineState[],
  { line, product_id: productId, quantity, amount, currency }: ReportedReturn,
  order: MergedOrder,
): PlacedReturn[] | ReturnRefusal {
  if (amount === undefined)
    return placeReturn(lines, { line, productId, quantity, amountMinor: 0n })
  const exponent = ISO_4217.get(order.currency) ?? 0
  const amountMinor = parseMinor(amount, exponent)
  if (amountMinor === null || (currency ?? order.currency) !== order.currency) {
    return 'other_currency'
  }
  return placeReturn(lines, { line, productId, quantity: 0, amountMinor })
}

function linesAfter(
  lines: readonly LineState[],
  placed: readonly PlacedReturn[],
  order: MergedOrder,
): LineState[] {
  const after = lines.map((line) => {
    const part = placed.find((one) => one.line === line.line)
    if (part === undefined) return line
    const { returned, refundedMinor } = line
    return {
      ...line,
      returned: returned + part.count,
      refundedMinor: refundedMinor + part.amountMinor,
    }
  })
  if (!order.isNet) return after
  // A net value already reflects the returns by its distance to the value before them.
  const known = order.grossMinor - order.valueMinor
  const excess = beyond(goneOfAll(after), known) - beyond(goneOfAll(lines), known)
  const parts = allocateUnits(
    excess,
    lines.map(({ netMinor, takenMinor }) => netMinor - takenMinor),
  )
  return after.map((line, index) => ({
    ...line,
    takenMinor: line.takenMinor + (parts[index] ?? 0n),
  }))
}

function goneOfAll(lines: readonly LineState[]): bigint {
  return lines.reduce((sum, line) => sum + goneMinor(line), 0n)
}

function beyond(amount: bigint, limit: bigint): bigint {
  return amount > limit ? amount - limit : 0n
}

/** The rows of one return: what changed, line by line. */
function rowsOf(
  return_id: string,
  change: {
    readonly before: readonly LineState[]
    readonly after: readonly LineState[]
    readonly order: MergedOrder
    readonly owner: Owner | null
  },
): ReturnFigures[] {
  const { before, after, order, owner } = change
  return after.flatMap((now, index) => {
    const was = before[index] ?? now
    if (now === was || isDeepStrictEqual(now, was)) return []
    const [less, more] = [worthGone(was, order, owner), worthGone(now, order, owner)]
    return {
      return_id,
      line: now.line,
      quantity: now.returned - was.returned,
      revenueMicros: micros(more.revenueMicros - less.revenueMicros),
      commissionMicros: micros(more.commissionMicros - less.commissionMicros),
      earningsMicros: micros(more.earningsMicros - less.earningsMicros),
    }
  })
}

/** Returned goods reduce only a commission on the sale (CPA). */
function worthGone(line: LineState, { isNet }: MergedOrder, owner: Owner | null): SharedLine {
  const { netMinor, takenMinor, worth } = line
  const back: LineBack = isNet
    ? { quantity: 1, returned: 0, valueMinor: netMinor, refundedMinor: takenMinor }
    : line
  const isPaidBack = owner?.terms.model === 'cpa'
  return {
    revenueMicros: goneOf(worth.revenueMicros, back),
    commissionMicros: isPaidBack ? goneOf(worth.commissionMicros, back) : ZERO,
    earningsMicros: isPaidBack ? goneOf(worth.earningsMicros, back) : ZERO,
  }
}

/** Gross less returns. An order cancelled after its lock keeps its commission but is not a sale. */
function netOf(parts: {
  order: MergedOrder
  gross: Totals
  returns: readonly ReturnFigures[]
  returned: readonly LineState[]
}): Totals {
  const { order, gross, returns, returned } = parts
  const isAllBack = isGone(order, returned)
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

/** A sale is gone when all its units were returned, or all its value was refunded. */
function isGone(order: MergedOrder, lines: readonly LineState[]): boolean {
  if (lines.every(({ quantity, returned }) => quantity === returned)) return true
  if (order.grossMinor === 0n) return false
  const applied = lines.reduce((sum, { takenMinor }) => sum + takenMinor, 0n)
  if (order.isNet) return applied === order.valueMinor
  const isRefunded = lines.some(({ refundedMinor }) => refundedMinor > 0n)
  return isRefunded && goneOfAll(lines) === order.grossMinor
}
