/**
 * A publisher's months: releases, reversals, payouts.
 *
 * Pure. A balance below the minimum, or below zero after returns, is carried into the next month,
 * because a transfer costs money. Banks pay whole cents, so the rest of a cent is carried over too,
 * and payouts match the statements exactly.
 */
import { MICROS_PER_CENT, type Micros, micros } from '../platform/money/money.ts'
import { nextMonth } from '../platform/time/calendar.ts'

/** Our choice: the smallest amount worth a bank transfer. */
export const MINIMUM_PAYOUT_MICROS = micros(50_000_000)

export interface Statement {
  readonly month: string // YYYY-MM
  readonly openingMicros: Micros
  readonly releasedMicros: Micros
  readonly reversedMicros: Micros // Not negative.
  readonly payoutMicros: Micros
  readonly closingMicros: Micros
}

/** Money that was released (above 0) or reversed (below 0), with its time. */
export interface Movement {
  readonly atMs: number
  readonly earningsMicros: Micros
}

/**
 * The statements missing after `issued`, oldest first, from the month of the first movement to
 * `lastMonth`.
 *
 * An issued statement was paid and never changes. An event that reached the log later (a spool that
 * was away for days, an event that could not be folded) changes its month; the difference goes on
 * the next statement. A publisher without earlier statements follows the same rule: `closedMonth`
 * is the last month of which any publisher has one, and its payout file was written and paid.
 */
export function makeStatements(
  movements: readonly Movement[],
  lastMonth: string,
  issued: readonly Statement[] = [],
  closedMonth = '',
): Statement[] {
  const byMonth = Map.groupBy(movements, ({ atMs }) => monthOf(atMs))
  const earliest = [...byMonth.keys()].sort()[0]
  const isLate = earliest !== undefined && earliest <= closedMonth
  const last = issued.at(-1)
  const issuedUntil = last?.month ?? (isLate ? closedMonth : undefined)
  const first = issuedUntil === undefined ? earliest : nextMonth(issuedUntil)
  const statements: Statement[] = []
  let opening: number = last?.closingMicros ?? 0
  let late = issuedUntil === undefined ? 0 : lateOf(movements, issuedUntil, issued)
  for (let month = first; month !== undefined && month <= lastMonth; month = nextMonth(month)) {
    const amounts = [...(byMonth.get(month) ?? []).map(amountOf), late]
    const released = sum(amounts.filter((amount) => amount > 0))
    const reversed = 0 - sum(amounts.filter((amount) => amount < 0))
    const balance = opening + released - reversed
    const payout = balance >= MINIMUM_PAYOUT_MICROS ? balance - (balance % MICROS_PER_CENT) : 0
    statements.push({
      month,
      openingMicros: micros(opening),
      releasedMicros: micros(released),
      reversedMicros: micros(reversed),
      payoutMicros: micros(payout),
      closingMicros: micros(balance - payout),
    })
    opening = balance - payout
    late = 0
  }
  return statements
}

/** The total of the months up to `lastMonth`, less what their statements contained. */
function lateOf(
  movements: readonly Movement[],
  lastMonth: string,
  issued: readonly Statement[],
): number {
  const moved = movements.filter(({ atMs }) => monthOf(atMs) <= lastMonth).map(amountOf)
  return (
    sum(moved) - sum(issued.map((statement) => statement.releasedMicros - statement.reversedMicros))
  )
}

function amountOf({ earningsMicros }: Movement): number {
  return earningsMicros
}

/** The UTC month of an instant, `2026-03`. */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7)
}

/** A statement's id in reports: the publisher's number and the month. */
export function statementId(pubId: number, month: string): string {
  return `S${pubId}-${month.replace('-', '')}`
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0)
}
