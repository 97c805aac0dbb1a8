/**
 * The balanced ledger lines of one cause, decided without a database.
 *
 * A cause is one event of the log. It creates at most one transaction, whose lines sum to zero
 * (I7): the merchant pays, publisher and platform receive. Nothing is ever changed: a return, a
 * revision or a reversal is another transaction that names the one it corrects. Signs are from the
 * account holder's view: minus is owed, plus is received.
 */
import type { StoredEvent } from '../events/event.ts'
import { type Micros, micros, publisherPart } from '../platform/money/money.ts'

type LedgerKind =
  | 'click'
  | 'order'
  | 'revision'
  | 'return'
  | 'reversal'
  | 'payment'
  | 'payment_reversal'

/** Money received from merchants is in `bank` until it is paid out: the operator's side. */
type LedgerAccount = 'merchant' | 'publisher' | 'platform' | 'bank'

interface LedgerLine {
  readonly account: LedgerAccount
  readonly merchId: number
  readonly pubId: number // 0 if no publisher is concerned, as in a merchant's payment.
  readonly articleId: number
  readonly amountMicros: Micros
}

export interface LedgerEntry {
  /** Unique forever: posting the same cause again conflicts instead of paying twice. */
  readonly idempotencyKey: string
  readonly kind: LedgerKind
  readonly day: string // The UTC day on which the causing event was accepted, YYYY-MM-DD.
  readonly atMs: number
  readonly eventId: string
  readonly corrects: string | null // The idempotency key of the entry that this one corrects.
  readonly clickDay: string | null // For a paid click or its reversal: the click's day.
  readonly lines: readonly LedgerLine[]
}

/** The part of the event that an entry stores. */
export type Cause = Pick<StoredEvent, 'id' | 'day' | 'atMs'>

/** The parties of the amounts. */
export interface Parties {
  readonly merchId: number
  readonly pubId: number
  readonly articleId: number
}

/** What a merchant owes, and how much of it is the publisher's. */
export interface Amounts {
  readonly merchantCostMicros: Micros
  readonly publisherEarningsMicros: Micros
}

/** Keys of causes that later entries refer to. */
const clickKey = (clickIdHex: string): string => `click:${clickIdHex}`
export const orderKey = (merchId: number, orderId: string): string => `order:${merchId}:${orderId}`
const paymentKey = ({ merchId, reference }: PaymentFacts): string =>
  `payment:${merchId}:${reference}`

/**
 * A paid click (CPC): the merchant owes its price at once.
 *
 * `merchantCostMicros` is the price that the fold booked, above 0. An unpaid click has no entry.
 */
export function clickEntry(
  cause: Cause,
  parties: Parties,
  click: {
    readonly clickIdHex: string
    readonly merchantCostMicros: Micros
    readonly sharePpm: number
  },
): LedgerEntry {
  if (click.merchantCostMicros <= 0)
    throw new RangeError('a click that costs nothing makes no entry')
  const publisherEarningsMicros = publisherPart(click.merchantCostMicros, click.sharePpm)
  return entry(cause, {
    kind: 'click',
    idempotencyKey: clickKey(click.clickIdHex),
    corrects: null,
    clickDay: cause.day,
    lines: earningLines(parties, {
      merchantCostMicros: click.merchantCostMicros,
      publisherEarningsMicros,
    }),
  })
}

/**
 * A CPA or EPP commission, posted once when the order is attributed; null if nothing is owed,
 * because an entry of zeros explains nothing.
 */
export function orderEntry(
  cause: Cause,
  parties: Parties,
  order: { readonly orderId: string; readonly amounts: Amounts },
): LedgerEntry | null {
  if (order.amounts.merchantCostMicros === 0) return null
  return entry(cause, {
    kind: 'order',
    idempotencyKey: orderKey(parties.merchId, order.orderId),
    corrects: null,
    lines: earningLines(parties, order.amounts),
  })
}

/**
 * The change of an order that has an entry, after a later report or a return: the difference of its
 * amounts. If an exact click replaced a guess, `before` and `after` also differ in parties. Null if
 * nothing moves.
 */
export function changeEntry(
  cause: Cause,
  change: {
    readonly kind: 'revision' | 'return'
    readonly orderId: string
    readonly before: { readonly parties: Parties; readonly amounts: Amounts }
    readonly after: { readonly parties: Parties; readonly amounts: Amounts }
  },
): LedgerEntry | null {
  const { kind, orderId, before, after } = change
  const { merchId } = after.parties
  const lines = sumByHolder([
    ...earningLines(before.parties, negated(before.amounts)),
    ...earningLines(after.parties, after.amounts),
  ])
  if (lines.length === 0) return null
  return entry(cause, {
    kind,
    // One reversed click changes every order attributed to it, sometimes of several merchants.
    idempotencyKey: `${kind}:${cause.id}:${merchId}:${orderId}`,
    corrects: orderKey(merchId, orderId),
    lines,
  })
}

/** The opposite of a click's entry, at most once: its key derives from the original's. */
export function reversalEntry(
  cause: Cause,
  original: Pick<LedgerEntry, 'idempotencyKey' | 'clickDay' | 'lines'>,
): LedgerEntry {
  return entry(cause, {
    kind: 'reversal',
    idempotencyKey: `reversal:${original.idempotencyKey}`,
    corrects: original.idempotencyKey,
    clickDay: original.clickDay,
    lines: original.lines.map((line) => ({ ...line, amountMicros: negative(line.amountMicros) })),
  })
}

export interface PaymentFacts {
  readonly merchId: number
  readonly reference: string
  readonly amountMicros: Micros
}

/** A merchant's payment: its debt shrinks, and the operator's bank holds the money for others. */
export function paymentEntry(cause: Cause, payment: PaymentFacts): LedgerEntry {
  return entry(cause, {
    kind: 'payment',
    idempotencyKey: paymentKey(payment),
    corrects: null,
    lines: paymentLines(payment.merchId, payment.amountMicros),
  })
}

/** A reversed payment, at most once: the merchant owes the amount again. */
export function paymentReversalEntry(cause: Cause, payment: PaymentFacts): LedgerEntry {
  return entry(cause, {
    kind: 'payment_reversal',
    idempotencyKey: `reversal:${paymentKey(payment)}`,
    corrects: paymentKey(payment),
    lines: paymentLines(payment.merchId, negative(payment.amountMicros)),
  })
}

function paymentLines(merchId: number, amountMicros: Micros): LedgerLine[] {
  const party = { merchId, pubId: 0, articleId: 0 }
  return [
    { account: 'merchant', ...party, amountMicros },
    { account: 'bank', ...party, amountMicros: negative(amountMicros) },
  ]
}

function earningLines(parties: Parties, amounts: Amounts): LedgerLine[] {
  const platformMicros = micros(amounts.merchantCostMicros - amounts.publisherEarningsMicros)
  return [
    { account: 'merchant', ...parties, amountMicros: negative(amounts.merchantCostMicros) },
    { account: 'publisher', ...parties, amountMicros: amounts.publisherEarningsMicros },
    { account: 'platform', ...parties, amountMicros: platformMicros },
  ]
}

/** One line per account holder, without zero lines. */
function sumByHolder(lines: readonly LedgerLine[]): LedgerLine[] {
  const byHolder = new Map<string, LedgerLine>()
  for (const line of lines) {
    const key = `${line.account}:${line.merchId}:${line.pubId}:${line.articleId}`
    const sum = (byHolder.get(key)?.amountMicros ?? 0) + line.amountMicros
    byHolder.set(key, { ...line, amountMicros: micros(sum) })
  }
  return [...byHolder.values()].filter((line) => line.amountMicros !== 0)
}

function entry(
  cause: Cause,
  what: Pick<LedgerEntry, 'kind' | 'idempotencyKey' | 'corrects' | 'lines'> &
    Partial<Pick<LedgerEntry, 'clickDay'>>,
): LedgerEntry {
  const sum = what.lines.reduce((total, line) => total + line.amountMicros, 0)
  if (sum !== 0) throw new RangeError(`${what.idempotencyKey}: lines sum to ${sum}, not to 0`)
  return { clickDay: null, ...what, day: cause.day, atMs: cause.atMs, eventId: cause.id }
}

/** `-x` without minus zero, which would not equal 0 in a deep comparison. */
function negative(amount: Micros): Micros {
  return micros(0 - amount)
}

function negated(amounts: Amounts): Amounts {
  return {
    merchantCostMicros: negative(amounts.merchantCostMicros),
    publisherEarningsMicros: negative(amounts.publisherEarningsMicros),
  }
}
