/** One line of another network's report, as far as the line itself says. */

import { CLICK_ID } from '../events/click-id.ts'
import { currencyWords, readCurrency } from '../platform/money/read-currency.ts'
import { readArticleUrl } from '../platform/net/article-url.ts'
import {
  type FoundColumns,
  type LineStatus,
  type NetworkField,
  type NetworkMap,
  readStatus,
} from './network-map.ts'
import { type AmountFault, type AmountStyle, readReportAmount } from './report-amounts.ts'
import { type DateOrder, readReportDate } from './report-dates.ts'

/** An amount in the currency of the report. */
export interface StatedAmount {
  readonly millionths: bigint
  readonly currency: string
}

/** What names a line: lines of two reports with the same names are one line. */
export interface LineNames {
  readonly transactionId: string | null
  readonly originalId: string | null
  readonly orderId: string | null
  readonly item: string | null
  /** When the network entered the line, as a time or a day; else as the file writes it. */
  readonly posted: string | null
}

export interface ReadRow extends LineNames {
  readonly status: LineStatus
  readonly day: string
  readonly account: string
  readonly advertiser: string | null
  /** Hex; null for a sub id that is not a click id. */
  readonly clickId: string | null
  readonly slug: string | null
  readonly urlKey: Buffer | null
  readonly clicks: number
  /** Null: the file does not count them. */
  readonly sales: number | null
  readonly revenue: StatedAmount
  readonly earnings: StatedAmount
}

/** Why a line is left out. */
export type RowRejection =
  | 'row_malformed'
  | 'row_too_long'
  | 'row_truncated'
  | 'date_unreadable'
  | AmountFault['reason']
  | 'count_unreadable'
  | 'status_unknown'
  | 'publisher_unknown'
  | 'rate_missing'

export interface RejectedRow {
  readonly line: number
  readonly reason: RowRejection
  /** As the file writes it; null: the whole line is at fault. */
  readonly column: string | null
  readonly value: string | null
  readonly detail: string | null
  /** What the line names all the same: the import keeps stored lines of these names. */
  readonly names?: Pick<LineNames, 'transactionId' | 'orderId'>
}

/** How a whole file is read. */
export interface ReportStyle {
  readonly map: NetworkMap
  readonly columns: FoundColumns
  readonly amounts: AmountStyle
  readonly dateOrder: DateOrder
}

const TEXT_LENGTH_MAX = 2048 // As long as a URL may be.
const NAME_LENGTH_MAX = 255 // Names are in indexes, whose rows take 2,704 bytes at most.

/** What programs write for an empty cell. */
const NOTHING = /^(?:null|nil|none|nan|n\/a|#n\/a|undefined|\(null\)|\(none\)|\\n|-+)$/i
/** Cells where such a word is an error: nobody may guess a date or an income. */
const NEVER_EMPTY: ReadonlySet<string> = new Set(['date', 'earnings', 'status'])

/** The cell of a field, trimmed; empty where the file has none. */
export function cellOf(
  cells: readonly string[],
  columns: FoundColumns,
  field: NetworkField | 'status',
): string {
  for (const index of columns[field]?.indexes ?? []) {
    const text = (cells[index] ?? '').trim()
    if (text !== '') return text
  }
  return ''
}

/** Throws nothing: a line that cannot be read is a rejection with its column and value. */
export function readNetworkRow(
  { line, cells }: { readonly line: number; readonly cells: readonly string[] },
  style: ReportStyle,
): ReadRow | RejectedRow {
  const row = new Row(cells, style)
  try {
    return row.read()
  } catch (error) {
    if (error instanceof Rejection) return { line, ...error.fault, names: row.names }
    throw error
  }
}

type CellFault = Pick<RejectedRow, 'reason' | 'column' | 'value' | 'detail'>

class Rejection extends Error {
  readonly fault: CellFault

  constructor(fault: CellFault) {
    super(fault.reason)
    this.fault = fault
  }
}

class Row {
  readonly #cells: readonly string[]
  readonly #style: ReportStyle
  readonly names: LineNames

  constructor(cells: readonly string[], style: ReportStyle) {
    this.#cells = cells
    this.#style = style
    this.names = {
      transactionId: this.#name('transaction_id'),
      originalId: this.#name('original_id'),
      orderId: this.#name('order_id'),
      item: this.#name('item'),
      posted: this.#posted(),
    }
  }

  read(): ReadRow {
    if (this.#cells.some((cell) => cell.includes('\0'))) {
      const detail = 'the line holds U+0000: is the file text?'
      throw new Rejection({ reason: 'row_malformed', column: null, value: null, detail })
    }
    const day = readReportDate(this.#cell('date'), this.#style.dateOrder)?.day
    if (day === undefined) throw this.#reject('date', 'date_unreadable')
    const subId = this.#cell('sub_id').toLowerCase()
    return {
      ...this.names,
      day,
      ...this.#amounts(),
      status: this.#status(),
      account: this.#name('account') ?? '',
      advertiser: this.#text('advertiser'),
      clickId: CLICK_ID.test(subId) ? subId : null,
      slug: this.#text('publisher')?.toLowerCase() ?? null,
      urlKey: readArticleUrl(this.#cell('article_url') ?? '')?.key ?? null,
      clicks: this.#count('clicks') ?? 0,
      sales: this.#count('sales'),
    }
  }

  #cell(field: NetworkField | 'status'): string {
    const text = cellOf(this.#cells, this.#style.columns, field)
    return !NEVER_EMPTY.has(field) && NOTHING.test(text) ? '' : text
  }

  #text(field: NetworkField, lengthMax = TEXT_LENGTH_MAX): string | null {
    const text = this.#cell(field)
    return text === '' ? null : text.slice(0, lengthMax).toWellFormed()
  }

  #name(field: NetworkField): string | null {
    return this.#text(field, NAME_LENGTH_MAX)
  }

  #posted(): string | null {
    const text = this.#name('posting_date')
    if (text === null) return null
    return readReportDate(text, this.#style.dateOrder)?.at ?? text
  }

  #reject(
    field: NetworkField | 'status',
    reason: RowRejection,
    detail: string | null = null,
  ): Rejection {
    const column = this.#style.columns[field]?.name ?? null
    const value = cellOf(this.#cells, this.#style.columns, field).slice(0, NAME_LENGTH_MAX)
    return new Rejection({ reason, column, value: value.toWellFormed(), detail })
  }

  #status(): LineStatus {
    const { status: map } = this.#style.map
    if (map === undefined || this.#style.columns.status === undefined) return 'counts'
    const status = readStatus(this.#cell('status'), map)
    if (status !== null) return status
    throw this.#reject('status', 'status_unknown', 'the map does not say whether this counts')
  }

  #count(field: 'clicks' | 'sales'): number | null {
    const text = this.#cell(field)
    if (text === '') return null
    if (!COUNT.test(text)) throw this.#reject(field, 'count_unreadable')
    return Number(text.replace(/[^\d-]/g, ''))
  }

  #amounts(): { readonly revenue: StatedAmount; readonly earnings: StatedAmount } {
    const earnings = this.#amount('earnings', 'currency')
    const ownColumn = this.#cell('revenue_currency') === '' ? 'currency' : 'revenue_currency'
    const revenue = this.#amount('revenue', ownColumn)
    const usual = this.#style.map.currency_code ?? 'USD'
    return {
      revenue: { ...revenue, currency: revenue.currency ?? earnings.currency ?? usual },
      earnings: { ...earnings, currency: earnings.currency ?? revenue.currency ?? usual },
    }
  }

  /** An amount and the currency that its cell, its column's name or a currency column has. */
  #amount(field: 'revenue' | 'earnings', currencyField: 'currency' | 'revenue_currency') {
    const usual = this.#style.map.currency_code ?? 'USD'
    const column = currencyWords(this.#cell(currencyField))
    const words = [...column, ...(this.#style.columns[field]?.currency ?? [])]
    const expected = readCurrency(words, usual)
    if (expected === undefined) {
      const isColumn = readCurrency(column, usual) === undefined
      throw this.#reject(isColumn ? currencyField : field, 'currency_unknown')
    }
    const text = this.#cell(field) || '0'
    const read = readReportAmount(text, this.#style.amounts, expected)
    if ('reason' in read) throw this.#reject(field, read.reason, read.detail)
    if (words.length > 0 && read.currency !== expected) {
      throw this.#reject(field, 'currency_unknown', `the column says ${expected}`)
    }
    const isNamed = words.length > 0 || CURRENCY_SIGN.test(text)
    return { millionths: read.millionths, currency: isNamed ? read.currency : null }
  }
}

/** Beside the number of an amount, only a currency's sign or code has these. */
const CURRENCY_SIGN = /[\p{L}\p{Sc}]/u

/** Networks group thousands in counts as they do in amounts. */
const COUNT = /^-?(?:\d{1,9}|\d{1,3}(?:[., ']\d{3}){1,2})$/
