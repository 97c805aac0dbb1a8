/**
 * Which earnings a merchant's money has paid for: pay-as-paid, oldest first (economics 4).
 *
 * Pure, and computed from what is owed and what was paid rather than stored: both only ever grow
 * at the end, so a release that was told once never changes, but for fractions of a cent where the
 * lines of an order per purchase that is paid in part are told otherwise. The merchant's debts
 * stand in a row in the order in which they fell due, its money in the order in which it came, and
 * each dollar meets the debt that stands at its place. A debt that is covered in part releases that
 * part of the publisher's earnings, rounded on the running total, so that a covered debt releases
 * all.
 */
import { type Micros, micros } from '../platform/money.ts'

/**
 * Something a merchant owes, or gets back when its cost is negative. It may cost nothing and yet
 * be part of the earnings: a commission of few cents does not reach every line of an order.
 */
export interface Debt {
  readonly key: string // an order's line, a day of clicks, or a payment: unique per merchant
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

export interface Settlement {
  readonly releases: readonly Release[]
  /** Debts that are not covered, the oldest first, with what is still owed of them. */
  readonly open: readonly { readonly debt: Debt; readonly owedMicros: Micros }[]
  /** Money that has met no debt yet. */
  readonly creditMicros: Micros
}

interface Money {
  readonly paymentId: string | null
  readonly atMs: number
  left: number
}

/** Settles one merchant's debts with its payments. Neither needs to be sorted. */
export function settle(debts: readonly Debt[], payments: readonly Payment[]): Settlement {
  const owed = debts.filter((debt) => !isBack(debt)).sort(byAge)
  const back = debts.filter(isBack).sort(byAge)
  const releases: Release[] = back.map(({ key, pubId, dueAtMs, earningsMicros }) => ({
    key,
    pubId,
    atMs: dueAtMs,
    paymentId: null,
    earningsMicros,
    isWhole: true,
  }))
  const money = moneyOf(back, payments)
  const open: { debt: Debt; owedMicros: Micros }[] = []
  let next = 0
  let latest: Money | null = null // What met a debt last.
  for (const debt of owed) {
    let covered = 0
    if (debt.costMicros === 0 && open.length === 0) releases.push(freeRelease(debt, latest))
    while (covered < debt.costMicros && next < money.length) {
      const coin = money[next] as Money
      const part = Math.min(debt.costMicros - covered, coin.left)
      covered += part
      coin.left -= part
      if (part > 0) {
        releases.push(releaseOf(debt, coin, { before: covered - part, after: covered }))
        latest = coin
      }
      if (coin.left === 0) next += 1
    }
    const rest = debt.costMicros - covered
    if (rest > 0) open.push({ debt, owedMicros: micros(rest) })
  }
  const credit = money.slice(next).reduce((sum, { left }) => sum + left, 0)
  return { releases: releases.sort(byTime), open, creditMicros: micros(credit) }
}

/** Payments and what was taken back, in the order in which they came. */
function moneyOf(back: readonly Debt[], payments: readonly Payment[]): Money[] {
  return [
    ...payments.map(({ paymentId, atMs, amountMicros }) => ({
      paymentId,
      atMs,
      left: amountMicros as number,
    })),
    ...back.map(({ dueAtMs, costMicros }) => ({
      paymentId: null,
      atMs: dueAtMs,
      left: -costMicros,
    })),
  ].sort((a, b) => a.atMs - b.atMs || compareText(a.paymentId ?? '', b.paymentId ?? ''))
}

function releaseOf(
  { key, pubId, dueAtMs, costMicros, earningsMicros }: Debt,
  { paymentId, atMs }: Money,
  covered: { readonly before: number; readonly after: number },
): Release {
  const part = (of: number) => Number((BigInt(earningsMicros) * BigInt(of)) / BigInt(costMicros))
  return {
    key,
    pubId,
    atMs: Math.max(dueAtMs, atMs),
    paymentId,
    earningsMicros: micros(part(covered.after) - part(covered.before)),
    isWhole: covered.after === costMicros,
  }
}

/** What costs nothing is released with the debts before it, those of its own order among them. */
function freeRelease({ key, pubId, dueAtMs, earningsMicros }: Debt, latest: Money | null): Release {
  return {
    key,
    pubId,
    atMs: Math.max(dueAtMs, latest?.atMs ?? dueAtMs),
    paymentId: latest?.paymentId ?? null,
    earningsMicros,
    isWhole: true,
  }
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
