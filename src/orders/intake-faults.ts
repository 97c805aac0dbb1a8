/**
 * Finds faults of orders and returns that a schema cannot express: currencies, amounts, times in
 * the future.
 *
 * It also runs on entries with other faults, so that a merchant sees all of them at once. A field
 * may be missing or have the wrong type; the schema reports those.
 */
import { badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { CURRENCY_PATTERN } from '../platform/http/pattern.ts'
import { addFaults, type Check, listOf } from '../platform/http/validation.ts'
import { ISO_4217 } from '../platform/money/iso4217.ts'
import { dayOf, latestDay, parseTimestamp, TIMESTAMP_RULE } from '../platform/time/timestamp.ts'
import { CLOCK_SKEW_MS } from './attribute.ts'
import { parseMinor } from './currency.ts'
import { BATCH_MAX, LINES_MAX } from './schema.ts'

type Loose = Readonly<Record<string, unknown>>
type Context = { readonly nowMs: number }

const CODE = new RegExp(CURRENCY_PATTERN)
const AMOUNT_RULE = 'must be a decimal such as "105.00", not negative'
/** More decimals than any currency has, for amounts in an unknown currency. */
const DECIMALS_MAX = 12

/** The faults of an order. */
export function orderFaults(entry: unknown, { nowMs }: Context): Fault[] {
  const { order: sent, products } = loose(entry)
  const order = loose(sent)
  const faults: Fault[] = []
  const note = (field: string, rule: string | null) => {
    if (rule !== null) faults.push({ field, rule })
  }
  note('order.id', blankFault(order.id))
  note('order.currency', currencyFault(order.currency))
  note('order.value', amountFault(order.value, order.currency))
  note('order.ordered_at', dateFault(order.ordered_at, nowMs))
  note('order.updated_at', timeFault(order.updated_at, nowMs))
  for (const [index, product] of listOf(products, LINES_MAX).entries()) {
    const { price, currency } = loose(product)
    note(`products[${index}].price`, amountFault(price, order.currency))
    const isOther = isCode(currency) && isCode(order.currency) && currency !== order.currency
    const rule = isOther
      ? `must be the order’s, ${order.currency}: an order has one currency`
      : null
    note(`products[${index}].currency`, rule)
  }
  return faults
}

/** The faults of a return. It must name goods, or an amount. */
export function returnFaults(entry: unknown, { nowMs }: Context): Fault[] {
  const sent = loose(entry)
  const { line = null, product_id: productId = null, amount = null, quantity = null } = sent
  const namesNothing = line === null && (productId === null || isBlank(productId))
  const rules = {
    id: blankFault(sent.id),
    order_id: blankFault(sent.order_id),
    product_id: namesNothing && amount === null ? NOTHING_NAMED : null,
    quantity: amount !== null && quantity !== null ? NOT_BOTH : null,
    amount: refundFault(amount, sent.currency),
    currency: currencyFault(sent.currency),
    returned_at: dateFault(sent.returned_at, nowMs),
  }
  return Object.entries(rules).flatMap(([field, rule]) => (rule === null ? [] : { field, rule }))
}

const NOTHING_NAMED =
  'is required, or line: name the returned goods; only a refund with an amount may name neither'
const NOT_BOTH = 'must be left out where amount is given: a return has one of the two'

function refundFault(amount: unknown, currency: unknown): string | null {
  if (amount === '') return AMOUNT_RULE
  const rule = amountFault(amount, currency)
  const isNothing = typeof amount === 'string' && rule === null && Number(amount) === 0
  return isNothing ? 'must be more than 0' : rule
}

/** The name of the list in a body. */
export type ListName = 'orders' | 'returns' | 'events'

/** The check of a body and of the entries in one of its lists. */
export interface BodyCheck<T> {
  readonly schema: Check<T>
  readonly listName: ListName
  readonly entryFaults: (entry: unknown, context: Context) => readonly Fault[]
  readonly nowMs: number
}

/** The body. Throws a 400 with every fault of its schema and of each entry. */
export function checked<T>(
  body: unknown,
  { schema, listName, entryFaults, nowMs }: BodyCheck<T>,
): T {
  const further = listOf(loose(body)[listName], BATCH_MAX).flatMap((entry, index) =>
    under(`${listName}[${index}]`, entryFaults(entry, { nowMs })),
  )
  if (further.length === 0 && schema.isGood(body)) return body
  throw badRequest(addFaults(schema.faults(body), further))
}

/** Faults of an entry, named by its position in the request. */
export function under(path: string, faults: readonly Fault[]): Fault[] {
  return faults.map(({ field, rule }) => ({ field: `${path}.${field}`, rule }))
}

/** The fault of a blank id. The schema refuses an empty one. */
function blankFault(id: unknown): string | null {
  return isBlank(id) ? 'must not be blank' : null
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === ''
}

function currencyFault(currency: unknown): string | null {
  return isCode(currency) && exponentOf(currency) === null ? `ISO 4217 has no ${currency}` : null
}

function amountFault(amount: unknown, currency: unknown): string | null {
  if (typeof amount !== 'string' || amount === '') return null
  const exponent = exponentOf(currency)
  if (parseMinor(amount, exponent ?? DECIMALS_MAX) !== null) return null
  if (exponent === null) return AMOUNT_RULE
  return `${AMOUNT_RULE}; ${currency} has ${exponent} decimals`
}

/** Null also for currencies without decimals in ISO 4217, such as gold. */
function exponentOf(currency: unknown): number | null {
  return isCode(currency) ? (ISO_4217.get(currency) ?? null) : null
}

/** The same for a shop that knows only its own day, which may begin before ours. */
function dateFault(text: unknown, nowMs: number): string | null {
  const day = dayOf(text)
  const isOfItsDay = day !== null && day === text && day <= latestDay(nowMs)
  return isOfItsDay ? null : timeFault(text, nowMs)
}

/** Reports are never about the future. */
function timeFault(text: unknown, nowMs: number): string | null {
  if (typeof text !== 'string' || text === '') return null
  const at = parseTimestamp(text)
  if (at === null) return TIMESTAMP_RULE
  return at.getTime() > nowMs + CLOCK_SKEW_MS ? 'must not lie in the future' : null
}

function isCode(currency: unknown): currency is string {
  return typeof currency === 'string' && CODE.test(currency)
}

function loose(value: unknown): Loose {
  return typeof value === 'object' && value !== null ? (value as Loose) : {}
}
