/**
 * Reads and writes CSV files: a header, commas, double quotes where needed, UTF-8. Where a comma is
 * the decimal separator, spreadsheets use semicolons.
 *
 * Output neutralises text cells: a spreadsheet would execute one that begins like a formula, and
 * product names and URLs come from third parties.
 */

import { badRequest, type Fault } from '../errors/api-errors.ts'
import { csvReader, findCsvHeader, firstTextLine } from './csv-reader.ts'

/** Limit for files read as a whole. Larger ones must be split. */
export const CSV_BYTES_MAX = 64 * 1024 * 1024
/** More faults of one kind would not help. */
const FAULTS_MAX = 100

export interface CsvRow {
  readonly line: number // in the file, from 1
  readonly cells: Readonly<Record<string, string>> // by header, trimmed, lower case
}

export interface CsvTable {
  readonly headers: readonly string[] // trimmed, lower case
  readonly headerLine: number
  readonly separator: string
  readonly rows: readonly CsvRow[]
  /** Lines that are not rows: a lost quote, more cells than the header, a truncated file. */
  readonly bad: readonly BadLine[]
}

export interface BadLine {
  readonly line: number
  readonly rule: string
  readonly text: string
}

/** Whether a line is the header of a file; its names are trimmed and in lower case. */
export type IsHeader = (headers: readonly string[]) => boolean

/**
 * Reads a whole file as far as possible. Headers match in any case. Skips comments, `sep=;`, blank
 * and title lines above the header. Without `isHeader`, or if no line matches, the first line with
 * text is the header.
 */
export function readCsvTable(text: string, isHeader: IsHeader = () => false): CsvTable {
  const marked = text.replace(/^\uFEFF/, '')
  // `CSV (Macintosh)`, which spreadsheets still write, has no line feeds.
  const body = marked.includes('\n') ? marked : marked.replaceAll('\r', '\n')
  const found = findCsvHeader(body, { isHeader: (cells) => isHeader(named(cells)), isLast: true })
  const header = found ?? firstTextLine(body)
  if (header === null) return { headers: [], headerLine: 1, separator: ',', rows: [], bad: [] }
  const { separator, line: headerLine } = header
  const headers = named(header.cells)
  const names = headers.map((name, index) => (name === '' ? `column ${index + 1}` : name))
  const reader = csvReader(separator, {
    width: headers.length,
    line: header.endLine,
    allowsShortRows: true,
    allowsPadding: false,
  })
  const rows: CsvRow[] = []
  const bad: BadLine[] = []
  if (holdsNul(headers))
    bad.push({ line: headerLine, rule: NUL_RULE, text: headers.join(separator) })
  for (const record of reader.push(body.slice(header.end), true)) {
    const { line } = record
    if (record.kind === 'bad') bad.push({ line, rule: RULES[record.reason], text: record.text })
    else if (holdsNul(record.cells)) {
      bad.push({ line, rule: NUL_RULE, text: record.cells.join(separator) })
    } else rows.push({ line, cells: cellsByName(names, record.cells) })
  }
  return { headers: headers.filter((name) => name !== ''), headerLine, separator, rows, bad }
}

const named = (cells: readonly string[]): string[] => cells.map((name) => name.trim().toLowerCase())

/** PostgreSQL's text cannot contain it, and no person types it. */
const holdsNul = (cells: readonly string[]): boolean => cells.some((cell) => cell.includes('\0'))
const NUL_RULE = 'holds U+0000: is it text?'

const RULES = {
  row_malformed:
    'is no row: it has more cells than the header, or a quote that is not closed or not doubled',
  row_too_long: 'is too long for a row: is a quote not closed?',
  row_truncated: 'ends before its last cell: was the file cut?',
} as const

/** Reads a whole file in which every line counts. Throws a 400 that names the invalid lines. */
export function readCsv(text: string, isHeader?: IsHeader): CsvTable {
  const table = readCsvTable(text, isHeader)
  if (table.bad.length === 0) return table
  throw badRequest(
    table.bad
      .slice(0, FAULTS_MAX)
      .map(({ line, rule }): Fault => ({ field: `line ${line}`, rule })),
  )
}

/** Of columns with equal names the first filled one counts, as in feeds. */
function cellsByName(names: readonly string[], record: readonly string[]): CsvRow['cells'] {
  const cells = new Map<string, string>()
  for (const [index, cell] of record.entries()) {
    const name = names[index] ?? ''
    if (!cells.get(name)) cells.set(name, cell.trim())
  }
  return Object.fromEntries(cells)
}

/** Throws a 400 that names each missing column. */
export function requireColumns({ headers, headerLine }: CsvTable, needed: readonly string[]): void {
  const missing = needed.filter((name) => !headers.includes(name))
  if (missing.length === 0) return
  const field = `line ${headerLine}`
  throw badRequest(
    missing.map((name) => ({
      field,
      rule: `does not look like a header: needs a column "${name}"`,
    })),
  )
}

/** For `readCsv`: the header is the line with these columns. */
export const hasColumns =
  (needed: readonly string[]): IsHeader =>
  (headers) =>
    needed.every((name) => headers.includes(name))

/** A cell written unchanged (numbers, dates, our own words), or third-party text. */
export type CsvCell = string | number | null | { readonly text: string | null }

/**
 * Where a spreadsheet may see a formula: at the start of a cell, or after any separator at which it
 * may split the cell, with optional white space. Includes fullwidth signs.
 */
const FORMULA = /(?<=^|[,;\t|\r\n])(\s*)([=+\-@＝＋－＠][^,;\t|\r\n]*)/g
const PLAIN_NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/** A cell with one of these is quoted, because programs differ in their separators. */
const NEEDS_QUOTES = /[",;\t|\r\n]/

/** Headers of a response that a browser saves as a file. */
export const csvFileHeaders = (name: string) => ({
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="${name}"`,
})

/** One line with its line break; null is an empty cell. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\n`
}

/** The same with the line break of RFC 4180, which tables have; files of reports have `\n`. */
export function csvTableLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** The same with every cell quoted; an unknown one is `""`. */
export function quotedCsvLine(cells: readonly string[]): string {
  return `${cells.map((text) => `"${harmless(text).replaceAll('"', '""')}"`).join(',')}\n`
}

/** Marks each possible formula as text with an apostrophe, as spreadsheets do. */
function harmless(text: string): string {
  return text.replace(FORMULA, (whole, space: string, part: string) =>
    PLAIN_NUMBER.test(part.trimEnd()) ? whole : `${space}'${part}`,
  )
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return ''
  const isText = typeof cell === 'object'
  const safe = isText ? harmless(cell.text ?? '') : String(cell)
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
