/**
 * Turns the bytes of a product feed into rows, as they arrive.
 *
 * CSV and TSV (also with `;` or `|`), JSON lines, RSS 2.0 and Atom. The first character decides the
 * format unless the operator names it. An unreadable row is an entry with its line and its reason;
 * a document that is not a feed throws.
 */

import {
  findCsvHeader,
  firstTextLine,
  HEADER_CHARACTERS_MAX,
} from '../../platform/text/csv-reader.ts'
import {
  columnsMet,
  describeColumns,
  type FeedMap,
  type FieldFinder,
  type FoundColumn,
  fieldFinder,
  findColumns,
  missingColumns,
} from './feed-columns.ts'
import type { FeedEntry, FeedParser } from './feed-entry.ts'
import { FeedError } from './feed-error.ts'
import type { FeedFormat } from './feed-format.ts'
import { feedDecoder } from './feed-text.ts'
import { findXmlElements } from './find-xml-element.ts'
import { csvParser } from './read-csv.ts'
import { jsonlParser } from './read-jsonl.ts'
import { XmlParser } from './read-xml.ts'

export interface FeedReading {
  /** Rows and faults, in the order of the feed, in batches of whatever one piece held. */
  entries(): AsyncGenerator<FeedEntry[]>
  /** True when the feed was truncated; known after the last entry. */
  readonly isCut: boolean
}

export interface ReadOptions {
  readonly format?: FeedFormat
  /** The charset that its server named. */
  readonly servedAs?: string | undefined
  readonly map?: FeedMap | null | undefined
  /** The repeated element of an XML feed. */
  readonly element?: string | null | undefined
  /** Called with the names of the columns, also of a feed that is refused for them. */
  readonly onColumns?: ((columns: readonly FoundColumn[]) => void) | undefined
}

/** Reads a feed from its unpacked bytes. Throws FeedError if it is not one. */
export function readFeed(
  bytes: AsyncIterable<Buffer>,
  { format = 'auto', servedAs, map, element = null, onColumns = ignore }: ReadOptions = {},
): FeedReading {
  const fieldOf = fieldFinder(map ?? {})
  let isReported = false
  const reportColumns = (columns: readonly FoundColumn[]) => {
    isReported = true
    onColumns(columns)
  }
  const common = { format, element, map: map ?? {}, fieldOf, onColumns: reportColumns }
  let parser: FeedParser | null = null
  return {
    get isCut() {
      return parser?.isCut ?? false
    },
    async *entries() {
      const decoder = feedDecoder(servedAs)
      let start = ''
      for await (const piece of bytes) {
        const text = decoder.decode(piece)
        if (parser !== null) yield parser.push(text, false)
        else {
          start += text
          const chosen = chooseParser(start, { ...common, isLast: false })
          if (chosen === null) continue
          parser = chosen.parser
          yield parser.push(chosen.rest, false)
          start = ''
        }
      }
      if (parser === null) {
        const chosen = chooseParser(start + decoder.end(), { ...common, isLast: true })
        parser = chosen.parser
        yield parser.push(chosen.rest, true)
      } else yield parser.push(decoder.end(), true)
      if (!isReported) onColumns(columnsMet(fieldOf))
    },
  }
}

const ignore = () => undefined

interface Chosen {
  readonly parser: FeedParser
  /** The first text to read: the start without skipped lines. */
  readonly rest: string
}

interface Choice {
  readonly format: FeedFormat
  readonly element: string | null
  readonly map: FeedMap
  readonly fieldOf: FieldFinder
  readonly isLast: boolean
  readonly onColumns: (columns: readonly FoundColumn[]) => void
}

/** Null: more of the feed must be read first. */
function chooseParser(start: string, choice: Choice & { readonly isLast: true }): Chosen
function chooseParser(start: string, choice: Choice): Chosen | null
function chooseParser(start: string, choice: Choice): Chosen | null {
  const isEnough = choice.isLast || start.length > HEADER_CHARACTERS_MAX // Bounds blanks as well.
  if (!isEnough && !start.trimStart().includes('\n')) return null
  // `CSV (Macintosh)`, as spreadsheets still write it: lines end without a line feed.
  if (!start.includes('\r') || start.includes('\n')) {
    return parserOf(start, { ...choice, isLast: isEnough })
  }
  const chosen = parserOf(start.replaceAll('\r', '\n'), { ...choice, isLast: isEnough })
  return chosen && { ...chosen, parser: withLineFeeds(chosen.parser) }
}

function withLineFeeds(parser: FeedParser): FeedParser {
  return {
    get isCut() {
      return parser.isCut
    },
    push: (text, isLast) => parser.push(text.replaceAll('\r', '\n'), isLast),
  }
}

function parserOf(start: string, choice: Choice): Chosen | null {
  const { format, isLast, fieldOf } = choice
  const text = start.trimStart()
  if (text === '') throw new FeedError('the feed is empty')
  if (isBinary(text)) {
    throw new FeedError('the feed is not text: a spreadsheet, or packed twice')
  }
  switch (format === 'auto' ? guessFormat(text) : format) {
    case 'xml':
      return xmlOf(start, choice)
    case 'jsonl':
      return { parser: jsonlParser(fieldOf), rest: start }
    case 'tsv':
      return csvOf(start, { ...choice, separator: '\t' })
    case 'csv':
      return csvOf(start, choice)
    case 'unknown': {
      const chosen = findCsv(start, choice)
      if (chosen !== null || !isLast) return chosen
      if (TAGS.test(text)) return xmlOf(start, choice)
      if (OBJECT_LINE.test(text)) return { parser: jsonlParser(fieldOf), rest: start }
      throw noHeader(start, choice)
    }
  }
}

// The look of XML and JSON lines with a wrong first byte.
const TAGS = /<[a-z][^<>]*>(?:[^<>]*<\/?[a-z][^<>]*>){5}/i
const OBJECT_LINE = /\n\s*\{\s*"/

function xmlOf(start: string, { element, map, fieldOf, isLast }: Choice): Chosen | null {
  // The same part of the feed is examined, however it is cut into pieces.
  if (!isLast && start.length < HEADER_CHARACTERS_MAX) return null
  const { root, item } = findXmlElements(
    start.slice(0, HEADER_CHARACTERS_MAX),
    fieldFinder(map), // The names around the items are no columns.
    element,
  )
  if (item !== null) return { parser: new XmlParser({ root, item }, fieldOf), rest: start }
  if (root === '') throw new FeedError('not a product feed: it has no XML element')
  if (element !== null) throw new FeedError(`the feed has no element <${element}>`)
  throw new FeedError(
    `not a product feed: its first element is <${root.slice(0, 40)}>, and no element in it holds ` +
      'a title, a link and a price; name the repeated element in the options',
  )
}

const BINARY_SHOWN = 2_000
/** One wrong byte does not make an archive of a feed. */
const BINARY_SHARE = 0.02

function isBinary(text: string): boolean {
  const start = text.slice(0, BINARY_SHOWN)
  if (!start.includes('\0')) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is counted.
  const odd = start.match(/[\0-\u0008\u000e-\u001f\ufffd]/g)?.length ?? 0
  return odd > 1 && odd > BINARY_SHARE * start.length
}

type CsvChoice = Choice & { readonly separator?: string }

function csvOf(start: string, choice: CsvChoice): Chosen | null {
  const chosen = findCsv(start, choice)
  if (chosen === null && choice.isLast) throw noHeader(start, choice)
  return chosen
}

function findCsv(start: string, choice: CsvChoice): Chosen | null {
  const columnsOf = (cells: readonly string[]) => findColumns(cells, choice.fieldOf)
  const isHeader = (cells: readonly string[]) => missingColumns(columnsOf(cells)).length === 0
  const header = findCsvHeader(start, { ...choice, isHeader })
  if (header === null) return null
  choice.onColumns(describeColumns(header.cells, choice.fieldOf))
  return { parser: csvParser(header, columnsOf(header.cells)), rest: start.slice(header.end) }
}

function noHeader(start: string, { separator, fieldOf, onColumns }: CsvChoice): FeedError {
  const first = firstTextLine(start, separator)
  const cells = first?.cells ?? [firstLine(start.trimStart())]
  onColumns(describeColumns(cells, fieldOf))
  const missing = missingColumns(findColumns(cells, fieldOf))
  // A quoted name may contain line breaks, which would break the message.
  const shown = cells.slice(0, 40).join(', ').replace(/\s+/g, ' ').slice(0, 400)
  return new FeedError(
    `line ${first?.line ?? 1} does not look like a header: it has no column ` +
      `${missing.join(' and no column ')}; it reads: ${shown}; ` +
      'rename its columns, or map them to fields',
  )
}

function guessFormat(text: string): Exclude<FeedFormat, 'auto'> | 'unknown' {
  if (/^<[a-z_?!]/i.test(text)) return 'xml'
  if (/^\{\s*["}]/.test(text)) return 'jsonl'
  if (/^\[\s*[{\]]/.test(text)) {
    throw new FeedError('the feed is one JSON list; write one object a line (JSON lines) instead')
  }
  return 'unknown'
}

function firstLine(text: string): string {
  return text.slice(0, HEADER_CHARACTERS_MAX).split(/[\r\n]/, 1)[0] ?? ''
}
