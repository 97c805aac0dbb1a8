/**
 * Which earnings a merchant's money has paid for: pay-as-paid, oldest first (economics 4).
 *
 * Pure, and computed from what is owed and what was paid rather than stored: both only ever grow
 * at the end, so a release that was told once never changes, but for fractions of a cent where the
 * lines of an order per purchase that is paid in part are told otherwise. The merchant's debts
 * stand in a row in the order in which they fell due, its money in the order in which it came, and
 * each dollar meets the debt in front. A debt that is covered in part releases that part of the
 * publisher's earnings, rounded on the running total, so that a covered debt releases all.
 *
 * What is taken back closes what is still owed of its own debt. Only what money had covered of it
 * is money for other debts: one that nobody paid, and that came to nothing, would else pay them.
 */
import { formatExact, type Micros, micros, sumExact } from '../platform/money.ts'

/**
 * Something a merchant owes, or gets back when its cost is negative. It may cost nothing and yet
 * be part of the earnings: a commission of few cents does not reach every line of an order.
 */
export interface Debt {
  /**
   * An order's line, a day of clicks, or a payment: unique per merchant. What takes back is named
   * by what it takes back, a blank, and its own name.
   */
  readonly key: string
  readonly pubId: number // 0: no publisher's, for the merchant owes a payment again
  readonly dueAtMs: number
  readonly costMicros: Micros // what the merchant owes
  readonly earningsMicros: Micros // the publisher's part
}

export interface Payment {
  readonly paymentId: string
  readonly atMs: number
  readonly amountMicros: Micros
}

/** Earnings released by money, or taken back (negative) by goods or clicks that came to nothing. */
export interface Release {
  readonly key: string
  readonly pubId: number
  readonly atMs: number // when both the debt was due and the money there
  readonly paymentId: string | null // null: credit for what was taken back, or the taking back
  readonly earningsMicros: Micros
  readonly isWhole: boolean // the debt is covered with this
}

export interface OpenDebt {
  readonly debt: Debt
  readonly owedMicros: Micros // what the merchant still owes of it
  readonly unreleasedMicros: Micros // the publisher's part of that
}

export interface Settlement {
  readonly releases: readonly Release[]
  /** Debts that are not released whole, the oldest first. */
  readonly open: readonly OpenDebt[]
  /** Money that has met no debt yet. */
  readonly creditMicros: Micros
}

/** Settles one merchant's debts with its payments. Neither needs to be sorted. */
export function settle(debts: readonly Debt[], payments: readonly Payment[]): Settlement {
  const owed = debts.filter((debt) => !isBack(debt)).sort(byAge)
  const back = debts.filter(isBack).sort(byAge)
  const paid = [...payments].sort(
    (a, b) => a.atMs - b.atMs || compareText(a.paymentId, b.paymentId),
  )
  const row = new DebtRow(new Set(back.map(({ key }) => ownKeyOf(key))))
  // Of one moment debts come first and payments last: the sort keeps what is equal in its order.
  const happenings = [
    ...owed.map((debt) => ({ atMs: debt.dueAtMs, happen: () => row.owe(debt) })),
    ...back.map((debt) => ({ atMs: debt.dueAtMs, happen: () => row.takeBack(debt) })),
    ...paid.map((payment) => ({ atMs: payment.atMs, happen: () => row.receive(payment) })),
  ].sort((a, b) => a.atMs - b.atMs)
  for (const { happen } of happenings) happen()
  return row.settlement()
}

/** What a merchant owes, and its money that met no debt yet, as the API says it. */
export interface MerchantAccount {
  readonly owed_usd: string
  readonly credit_usd: string
}

export function accountOf({ open, creditMicros }: Settlement): MerchantAccount {
  const owed_usd = formatExact(sumExact(open.map(({ owedMicros }) => owedMicros)))
  return { owed_usd, credit_usd: formatExact(creditMicros) }
}

/** The key of the debt that one of this key takes back, or its own. */
export function ownKeyOf(key: string): string {
  return key.split(' ', 1)[0] as string
}

/** A debt in the row, and how much of it is covered by now. */
interface Standing {
  readonly debt: Debt
  covered: number
}

interface Money {
  readonly paymentId: string | null
  left: number
}

/** One merchant's debts and money, told in the order in which they came. */
class DebtRow {
  readonly #releases: Release[] = []
  readonly #row: Standing[] = []
  readonly #backOf: ReadonlySet<string>
  readonly #byKey = new Map<string, Standing>() // Of those only: a map of all costs as much again.
  readonly #money: Money[] = []
  #front = 0 // Of the row: those before are covered.
  #spent = 0 // Of the money: what is before has met debts.
  #latest: Money | null = null // What met a debt last.

  /** `backOf`: the keys of the debts of which something is taken back. */
  constructor(backOf: ReadonlySet<string>) {
    this.#backOf = backOf
  }

  owe(debt: Debt): void {
    const standing = { debt, covered: 0 }
    this.#row.push(standing)
    if (this.#backOf.has(debt.key)) this.#byKey.set(debt.key, standing)
    this.#pour(debt.dueAtMs)
  }

  receive({ paymentId, atMs, amountMicros }: Payment): void {
    this.#money.push({ paymentId, left: amountMicros })
    this.#pour(atMs)
  }

  takeBack({ key, pubId, dueAtMs: atMs, costMicros, earningsMicros }: Debt): void {
    this.#releases.push({ key, pubId, atMs, paymentId: null, earningsMicros, isWhole: true })
    const credit = { paymentId: null, left: -costMicros }
    const own = this.#byKey.get(ownKeyOf(key))
    if (own !== undefined) this.#meet(own, credit, atMs)
    this.#money.push(credit)
    this.#pour(atMs)
  }

  settlement(): Settlement {
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

  /** Lets the money that is there meet the debts that are due. */
  #pour(atMs: number): void {
    for (let first = this.#row[this.#front]; first; first = this.#row[this.#front]) {
      while (first.covered < first.debt.costMicros) {
        const money = this.#money[this.#spent]
        if (money === undefined) return
        this.#meet(first, money, atMs)
        if (money.left === 0) this.#spent += 1
      }
      // What costs nothing goes with the debts before it, those of its own order among them.
      if (first.debt.costMicros === 0) {
        this.#release(first.debt, { atMs, earned: first.debt.earningsMicros, isWhole: true })
      }
      this.#front += 1
    }
  }

  #meet(standing: Standing, money: Money, atMs: number): void {
    const { debt, covered: before } = standing
    const part = Math.min(debt.costMicros - before, money.left)
    if (part <= 0) return
    money.left -= part
    standing.covered += part
    this.#latest = money
    const earned = earnedBy(debt, standing.covered) - earnedBy(debt, before)
    const isWhole = standing.covered === debt.costMicros
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

/** A debt's earnings for so much of its cost, rounded on the running total. */
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
