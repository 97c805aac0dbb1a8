/**
 * A publisher's months: what was released, what was taken back, what is paid out.
 *
 * Pure. A balance under the minimum, or below zero after returns, is carried into the next month;
 * a transfer costs somebody money, and cents are not worth one. Banks know whole cents: the rest of
 * a cent is carried too, so that what is paid is to the micro-dollar what the statement says.
 */
import { type Micros, micros } from '../platform/money.ts'

/** Our choice: the smallest amount that is worth a bank transfer. */
export const MINIMUM_PAYOUT_MICROS = micros(50_000_000)

const CENT_MICROS = 10_000

export interface Statement {
  readonly month: string // YYYY-MM
  readonly openingMicros: Micros
  readonly releasedMicros: Micros
  readonly takenBackMicros: Micros // not negative
  readonly payoutMicros: Micros
  readonly closingMicros: Micros
}

/**
 * The statements of every month from that of the first movement to `lastMonth`, in order.
 * `movements` are releases (above 0) and takings back (below 0) with the time they happened.
 */
export function makeStatements(
  movements: readonly { readonly atMs: number; readonly earningsMicros: Micros }[],
  lastMonth: string,
): Statement[] {
  const byMonth = Map.groupBy(movements, ({ atMs }) => monthOf(atMs))
  const first = [...byMonth.keys()].sort()[0]
  const statements: Statement[] = []
  let opening = 0
  for (let month = first; month !== undefined && month <= lastMonth; month = nextMonth(month)) {
    const amounts = (byMonth.get(month) ?? []).map(({ earningsMicros }) => earningsMicros as number)
    const released = sum(amounts.filter((amount) => amount > 0))
    const takenBack = 0 - sum(amounts.filter((amount) => amount < 0))
    const balance = opening + released - takenBack
    const payout = balance >= MINIMUM_PAYOUT_MICROS ? balance - (balance % CENT_MICROS) : 0
    statements.push({
      month,
      openingMicros: micros(opening),
      releasedMicros: micros(released),
      takenBackMicros: micros(takenBack),
      payoutMicros: micros(payout),
      closingMicros: micros(balance - payout),
    })
    opening = balance - payout
  }
  return statements
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
