/**
 * Warnings about accepted reports that may not mean what their sender intends
 * (docs/spec/orders-and-money.md#warnings).
 *
 * A broken shop template would otherwise go unnoticed: an order with a damaged click id is valid,
 * but nobody is paid for it.
 */
import { CLICK_ID } from '../events/click-id.ts'
import type { Fault } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatMinor } from './currency.ts'
import type { ListName } from './intake-faults.ts'
import { findKnownClicks } from './known-orders.ts'
import type { ReadOrder } from './read-order.ts'
import type { CheckoutEvent, ServerOrder } from './schema.ts'
import { WARNINGS_MAX } from './schema.ts'

export const WARNING_KINDS = ['unknown_field', 'unknown_click_id', 'value_of_lines'] as const
export type WarningKind = (typeof WARNING_KINDS)[number]

export interface Warning {
  readonly kind: WarningKind
  readonly field: string
  readonly message: string
}

export interface WarnedOrders {
  readonly listName: ListName
  readonly entries: readonly (ServerOrder | CheckoutEvent)[] // as sent
  readonly read: readonly ReadOrder[] // the same, read
}

/** Warnings of orders beside their unknown fields. */
export async function orderWarnings(
  db: Db,
  merchId: number,
  { listName, entries, read }: WarnedOrders,
): Promise<Warning[]> {
  const named = entries.flatMap(({ order }, index) =>
    namedClicks(order, `${listName}[${index}].order`),
  )
  const ids = named.map(({ id }) => id).filter((id) => CLICK_ID.test(id))
  const known = await findKnownClicks(db, { merchId, clickIds: [...new Set(ids)] })
  const unknown = named.filter(({ id }) => !known.has(id))
  return [
    ...unknown.map(({ id, field }) => clickWarning(id, field)),
    ...read.flatMap((order, index) => valueWarning(order, `${listName}[${index}].order.value`)),
  ]
}

interface NamedClick {
  readonly id: string
  readonly field: string
}

function namedClicks(order: ServerOrder['order'], path: string): NamedClick[] {
  const listed = [
    { id: order.click_id ?? '', field: `${path}.click_id` },
    ...(order.click_ids ?? []).map((id, index) => ({ id, field: `${path}.click_ids[${index}]` })),
    ...(order.cids ?? '').split(',').map((id) => ({ id, field: `${path}.cids` })),
  ]
  return listed
    .map(({ id, field }) => ({ id: id.trim().toLowerCase(), field }))
    .filter(({ id }) => id !== '')
}

const PLACEHOLDER = /[{}[\]%$]/
const WITH_MORE = /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/

function clickWarning(id: string, field: string): Warning {
  return { kind: 'unknown_click_id', field, message: `is unknown: ${whyUnknown(id)}` }
}

function whyUnknown(id: string): string {
  if (CLICK_ID.test(id)) return 'no click on this merchant has this id'
  if (WITH_MORE.test(id)) {
    return 'something is appended to the 32 characters of a click id; check the template of the links'
  }
  if (PLACEHOLDER.test(id)) {
    return 'it looks like a placeholder that nothing replaced; check the template of the links'
  }
  return 'a click id has 32 characters, 0 to 9 and a to f'
}

/** A net value falls below the products' prices after a return, so it gives no warning. */
function valueWarning(order: ReadOrder, field: string): Warning[] {
  const { lines, valueMinor, exponent, isNet } = order
  if (lines.length === 0) return []
  const sum = lines.reduce(
    (total, line) => total + BigInt(line.price_minor) * BigInt(line.quantity),
    0n,
  )
  if (valueMinor === sum || (isNet && valueMinor < sum)) return []
  const [value, ofLines] = [valueMinor, sum].map((minor) => formatMinor(minor, exponent))
  const side = valueMinor > sum ? 'above' : 'below'
  const message = `${value} is ${side} the sum of the products, ${ofLines}; the value counts`
  return [{ kind: 'value_of_lines', field, message }]
}

/** Unknown fields have no effect. */
export function unknownFieldWarnings(fields: readonly string[]): Warning[] {
  const message = 'is not known and changes nothing'
  return fields.map((field) => ({ kind: 'unknown_field', field, message }))
}

/** A currency without an amount. */
export function returnWarnings(returns: readonly unknown[]): Warning[] {
  return returns.flatMap((entry, index): Warning[] => {
    const { currency = null, amount = null } = entry as Readonly<Record<string, unknown>>
    if (currency === null || amount !== null) return []
    const field = `returns[${index}].currency`
    return [{ kind: 'unknown_field', field, message: 'changes nothing without amount' }]
  })
}

/** The form in responses. */
export function warningRecords(warnings: readonly Warning[]) {
  return warnings.slice(0, WARNINGS_MAX).map(({ field, message }) => ({ field, message }))
}

/** The form in the list of refused reports. */
export function warningFaults(warnings: readonly Warning[]): Fault[] {
  return warningRecords(warnings).map(({ field, message: rule }) => ({ field, rule }))
}
