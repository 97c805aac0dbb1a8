/**
 * Imports orders and returns from a CSV file with one row per product, and the API's field names.
 *
 * Columns of an order: order_id, value, currency, and optionally ordered_at, updated_at, click_id,
 * click_ids (comma-separated), is_new_customer, status. Columns of its products: product_id,
 * product_name, product_brand, quantity, price. Rows with one order_id form one order; fields of
 * the whole order may be in one of them, or repeated equally. Columns of a return: return_id,
 * order_id, product_id or line, quantity, returned_at. Rejected entries are reported with line and
 * reason.
 */

import { moneyEvents } from '../events/append-money.ts'
import { EVENT_TYPE, type LogEvent } from '../events/event.ts'
import type { Fault } from '../platform/errors/api-errors.ts'
import { compileCheck } from '../platform/http/validation.ts'
import { type CsvRow, hasColumns, readCsv, requireColumns } from '../platform/text/csv.ts'
import {
  type IntakeDeps,
  type IntakeMerchant,
  type Judged,
  judgeGoodOrders,
  judgeReturns,
} from './intake.ts'
import { type BodyCheck, orderFaults, returnFaults } from './intake-faults.ts'
import { type ReadOrder, type ReturnBody, readOrder, readReturn } from './read-order.ts'
import { BATCH_MAX, ReturnEntry, ServerOrder } from './schema.ts'

export interface RejectedEntry {
  readonly line: number
  readonly id: string
  readonly faults: readonly Fault[] // of fields of the entry, by their API names
}

export interface ImportedFile {
  readonly rows: number
  readonly imported: number // orders or returns, not rows
  readonly rejected: readonly RejectedEntry[] // likewise
}

/** Appends what a file brings, or nothing of it. */
export type AppendFile = (events: readonly LogEvent[], file: ImportedFile) => Promise<void>

const ORDER_COLUMNS = ['order_id', 'value', 'currency']
const RETURN_COLUMNS = ['return_id', 'order_id']

/** Imports orders of one merchant. Importing the same file again changes nothing (P47). */
export async function importOrders(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  { text, append }: { readonly text: string; readonly append: AppendFile },
): Promise<ImportedFile> {
  const table = readCsv(text, hasColumns(ORDER_COLUMNS))
  requireColumns(table, ORDER_COLUMNS)
  const { rows } = table
  const nowMs = deps.now()
  const entries = [...Map.groupBy(rows, ({ cells }) => cells.order_id ?? '')].map(
    ([id, lines]): Entry<ReadOrder> => {
      const entry = orderOf(lines)
      const context = { source: 'import', nowMs } as const
      const faults = [...contradictions(lines), ...faultsOf(entry, ORDER, context)]
      const read = faults.length > 0 ? faults : readOrder(entry as ServerOrder, context)
      return { line: lines[0]?.line ?? 0, id, read }
    },
  )
  const { bodies, ...file } = await judgeEntries(rows.length, entries, {
    batchOf: ({ id }) => id,
    judge: (orders) => judgeGoodOrders(deps, merchant, orders),
  })
  await append(eventsOf(deps, merchant, { type: EVENT_TYPE.order, bodies }), file)
  return file
}

/** Imports returns of one merchant. */
export async function importReturns(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  { text, append }: { readonly text: string; readonly append: AppendFile },
): Promise<ImportedFile> {
  const table = readCsv(text, hasColumns(RETURN_COLUMNS))
  requireColumns(table, RETURN_COLUMNS)
  const { rows } = table
  const nowMs = deps.now()
  const entries = rows.map(({ line, cells }): Entry<ReturnBody> => {
    const id = cells.return_id ?? ''
    const entry = {
      id,
      order_id: cells.order_id ?? '',
      product_id: optional(cells.product_id),
      line: wholeNumber(cells.line) ?? null,
      quantity: wholeNumber(cells.quantity),
      amount: optional(cells.amount),
      currency: optional(cells.currency?.toUpperCase()),
      returned_at: optional(cells.returned_at),
    }
    const faults = faultsOf(entry, RETURN, { nowMs })
    return { line, id, read: faults.length > 0 ? faults : readReturn(entry as ReturnEntry, nowMs) }
  })
  const { bodies, ...file } = await judgeEntries(rows.length, entries, {
    batchOf: ({ read }) => read.order_id,
    judge: (returns) => judgeReturns(deps, merchant, returns),
  })
  await append(eventsOf(deps, merchant, { type: EVENT_TYPE.orderReturn, bodies }), file)
  return file
}

interface Entry<T> {
  readonly line: number
  readonly id: string
  readonly read: T | readonly Fault[]
}

const ORDER = { schema: compileCheck(ServerOrder), entryFaults: orderFaults }
const RETURN = { schema: compileCheck(ReturnEntry), entryFaults: returnFaults }

function faultsOf(
  entry: object,
  { schema, entryFaults }: Pick<BodyCheck<unknown>, 'schema' | 'entryFaults'>,
  context: { readonly nowMs: number },
): readonly Fault[] {
  const found = schema.faults(entry)
  return found.length > 0 ? found : entryFaults(entry, context)
}

interface Judging<T, Body> {
  /** Entries of one batch are judged together, so that each knows the ones before it. */
  readonly batchOf: (entry: Entry<T> & { readonly read: T }) => string
  readonly judge: (batch: readonly T[]) => Promise<readonly Judged<Body>[]>
}

/** Judges every entry before anything is appended. */
async function judgeEntries<T, Body>(
  rows: number,
  entries: readonly Entry<T>[],
  { batchOf, judge }: Judging<T, Body>,
): Promise<ImportedFile & { readonly bodies: readonly Body[] }> {
  const rejected: RejectedEntry[] = []
  const good: (Entry<T> & { readonly read: T })[] = []
  for (const { line, id, read } of entries) {
    if (Array.isArray(read)) rejected.push({ line, id, faults: read })
    else good.push({ line, id, read: read as T })
  }
  const bodies: Body[] = []
  for (const batch of batchesOf([...Map.groupBy(good, batchOf).values()])) {
    const outcomes = await judge(batch.map(({ read }) => read))
    outcomes.forEach((outcome, index) => {
      const { line = 0, id = '' } = batch[index] ?? {}
      if ('fault' in outcome) rejected.push({ line, id, faults: [outcome.fault] })
      else bodies.push(outcome.accepted)
    })
  }
  rejected.sort((a, b) => a.line - b.line)
  return { rows, imported: bodies.length, rejected, bodies }
}

/** Whole groups together, until they are enough for a batch. */
function* batchesOf<T>(groups: readonly (readonly T[])[]): Generator<readonly T[]> {
  let batch: T[] = []
  for (const group of groups) {
    batch.push(...group)
    if (batch.length < BATCH_MAX) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function eventsOf(
  deps: IntakeDeps,
  { merch_id: merchId }: IntakeMerchant,
  { type, bodies }: { readonly type: LogEvent['type']; readonly bodies: readonly object[] },
): LogEvent[] {
  const news = bodies.map((body) => ({ merchId, body }))
  return moneyEvents(deps, type, news)
}

const OF_THE_WHOLE = 'value currency status click_id click_ids ordered_at updated_at'.split(' ')

/**
 * Columns in which rows of one order disagree, as in an export with values per product. Using the
 * first value would silently underpay.
 */
function contradictions(rows: readonly CsvRow[]): Fault[] {
  return OF_THE_WHOLE.flatMap((column) => {
    const cellOf = ({ cells }: CsvRow) => cells[column] ?? ''
    const [first, ...others] = rows.filter((row) => cellOf(row) !== '')
    const other = others.find((row) => first && !isSame(column, cellOf(first), cellOf(row)))
    if (first === undefined || other === undefined) return []
    const rule = `line ${other.line} differs from line ${first.line}; it is the whole order’s`
    return [{ field: `order.${column}`, rule }]
  })
}

/**
 * Compared as text, because one program wrote all rows. But spreadsheets drop zeros from some
 * amounts.
 */
function isSame(column: string, one: string, other: string): boolean {
  if (column === 'currency') return one.toUpperCase() === other.toUpperCase()
  return one === other || (column === 'value' && Number(one) === Number(other))
}

function orderOf(rows: readonly CsvRow[]): object {
  const whole = (column: string) =>
    rows.map(({ cells }) => cells[column]).find((cell) => cell !== undefined && cell !== '')
  const products = rows.flatMap(({ cells }) =>
    cells.product_id === undefined || cells.product_id === ''
      ? []
      : [
          {
            id: cells.product_id,
            name: optional(cells.product_name),
            brand: optional(cells.product_brand),
            quantity: wholeNumber(cells.quantity) ?? 1,
            price: cells.price ?? '',
          },
        ],
  )
  const status = whole('status')
  return {
    order: {
      id: rows[0]?.cells.order_id ?? '',
      value: whole('value') ?? '',
      currency: (whole('currency') ?? '').toUpperCase(),
      click_id: optional(whole('click_id')),
      cids: optional(whole('click_ids')),
      ordered_at: optional(whole('ordered_at')),
      updated_at: optional(whole('updated_at')),
      is_new_customer: truth(whole('is_new_customer')),
      test: truth(whole('test')),
      value_is_net: truth(whole('value_is_net')),
      ...(status === undefined ? {} : { status }),
    },
    products,
  }
}

function optional(cell: string | undefined): string | null {
  return cell === undefined || cell === '' ? null : cell
}

/** A number if the cell contains one; otherwise the text, which the schema refuses. */
function wholeNumber(cell: string | undefined): number | string | null {
  if (cell === undefined || cell === '') return null
  return /^-?\d{1,15}$/.test(cell) ? Number(cell) : cell
}

function truth(cell: string | undefined): boolean | string | null {
  if (cell === undefined || cell === '') return null
  if (/^(true|1|yes)$/i.test(cell)) return true
  return /^(false|0|no)$/i.test(cell) ? false : cell
}
