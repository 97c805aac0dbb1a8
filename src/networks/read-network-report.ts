/** Reads a whole report of another network: its header, its date and amount formats, its lines. */

import { badRequest } from '../platform/errors/api-errors.ts'
import { csvReader, findCsvHeader, firstTextLine } from '../platform/text/csv-reader.ts'
import { findColumns, missingColumns, type NetworkField, type NetworkMap } from './network-map.ts'
import {
  cellOf,
  type ReadRow,
  type RejectedRow,
  type ReportStyle,
  readNetworkRow,
} from './read-network-row.ts'
import { type DecimalSeparator, decideAmountStyle } from './report-amounts.ts'
import { type DateOrder, decideDateOrder, type ReportCell } from './report-dates.ts'

export interface ReadReport {
  readonly rows: readonly { readonly line: number; readonly row: ReadRow }[]
  readonly rejected: readonly RejectedRow[]
  readonly dateOrder: DateOrder
  readonly decimal: DecimalSeparator | null
}

/**
 * Throws a 400 when no line is a header with the columns that the map needs, and when its dates or
 * its amounts contradict each other.
 */
export function readNetworkReport(written: string, map: NetworkMap): ReadReport {
  const marked = written.replace(/^\ufeff/, '')
  // `CSV (Macintosh)`, which spreadsheets still write, has no line feeds.
  const text = marked.includes('\n') ? marked : marked.replaceAll('\r', '\n')
  const isHeader = (cells: readonly string[]) =>
    missingColumns(map, findColumns(map, cells)).length === 0
  const header = findCsvHeader(text, { isHeader, isLast: true })
  if (header === null) {
    const first = firstTextLine(text)
    const faults = missingColumns(map, findColumns(map, first?.cells ?? []))
    const where = `line ${first?.line ?? 1} does not look like a header`
    throw badRequest(faults.map(({ field, rule }) => ({ field, rule: `${where}: ${rule}` })))
  }
  const columns = findColumns(map, header.cells)
  const reader = csvReader(header.separator, {
    width: header.cells.length,
    line: header.endLine,
    allowsShortRows: true,
    // An unquoted `1,234.50` shifts the later cells, and an empty last cell may hide that.
    allowsPadding: false,
  })
  const records = reader.push(text.slice(header.end), true)
  const whole = records.filter((record) => record.kind === 'cells')
  const cellsOf = (...fields: readonly NetworkField[]): ReportCell[] =>
    whole.flatMap(({ line, cells }) =>
      fields.map((field) => ({ line, text: cellOf(cells, columns, field) })),
    )
  const amounts = decideAmountStyle(cellsOf('revenue', 'earnings'), {
    named: map.decimal_separator,
    columnSeparator: header.separator,
  })
  const dateOrder = decideDateOrder(cellsOf('date', 'posting_date'), {
    named: map.date_order,
    hasDecimalComma: amounts.decimal === ',',
  })
  const style: ReportStyle = { map, columns, amounts, dateOrder }
  const rows: { line: number; row: ReadRow }[] = []
  const rejected: RejectedRow[] = []
  for (const record of records) {
    if (record.kind === 'bad') {
      const { line, reason, detail, text: value } = record
      rejected.push({ line, reason, column: null, value: value.slice(0, VALUE_LENGTH_MAX), detail })
      continue
    }
    const row = readNetworkRow(record, style)
    if ('reason' in row) rejected.push(row)
    else rows.push({ line: record.line, row })
  }
  return { rows, rejected, dateOrder, decimal: amounts.decimal }
}

const VALUE_LENGTH_MAX = 2_000
