/** Columns of a data table: values, formats, sums and the rows of its CSV file. */
import type { ReactNode } from 'react'
import { type CsvCell, csvLine } from '../../src/platform/text/csv.ts'
import { cents, count, date, percent } from '../format.ts'

/** Amounts are decimal strings, as the API sends them; shares are fractions of 1. */
export type Value = string | number | null

export interface Column<Row> {
  readonly id: string
  readonly head: string
  /** What the table sorts, filters, adds up and writes to CSV. */
  readonly value: (row: Row) => Value
  /** Text by default. */
  readonly kind?: 'text' | 'count' | 'money' | 'share' | 'day'
  /** Shown instead of the formatted value. */
  readonly cell?: (row: Row) => ReactNode
  /** Adds the column up in the row of totals. Only where a sum means something. */
  readonly isSum?: boolean
  /** The total when it is not the sum, such as earnings per click. */
  readonly total?: (rows: readonly Row[]) => string
  /** Not shown until somebody chooses it. */
  readonly isHidden?: boolean
}

export const isNumeric = ({ kind = 'text' }: Column<never>): boolean =>
  kind === 'count' || kind === 'money' || kind === 'share'

export const NONE = '–'

/** A value as the table shows it. Money is in cents; details show every digit. */
export function formatted(value: Value, kind: Column<never>['kind']): string {
  if (value === null || value === '') return NONE
  switch (kind) {
    case 'count':
      return count(Number(value))
    case 'money':
      return cents(String(value))
    case 'share':
      return percent(Number(value), 1)
    case 'day':
      return date(String(value))
    default:
      return String(value)
  }
}

const TEXTS = new Intl.Collator('en', { numeric: true })

/** Orders two values of a column; an unknown one is greater than all others. */
export function compare(one: Value, other: Value, isNumber: boolean): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return isNumber ? Number(one) - Number(other) : TEXTS.compare(String(one), String(other))
}

const DIGITS = 6

/** An exact sum: decimal strings are added as whole micro-dollars. */
export function sumOf<Row>(rows: readonly Row[], { value }: Column<Row>): string {
  let sum = 0n
  for (const row of rows) sum += toMicros(value(row))
  const text = String(sum < 0n ? -sum : sum).padStart(DIGITS + 1, '0')
  const decimals = text.slice(-DIGITS).replace(/0+$/, '')
  return `${sum < 0n ? '-' : ''}${text.slice(0, -DIGITS)}${decimals === '' ? '' : `.${decimals}`}`
}

function toMicros(value: Value): bigint {
  const [whole = '0', decimals = ''] = String(value ?? 0).split('.')
  return BigInt(`${whole}${decimals.padEnd(DIGITS, '0').slice(0, DIGITS)}`)
}

/** Whether a row contains every word of a text, in any order and case. */
export function matches<Row>(row: Row, columns: readonly Column<Row>[], text: string): boolean {
  const content = columns
    .map(({ value }) => value(row) ?? '')
    .join(' ')
    .toLowerCase()
  return text.split(/\s+/).every((word) => content.includes(word))
}

/** A CSV file of these rows and columns, in this order. Numbers have every digit. */
export function csvOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cellOf = (row: Row, column: Column<Row>): CsvCell => {
    const value = column.value(row)
    return isNumeric(column as Column<never>) || value === null ? value : { text: String(value) }
  }
  return [
    csvLine(columns.map(({ head }) => ({ text: head }))),
    ...rows.map((row) => csvLine(columns.map((column) => cellOf(row, column)))),
  ].join('')
}
