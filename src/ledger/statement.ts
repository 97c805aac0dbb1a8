/**
 * A publisher's months: what was released, what was taken back, what is paid out.
 *
 * Pure. A balance under the minimum, or below zero after returns, is carried into the next month;
 * a transfer costs somebody money, and cents are not worth one. Banks know whole cents: the rest of
 * a cent is carried too, so that what is paid is to the micro-dollar what the statement says.
 */
import { MICROS_PER_CENT, type Micros, micros } from '../platform/money.ts'

/** Our choice: the smallest amount that is worth a bank transfer. */
export const MINIMUM_PAYOUT_MICROS = micros(50_000_000)

export interface Statement {
  readonly month: string // YYYY-MM
  readonly openingMicros: Micros
  readonly releasedMicros: Micros
  readonly takenBackMicros: Micros // not negative
  readonly payoutMicros: Micros
  readonly closingMicros: Micros
}

/** Money that was released (above 0) or taken back (below 0), with the time it happened. */
export interface Movement {
  readonly atMs: number
  readonly earningsMicros: Micros
}

/**
 * The statements that are missing after those `issued`, oldest first, from the month of the first
 * movement to `lastMonth`.
 *
 * What was issued stands and was paid. An event that reached the log after that (a spool that was
 * away for days, an event that could not be folded before) changes what a month came to: the
 * difference is on the next statement. So it is for who had none until then: `closedMonth` is the
 * last of which anybody has one, and its payout file was written and paid.
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
  const toldUntil = last?.month ?? (isLate ? closedMonth : undefined)
  const first = toldUntil === undefined ? earliest : nextMonth(toldUntil)
  const statements: Statement[] = []
  let opening: number = last?.closingMicros ?? 0
  let late = toldUntil === undefined ? 0 : lateOf(movements, toldUntil, issued)
  for (let month = first; month !== undefined && month <= lastMonth; month = nextMonth(month)) {
    const amounts = [...(byMonth.get(month) ?? []).map(amountOf), late]
    const released = sum(amounts.filter((amount) => amount > 0))
    const takenBack = 0 - sum(amounts.filter((amount) => amount < 0))
    const balance = opening + released - takenBack
    const payout = balance >= MINIMUM_PAYOUT_MICROS ? balance - (balance % MICROS_PER_CENT) : 0
    statements.push({
      month,
      openingMicros: micros(opening),
      releasedMicros: micros(released),
      takenBackMicros: micros(takenBack),
      payoutMicros: micros(payout),
      closingMicros: micros(balance - payout),
    })
    opening = balance - payout
    late = 0
  }
  return statements
}

/** What the months until `lastMonth` came to, less what their statements said. */
function lateOf(
  movements: readonly Movement[],
  lastMonth: string,
  issued: readonly Statement[],
): number {
  const moved = movements.filter(({ atMs }) => monthOf(atMs) <= lastMonth).map(amountOf)
  return sum(moved) - sum(issued.map((told) => told.releasedMicros - told.takenBackMicros))
}

function amountOf({ earningsMicros }: Movement): number {
  return earningsMicros
}

/** The UTC month of an instant, `2026-03`. */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7)
}

export function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return monthOf(Date.UTC(year, number, 1)) // Months count from 0 there: this is the next one.
}

export function previousMonth(month: string): string {
  return monthOf(Date.parse(`${month}-01T00:00:00Z`) - 1)
}

/** How a statement is called in reports: the publisher's number and the month. */
export function statementId(pubId: number, month: string): string {
  return `S${pubId}-${month.replace('-', '')}`
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0)
}
