/**
 * Which earnings a merchant's money has paid for, oldest first: docs/spec/orders-and-money.md.
 *
 * Pure, and computed from debts and payments instead of stored. Both only grow at the end, so a
 * reported release never changes, except by fractions of a cent if the lines of a partly paid order
 * per purchase are reported differently. Debts form a queue in order of due date, payments in order
 * of arrival, and each dollar meets the debt in front. A partly covered debt releases that part of
 * the publisher's earnings, rounded on the running total, so that a covered debt releases
 * everything.
 *
 * A reversal closes the open rest of its own debt. Only the part that money had covered pays other
 * debts; otherwise a debt that nobody paid would pay others.
 */
import { formatExact, type Micros, micros, sumExact } from '../platform/money/money.ts'

/**
 * A merchant's debt, or a credit if its cost is negative. It may cost nothing and still have
 * earnings: a commission of a few cents does not reach every line of an order.
 */
export interface Debt {
  /**
   * An order's line, a day of clicks, or a payment: unique per merchant. A reversal's key is the
   * reversed debt's key, a blank, and its own name.
   */
  readonly key: string
  readonly pubId: number // 0 for a reversed payment, which belongs to no publisher.
  readonly dueAtMs: number
  readonly costMicros: Micros // What the merchant owes.
  readonly earningsMicros: Micros // The publisher's part.
}

export interface Payment {
  readonly paymentId: string
  readonly atMs: number
  readonly amountMicros: Micros
}

/** Earnings released by money, or reversed (negative) by returns or invalid clicks. */
export interface Release {
  readonly key: string
  readonly pubId: number
  readonly atMs: number // When both the debt was due and the money had arrived.
  // Null for a credit from a reversal, or for the reversal itself.
  readonly paymentId: string | null
  readonly earningsMicros: Micros
  readonly isWhole: boolean // Whether this covers the debt completely.
}

export interface OpenDebt {
  readonly debt: Debt
  readonly owedMicros: Micros // What the merchant still owes.
  readonly unreleasedMicros: Micros // The publisher's part of that.
}

export interface MatchedDebts {
  readonly releases: readonly Release[]
  /** Debts that are not fully released, the oldest first. */
  readonly open: readonly OpenDebt[]
  /** Money that has met no debt yet. */
  readonly creditMicros: Micros
}

/** Settles one merchant's debts with its payments. Neither needs to be sorted. */
export function matchDebts(debts: readonly Debt[], payments: readonly Payment[]): MatchedDebts {
  const owed = debts.filter((debt) => !isBack(debt)).sort(byAge)
  const back = debts.filter(isBack).sort(byAge)
  const paid = [...payments].sort(
    (a, b) => a.atMs - b.atMs || compareText(a.paymentId, b.paymentId),
  )
  const row = new DebtRow(new Set(back.map(({ key }) => ownKeyOf(key))))
  // At the same moment debts come first and payments last, because the sort is stable.
  const happenings = [
    ...owed.map((debt) => ({ atMs: debt.dueAtMs, happen: () => row.owe(debt) })),
    ...back.map((debt) => ({ atMs: debt.dueAtMs, happen: () => row.reverse(debt) })),
    ...paid.map((payment) => ({ atMs: payment.atMs, happen: () => row.receive(payment) })),
  ].sort((a, b) => a.atMs - b.atMs)
  for (const { happen } of happenings) happen()
  return row.matched()
}

/** What a merchant owes, and its unused money, as in the API. */
export interface MerchantAccount {
  readonly owed_usd: string
  readonly credit_usd: string
}

export function accountOf({ open, creditMicros }: MatchedDebts): MerchantAccount {
  const owed_usd = formatExact(sumExact(open.map(({ owedMicros }) => owedMicros)))
  return { owed_usd, credit_usd: formatExact(creditMicros) }
}

/** The key of the debt that a key reverses, or the key itself. */
export function ownKeyOf(key: string): string {
  return key.split(' ', 1)[0] as string
}

/** A debt in the queue, and how much of it is covered. */
interface DebtState {
  readonly debt: Debt
  covered: number
}

interface Money {
  readonly paymentId: string | null
  left: number
}

/** One merchant's debts and money, added in order of time. */
class DebtRow {
  readonly #releases: Release[] = []
  readonly #row: DebtState[] = []
  readonly #backOf: ReadonlySet<string>
  // Only reversed debts: a map of all would double the cost.
  readonly #byKey = new Map<string, DebtState>()
  readonly #money: Money[] = []
  #front = 0 // Index in the queue: everything before it is covered.
  #spent = 0 // Index in the money: everything before it has met debts.
  #latest: Money | null = null // The money that met a debt last.

  /** `backOf`: the keys of debts that are partly or fully reversed. */
  constructor(backOf: ReadonlySet<string>) {
    this.#backOf = backOf
  }

  owe(debt: Debt): void {
    const state = { debt, covered: 0 }
    this.#row.push(state)
    if (this.#backOf.has(debt.key)) this.#byKey.set(debt.key, state)
    this.#payDebts(debt.dueAtMs)
  }

  receive({ paymentId, atMs, amountMicros }: Payment): void {
    this.#money.push({ paymentId, left: amountMicros })
    this.#payDebts(atMs)
  }

  reverse({ key, pubId, dueAtMs: atMs, costMicros, earningsMicros }: Debt): void {
    this.#releases.push({ key, pubId, atMs, paymentId: null, earningsMicros, isWhole: true })
    const credit = { paymentId: null, left: -costMicros }
    const own = this.#byKey.get(ownKeyOf(key))
    if (own !== undefined) this.#payDebt(own, credit, atMs)
    this.#money.push(credit)
    this.#payDebts(atMs)
  }

  matched(): MatchedDebts {
    const open = this.#row
      .slice(this.#front)
      .map(({ debt, covered }) => ({
        debt,
        owedMicros: micros(debt.costMicros - covered),
        unreleasedMicros: micros(debt.earningsMicros - earnedBy(debt, covered)),
      }))
      .filter(({ owedMicros, unreleasedMicros }) => owedMicros > 0 || unreleasedMicros > 0)
    const credit = this.#money.slice(this.#spent).reduce((sum, { left }) => sum + left, 0)
    return { releases: this.#releases.sort(byTime), open, creditMicros: micros(credit) }
  }

  /** Lets available money payDebt debts that are due. */
  #payDebts(atMs: number): void {
    for (let first = this.#row[this.#front]; first; first = this.#row[this.#front]) {
      while (first.covered < first.debt.costMicros) {
        const money = this.#money[this.#spent]
        if (money === undefined) return
        this.#payDebt(first, money, atMs)
        if (money.left === 0) this.#spent += 1
      }
      // A debt that costs nothing is released with the debts before it, including those of its
      // order.
      if (first.debt.costMicros === 0) {
        this.#release(first.debt, { atMs, earned: first.debt.earningsMicros, isWhole: true })
      }
      this.#front += 1
    }
  }

  #payDebt(state: DebtState, money: Money, atMs: number): void {
    const { debt, covered: before } = state
    const part = Math.min(debt.costMicros - before, money.left)
    if (part <= 0) return
    money.left -= part
    state.covered += part
    this.#latest = money
    const earned = earnedBy(debt, state.covered) - earnedBy(debt, before)
    const isWhole = state.covered === debt.costMicros
    this.#release(debt, { atMs, earned, isWhole })
  }

  #release(
    { key, pubId }: Debt,
    { atMs, earned, isWhole }: { atMs: number; earned: number; isWhole: boolean },
  ): void {
    const paymentId = this.#latest?.paymentId ?? null
    this.#releases.push({ key, pubId, atMs, paymentId, earningsMicros: micros(earned), isWhole })
  }
}

/** The earnings for a covered part of a debt's cost, rounded on the running total. */
function earnedBy({ earningsMicros, costMicros }: Debt, coveredMicros: number): number {
  if (coveredMicros === 0) return 0
  if (coveredMicros === costMicros) return earningsMicros
  return Number((BigInt(earningsMicros) * BigInt(coveredMicros)) / BigInt(costMicros))
}

function isBack({ costMicros, earningsMicros }: Debt): boolean {
  return costMicros < 0 || (costMicros === 0 && earningsMicros < 0)
}

function byAge(a: Debt, b: Debt): number {
  const isFree = ({ costMicros }: Debt) => Number(costMicros === 0)
  return a.dueAtMs - b.dueAtMs || isFree(a) - isFree(b) || compareText(a.key, b.key)
}

function byTime(a: Release, b: Release): number {
  return a.atMs - b.atMs || compareText(a.key, b.key)
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
