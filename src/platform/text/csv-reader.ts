/**
 * The project's one CSV reader: splits delimited text (RFC 4180) into rows of cells as it streams
 * in, and finds the header below comment and title lines.
 *
 * A fault in one row costs that row only: the reader gives the row up and continues with the line
 * after the one where the bad cell begins. papaparse and csv-parse swallow the rows behind a quote
 * that is never closed, and take more than twice as long on a stream
 * (docs/decisions/0030-one-csv-reader.md).
 */

/** A longer row is no product and no order; the limit also bounds the memory of a reader. */
export const ROW_CHARACTERS_MAX = 1_048_576

export interface BadCsvRow {
  readonly kind: 'bad'
  /** The line of the text in which the row begins, the first being 1. */
  readonly line: number
  readonly reason: 'row_malformed' | 'row_too_long' | 'row_truncated'
  readonly detail: string
  readonly text: string
  /** Cells that the fault cannot be in: those before it, or all where their number is right. */
  readonly cells: readonly string[]
}

export type CsvRecord =
  | { readonly kind: 'cells'; readonly line: number; readonly cells: string[] }
  | BadCsvRow

export interface CsvReader {
  /** Returns the rows that `text` completes; `isLast` with the end of the file. */
  push(text: string, isLast: boolean): CsvRecord[]
}

export interface CsvReaderOptions {
  /** Cells of the header, when it was read before; otherwise the first row sets the number. */
  readonly width?: number
  /** The line in which the text begins. */
  readonly line?: number
  /** Rows that lack their last cells are read as they are; a row that the file cuts is not. */
  readonly allowsShortRows?: boolean
  /** Every row may end in the same number of empty cells beyond the header's. */
  readonly allowsPadding?: boolean
}

const QUOTE = 34
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** What a row takes in memory beside its text: a megabyte of commas is a million rows. */
const ROW_CHARACTERS = 200

/** A row that ends in empty cells which the header does not have. */
interface LongRow {
  readonly kind: 'long'
  readonly line: number
  readonly cells: string[] // without those
  readonly width: number // with them
  readonly text: string
}

/** A reader of rows that all have as many cells as the header. */
export function csvReader(separator: string, options: CsvReaderOptions = {}): CsvReader {
  const { width: headerWidth = null, allowsPadding = true } = options
  const scan = new Scan(separator, options)
  const held: (CsvRecord | LongRow)[] = []
  let heldCharacters = 0
  let isHeaderRead = headerWidth !== null
  // How wide a long row may be; null: not known yet.
  let widthMax: number | null = allowsPadding ? null : 0
  return {
    push(text, isLast) {
      scan.append(text, isLast)
      for (let row = scan.next(); row !== null; row = scan.next()) {
        held.push(row)
        if (widthMax !== null) continue
        if (row.kind !== 'cells') heldCharacters += ROW_CHARACTERS + row.text.length
        else if (isHeaderRead) widthMax = 0
        else isHeaderRead = true
        // The limit of one row, even one of a thousand lines: no more is buffered.
        if (heldCharacters >= ROW_CHARACTERS_MAX) widthMax = leastWidth(held)
      }
      if (isLast) widthMax ??= leastWidth(held)
      const width = widthMax
      if (width === null) return []
      return held.splice(0).map((row) => (row.kind === 'long' ? fitted(row, width) : row))
    },
  }
}

/**
 * How wide long rows may be where no row has the header's width. Spreadsheets write empty cells
 * behind the last column, and as many in every row. In some rows alone such a cell ends what an
 * unquoted `1,234.50` has shifted: that is no price of 1.
 */
function leastWidth(rows: readonly (CsvRecord | LongRow)[]): number {
  const wide = rows.filter((row) => row.kind === 'long')
  return wide.reduce((least, { width }) => Math.min(least, width), Number.POSITIVE_INFINITY)
}

function fitted({ line, cells, width, text }: LongRow, widthMax: number): CsvRecord {
  if (width <= widthMax) return { kind: 'cells', line, cells }
  return { kind: 'bad', line, ...wrongWidth(width, cells.length), text, cells: [] }
}

// What looking for the end of a quoted cell or of a row may find.
const NEEDS_MORE = -1
const MALFORMED = -2

function wrongWidth(width: number, wanted: number) {
  const detail = `the row has ${width} cells, the header has ${wanted}`
  return { reason: 'row_malformed', detail } as const
}

const SEPARATORS = [',', '\t', ';', '|'] as const

/** A header lies this close to the beginning of its file. */
export const HEADER_CHARACTERS_MAX = 131_072
const PREAMBLE_LINES_MAX = 200

/** The separator that a header has most of outside quotes; a comma where it has none. */
export function guessSeparator(header: string): string {
  return separatorsByCount(header)[0] ?? ','
}

function separatorsByCount(line: string): string[] {
  const bare = line.replace(/"[^"]*"/g, '')
  const count = (separator: string): number => bare.split(separator).length
  return [...SEPARATORS].sort((one, other) => count(other) - count(one))
}

export interface CsvHeader {
  readonly cells: readonly string[]
  readonly separator: string
  readonly line: number
  /** Where the rows begin: the offset in the text, and the line. */
  readonly end: number
  readonly endLine: number
}

export interface HeaderSearch {
  /** True for the cells of the header, as they are written. */
  readonly isHeader: (cells: readonly string[]) => boolean
  /** The only separator; without it the one with which a line is a header. */
  readonly separator?: string | undefined
  /** False while more of the file is to come: then its last line may be unfinished. */
  readonly isLast: boolean
}

/**
 * Finds the first line that is a header. Comments, `sep=;`, blank and title lines above it are
 * skipped. Some programs write `#` before the header itself: a comment counts where no other line
 * is one. Null: no line within the first HEADER_CHARACTERS_MAX is one.
 */
export function findCsvHeader(text: string, search: HeaderSearch): CsvHeader | null {
  const found = findHeader(text, search, (line) => !COMMENT.test(line))
  if (found !== null || !search.isLast) return found
  return findHeader(text, search, (line) => COMMENT.test(line))
}

/** A line that begins with `#`, unless that is the whole first cell: the name of row numbers. */
const COMMENT = /^\s*#(?!"?\s*(?:[,;|\t]|$))/

function findHeader(
  text: string,
  search: HeaderSearch,
  isCandidate: (line: string) => boolean,
): CsvHeader | null {
  let declared: string | undefined
  for (const candidate of preambleLines(text, search.isLast)) {
    declared ??= SEPARATOR_LINE.exec(candidate.text)?.[1]
    if (!isCandidate(candidate.text)) continue
    const separators =
      search.separator === undefined ? separatorsByCount(candidate.text) : [search.separator]
    if (declared !== undefined && search.separator === undefined) separators.unshift(declared)
    for (const separator of separators) {
      const header = readHeader(text, candidate, { separator, isLast: search.isLast })
      if (header !== null && search.isHeader(header.cells)) return header
    }
  }
  return null
}

/** The first line that is neither blank nor a comment nor `sep=`; null when there is none. */
export function firstTextLine(text: string, separator?: string): CsvHeader | null {
  let declared: string | undefined
  for (const candidate of preambleLines(text, true)) {
    declared ??= SEPARATOR_LINE.exec(candidate.text)?.[1]
    if (/^\s*(?:#|$)/.test(candidate.text) || SEPARATOR_LINE.test(candidate.text)) continue
    const [guess = ','] = separatorsByCount(candidate.text)
    return readHeader(text, candidate, { separator: separator ?? declared ?? guess, isLast: true })
  }
  return null
}

const SEPARATOR_LINE = /^\s*"?sep=(.)"?\s*$/i

interface PreambleLine {
  readonly text: string
  readonly start: number
  readonly line: number
}

function* preambleLines(text: string, isLast: boolean): Generator<PreambleLine> {
  let start = 0
  for (let line = 1; line <= PREAMBLE_LINES_MAX && start < text.length; line++) {
    if (start > HEADER_CHARACTERS_MAX) return
    const end = text.indexOf('\n', start)
    if (end === -1 && !isLast) return
    yield { text: text.slice(start, end === -1 ? text.length : end), start, line }
    if (end === -1) return
    start = end + 1
  }
}

function readHeader(
  text: string,
  { start, line, text: written }: PreambleLine,
  { separator, isLast }: { separator: string; isLast: boolean },
): CsvHeader | null {
  // Only a quoted name may hold line ends.
  const rest = written.includes('"') ? text.slice(start, start + ROW_CHARACTERS_MAX) : written
  const scan = new Scan(separator, { line })
  const isWhole = rest === written || isLast
  scan.append(rest, isWhole)
  const record = scan.next()
  if (record?.kind !== 'cells') return null
  const end = Math.min(start + scan.at + (rest === written ? 1 : 0), text.length)
  const endLine = rest === written ? line + 1 : scan.line
  const [first = '', ...others] = record.cells
  const cells = COMMENT.test(first) ? [first.replace(/^\s*#\s*/, ''), ...others] : record.cells
  return { cells, separator, line, end, endLine }
}

/** The text at hand and how far it has been read. */
class Scan {
  readonly #separator: string
  readonly #separatorCode: number
  #text = ''
  #at = 0
  #line: number
  readonly #allowsShortRows: boolean
  #isLast = false
  /** The next quote at or after `#at`; Infinity when the text has none. */
  #quoteAt = 0
  #columnCount: number | null
  /** Inside a row that is longer than allowed: nothing counts until the next line. */
  #isSkipping = false

  constructor(separator: string, { width, line = 1, allowsShortRows = false }: CsvReaderOptions) {
    this.#columnCount = width ?? null
    this.#line = line
    this.#allowsShortRows = allowsShortRows
    this.#separator = separator
    this.#separatorCode = separator.charCodeAt(0)
  }

  get at(): number {
    return this.#at
  }

  get line(): number {
    return this.#line
  }

  append(text: string, isLast: boolean): void {
    this.#text = this.#text.slice(this.#at) + text
    this.#at = 0
    this.#quoteAt = 0
    this.#isLast = isLast
  }

  /** The next whole row, or null when the text ends before it does. */
  next(): CsvRecord | LongRow | null {
    while (this.#at < this.#text.length) {
      const lineEnd = this.#endOfLine(this.#at)
      if (this.#isSkipping) {
        this.#at = lineEnd === NEEDS_MORE ? this.#text.length : lineEnd + 1
        if (lineEnd === NEEDS_MORE) return null
        this.#isSkipping = false
        this.#line++
        continue
      }
      const record = this.#readRow(lineEnd)
      if (record !== 'blank') return record
    }
    return null
  }

  #readRow(lineEnd: number): CsvRecord | LongRow | 'blank' | null {
    const start = this.#at
    if (this.#quoteAt < start) {
      const quoteAt = this.#text.indexOf('"', start)
      this.#quoteAt = quoteAt === -1 ? Number.POSITIVE_INFINITY : quoteAt
    }
    if (lineEnd !== NEEDS_MORE && this.#quoteAt > lineEnd) {
      return this.#finish(this.#plainCells(start, lineEnd), start, lineEnd)
    }
    const cells: string[] = []
    const end = this.#readCells(cells, start, lineEnd)
    if (end >= 0) return this.#finish(cells, start, end)
    if (end === MALFORMED) {
      return this.#giveUp('a quote inside a quoted cell is not doubled', cells)
    }
    if (this.#text.length - start > ROW_CHARACTERS_MAX) return this.#giveUpLong(lineEnd, cells)
    return this.#isLast ? this.#readCut(cells) : null
  }

  /** The cells of a row without any quote. */
  #plainCells(start: number, lineEnd: number): string[] {
    const isCrLf = lineEnd > start && this.#text.charCodeAt(lineEnd - 1) === CARRIAGE_RETURN
    return this.#text.slice(start, isCrLf ? lineEnd - 1 : lineEnd).split(this.#separator)
  }

  /** Where the bad cell of a malformed row begins, and how many cells stand before it. */
  #badCellAt = 0
  #badCell = 0

  /**
   * Reads cells until the row ends. Returns the position of the line feed (or of the end of the
   * feed) behind it, NEEDS_MORE or MALFORMED.
   */
  #readCells(cells: string[], start: number, firstLineEnd: number): number {
    const text = this.#text
    let lineEnd = firstLineEnd
    let hasLineEndInCell = false
    for (let at = start; ; at++) {
      let end: number
      if (text.charCodeAt(at) === QUOTE) {
        if (!hasLineEndInCell) {
          this.#badCellAt = at
          this.#badCell = cells.length
        }
        end = this.#readQuoted(cells, at)
        if (end < 0) return end
        hasLineEndInCell ||= lineEnd !== NEEDS_MORE && lineEnd < end
      } else {
        if (lineEnd !== NEEDS_MORE && lineEnd < at) lineEnd = this.#endOfLine(at)
        if (lineEnd === NEEDS_MORE && !this.#isLast) return NEEDS_MORE
        end = this.#readUnquoted(cells, at, lineEnd === NEEDS_MORE ? text.length : lineEnd)
        // A quote that was lost pairs the quotes of the next row the wrong way round.
        if (hasLineEndInCell && cells.at(-1)?.includes('"')) return MALFORMED
      }
      if (text.charCodeAt(end) === this.#separatorCode) at = end
      else return text.charCodeAt(end) === CARRIAGE_RETURN ? end + 1 : end
    }
  }

  #readUnquoted(cells: string[], at: number, lineEnd: number): number {
    const text = this.#text
    const separatorAt = text.indexOf(this.#separator, at)
    if (separatorAt !== -1 && separatorAt < lineEnd) {
      cells.push(text.slice(at, separatorAt))
      return separatorAt
    }
    const isCrLf = lineEnd > at && text.charCodeAt(lineEnd - 1) === CARRIAGE_RETURN
    const end = isCrLf ? lineEnd - 1 : lineEnd
    cells.push(text.slice(at, end))
    return end
  }

  /** Reads a quoted cell; returns the position behind its closing quote. */
  #readQuoted(cells: string[], at: number): number {
    const text = this.#text
    let hasDoubled = false
    for (let from = at + 1; ; ) {
      const quote = text.indexOf('"', from)
      if (quote === -1) return NEEDS_MORE
      const next = text.charCodeAt(quote + 1)
      if (next === QUOTE) {
        hasDoubled = true
        from = quote + 2
        continue
      }
      // What follows decides whether this quote closes the cell; a CR needs its LF in sight.
      const end = next === CARRIAGE_RETURN ? quote + 2 : quote + 1
      if (end >= text.length) {
        if (!this.#isLast) return NEEDS_MORE
      } else {
        const closing = text.charCodeAt(end)
        const isSeparator = closing === this.#separatorCode && end === quote + 1
        if (!isSeparator && closing !== LINE_FEED) return MALFORMED
      }
      const cell = text.slice(at + 1, quote)
      cells.push(hasDoubled ? cell.replaceAll('""', '"') : cell)
      return quote + 1
    }
  }

  /** Takes a whole row that ends before `end`, and moves behind it. */
  #finish(cells: string[], start: number, end: number): CsvRecord | LongRow | 'blank' {
    const line = this.#line
    const hasLineEnd = end < this.#text.length
    const firstLineEnd = this.#endOfLine(start)
    const isMultiline = firstLineEnd !== -1 && firstLineEnd < end
    const next = hasLineEnd ? end + 1 : end
    this.#moveTo(next, start)
    if (cells.length === 1 && (cells[0] ?? '').trim() === '') return 'blank'
    const wanted = this.#columnCount
    if (wanted === null) {
      this.#columnCount = cells.length
      return { kind: 'cells', line, cells }
    }
    const { length: width } = cells
    if (width === wanted) return { kind: 'cells', line, cells }
    const text = this.#text.slice(start, end)
    while (cells.length > wanted && cells.at(-1) === '') cells.pop()
    if (cells.length === wanted) return { kind: 'long', line, cells, width, text }
    const isCut = this.#isLast && !hasLineEnd && cells.length < wanted
    if (isCut) {
      const { detail } = wrongWidth(width, wanted)
      return { kind: 'bad', line, reason: 'row_truncated', detail, text, cells: [] }
    }
    if (isMultiline) {
      // Perhaps a lost quote joined two rows: the lines behind the first are read again.
      this.#line = line + 1
      this.#at = firstLineEnd + 1
      this.#quoteAt = 0
      const firstLine = this.#text.slice(start, firstLineEnd)
      return { kind: 'bad', line, ...wrongWidth(width, wanted), text: firstLine, cells: [] }
    }
    if (this.#allowsShortRows && width < wanted) return { kind: 'cells', line, cells }
    return { kind: 'bad', line, ...wrongWidth(width, wanted), text, cells: [] }
  }

  /** Gives the row up, from the line behind the start of its bad cell on all is read again. */
  #giveUp(detail: string, cells: readonly string[]): CsvRecord | null {
    const lineEnd = this.#endOfLine(this.#badCellAt)
    if (lineEnd === NEEDS_MORE && !this.#isLast) return null
    const [start, line] = [this.#at, this.#line]
    const end = lineEnd === NEEDS_MORE ? this.#text.length : lineEnd
    this.#moveTo(Math.min(end + 1, this.#text.length), start)
    const text = this.#text.slice(start, end)
    const before = cells.slice(0, this.#badCell)
    const sure = this.#readLoosely(text) ?? before
    return { kind: 'bad', line, reason: 'row_malformed', detail, text, cells: sure }
  }

  /** The cells of one line when a quote inside a cell ends it only before a separator. */
  #readLoosely(text: string): string[] | null {
    const cells: string[] = []
    const line = text.endsWith('\r') ? text.slice(0, -1) : text
    for (let at = 0; at <= line.length; ) {
      const isQuoted = line.charCodeAt(at) === QUOTE
      const closing = isQuoted ? line.indexOf(`"${this.#separator}`, at + 1) : -1
      if (isQuoted && closing === -1 && (at + 1 >= line.length || !line.endsWith('"'))) return null
      const separatorAt = isQuoted ? closing + 1 : line.indexOf(this.#separator, at)
      const end = separatorAt <= 0 ? line.length : separatorAt
      const cell = isQuoted ? line.slice(at + 1, end - 1) : line.slice(at, end)
      cells.push(cell.replaceAll('""', '"'))
      at = end + 1
    }
    return cells.length === this.#columnCount ? cells : null
  }

  #giveUpLong(lineEnd: number, cells: readonly string[]): CsvRecord {
    const runsOverLines = lineEnd !== NEEDS_MORE && lineEnd - this.#at <= ROW_CHARACTERS_MAX
    if (runsOverLines) {
      const bad = this.#giveUp('a quote is never closed', cells)
      if (bad !== null) return bad
    }
    this.#isSkipping = true
    const text = this.#text.slice(this.#at, this.#at + 2000)
    const detail = `the row is longer than ${ROW_CHARACTERS_MAX} characters`
    return { kind: 'bad', line: this.#line, reason: 'row_too_long', detail, text, cells: [] }
  }

  /**
   * The feed ends inside a quoted cell: cut off, or a quote that was never closed. When the line
   * behind the cell's beginning is a whole row of the feed, it was the quote.
   */
  #readCut(before: readonly string[]): CsvRecord | null {
    const badCell = this.#badCell
    const start = this.#at
    const badCellAt = this.#badCellAt
    const next = this.#endOfLine(badCellAt) + 1
    if (next > 0 && next < this.#text.length) {
      const cells: string[] = []
      const end = this.#readCells(cells, next, this.#endOfLine(next))
      this.#badCellAt = badCellAt
      this.#badCell = badCell
      if (end >= 0 && cells.length === this.#columnCount) {
        return this.#giveUp('a quote is never closed', before)
      }
    }
    this.#at = this.#text.length
    const text = this.#text.slice(start)
    const detail = 'the feed ends inside this row'
    return { kind: 'bad', line: this.#line, reason: 'row_truncated', detail, text, cells: [] }
  }

  #endOfLine(from: number): number {
    return this.#text.indexOf('\n', from) // -1 is NEEDS_MORE
  }

  #moveTo(end: number, start: number): void {
    for (let at = this.#endOfLine(start); at !== -1 && at < end; at = this.#endOfLine(at + 1)) {
      this.#line++
    }
    this.#at = end
  }
}
