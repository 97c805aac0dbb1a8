/**
 * CSV as other programs read and write it: a header row, commas, double quotes where needed,
 * UTF-8, LF on output and whatever on input: where a comma is the decimal sign, spreadsheets
 * separate with semicolons.
 *
 * Cells of text are made harmless on output: a spreadsheet would run one that begins like a
 * formula, and product names and addresses come from strangers.
 */
import { CsvError, parse } from 'csv-parse/sync'
import { badRequest, type Fault } from './errors.ts'

/** Files that are read whole; larger ones are split by whoever exports them. */
export const CSV_BYTES_MAX = 64 * 1024 * 1024
/** More lines of one mistake would not help anybody. */
const FAULTS_MAX = 100

export interface CsvRow {
  readonly line: number // in the file, from 1
  readonly cells: Readonly<Record<string, string>> // by header, trimmed, lower case
}

export interface CsvTable {
  readonly headers: readonly string[] // trimmed, lower case
  readonly rows: readonly CsvRow[]
}

const SEPARATORS = [',', '\t', ';', '|'] as const

/** The separator that a header has most of outside quotes; a comma where it has none. */
export function guessSeparator(header: string): string {
  const bare = header.replace(/"[^"]*"/g, '')
  const count = (separator: string): number => bare.split(separator).length
  return SEPARATORS.reduce((best, other) => (count(other) > count(best) ? other : best), ',')
}

/**
 * Reads a whole file. Headers match whatever their case; empty lines are skipped. Throws a 400
 * that says where a file stops being CSV.
 */
export function readCsv(text: string): CsvTable {
  const zero = text.indexOf('\0')
  // No database text can hold it, nor can a person have meant it.
  if (zero >= 0) {
    const line = text.slice(0, zero).split('\n').length
    throw badRequest([{ field: 'file', rule: `holds U+0000 in line ${line}: is it text?` }])
  }
  const [header, ...records] = parsed(text)
  const headers = (header?.record ?? []).map((name) => name.trim().toLowerCase())
  const shifted = records.filter(({ record }) => record.length > headers.length)
  if (shifted.length > 0) throw badRequest(shifted.slice(0, FAULTS_MAX).map(shiftedFault))
  const last = records.at(-1)
  if (last !== undefined && last.record.length < headers.length && !/[\r\n]$/.test(text)) {
    throw badRequest([cutFault(last)])
  }
  const names = headers.map((name, index) => (name === '' ? `column ${index + 1}` : name))
  return {
    headers: headers.filter((name) => name !== ''),
    rows: records.map(({ record, info: { lines: line } }) => {
      return { line, cells: cellsByName(names, record) }
    }),
  }
}

/** Of columns with one name the first that is filled, as in feeds: the last may be empty. */
function cellsByName(names: readonly string[], record: readonly string[]): CsvRow['cells'] {
  const cells = new Map<string, string>()
  for (const [index, cell] of record.entries()) {
    const name = names[index] ?? ''
    if (!cells.get(name)) cells.set(name, cell)
  }
  return Object.fromEntries(cells)
}

interface CsvRecord {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
}

function parsed(text: string): CsvRecord[] {
  try {
    const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true }
    const [header = ''] = text.trimStart().split(/[\r\n]/, 1)
    const delimiter = guessSeparator(header)
    return parse(text, { ...options, delimiter, trim: true }) as unknown as CsvRecord[]
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause
    throw badRequest([{ field: 'file', rule: cause.message }])
  }
}

/**
 * A decimal comma, for one: what stands behind it would be read as the next column's. One cell too
 * many tells it, an empty one too: that is how the row ends whose last column has nothing to say.
 */
function shiftedFault({ info }: CsvRecord): Fault {
  const rule = 'has more cells than the header: a separator in a cell that is not in quotes?'
  return { field: `line ${info.lines}`, rule }
}

/** A download that broke off: its last number may be a part of one. */
function cutFault({ info }: CsvRecord): Fault {
  return { field: `line ${info.lines}`, rule: 'ends before its last cell: was the file cut?' }
}

/** Throws a 400 that names each column the file lacks: without them every row would be wrong. */
export function requireColumns({ headers }: CsvTable, needed: readonly string[]): void {
  const missing = needed.filter((name) => !headers.includes(name))
  if (missing.length === 0) return
  const field = 'line 1'
  throw badRequest(missing.map((name) => ({ field, rule: `needs a column "${name}"` })))
}

/** A cell that is written as it is (numbers, dates, our own words), or text of other people. */
export type CsvCell = string | number | null | { readonly text: string | null }

/**
 * Where a spreadsheet may see a formula begin: at the start of a cell, or after any separator that
 * it may split the cell at, with or without white space between. Fullwidth signs count as well.
 */
const FORMULA = /(?<=^|[,;\t|\r\n])(\s*)([=+\-@＝＋－＠][^,;\t|\r\n]*)/g
const PLAIN_NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/** A cell that holds one of these is quoted: programs differ in what separates cells. */
const NEEDS_QUOTES = /[",;\t|\r\n]/

/** Of an answer that a browser saves as a file. */
export const csvFileHeaders = (name: string) => ({
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="${name}"`,
})

/** One line with its line break; null is an empty cell. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\n`
}

/** The same where every cell is text in quotes: an unknown one is `""`. */
export function quotedCsvLine(cells: readonly string[]): string {
  return `${cells.map((text) => `"${harmless(text).replaceAll('"', '""')}"`).join(',')}\n`
}

/** Marks each possible formula as text with an apostrophe, as spreadsheets themselves do. */
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
