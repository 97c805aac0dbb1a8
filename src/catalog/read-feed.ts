/**
 * Turns the bytes of a product feed into rows, as they arrive.
 *
 * CSV and TSV (also with `;` or `|`), JSON lines, RSS 2.0 and Atom. The format is told by the
 * first character unless the operator names it. A row that cannot be read is an entry with its
 * line and its reason; a document that is no feed at all throws.
 */

import { guessSeparator } from '../platform/csv.ts'
import type { FeedEntry, FeedParser } from './feed-entry.ts'
import { FeedError } from './feed-error.ts'
import type { FeedFormat } from './feed-format.ts'
import { feedDecoder } from './feed-text.ts'
import { csvParser } from './read-csv.ts'
import { jsonlParser } from './read-jsonl.ts'
import { XmlParser } from './read-xml.ts'

/** The header decides the format and the separator; it must be in sight by then. */
const HEADER_CHARACTERS_MAX = 65_536

export interface FeedReading {
  /** Rows and faults, in the order of the feed, in batches of whatever one piece held. */
  entries(): AsyncGenerator<FeedEntry[]>
  /** True when the feed ended in the middle; known once the entries have ended. */
  readonly isCut: boolean
}

/** Reads a feed from its unpacked bytes. Throws FeedError for what is not a feed. */
export function readFeed(
  bytes: AsyncIterable<Buffer>,
  format: FeedFormat,
  servedAs?: string,
): FeedReading {
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
          if (!hasHeader(start)) continue
          parser = chooseParser(start, format)
          yield parser.push(withoutLeadingSpace(start), false)
          start = ''
        }
      }
      parser ??= chooseParser(start, format)
      yield parser.push(withoutLeadingSpace(start) + decoder.end(), true)
    },
  }
}

function hasHeader(start: string): boolean {
  const text = start.trimStart()
  return text.includes('\n') || start.length > HEADER_CHARACTERS_MAX // Blanks without end, too.
}

/**
 * XML allows nothing before its declaration, and a header none of the blank lines above it; but a
 * tab before it may end an empty first cell, the name of a column of row numbers.
 */
function withoutLeadingSpace(start: string): string {
  const text = start.trimStart()
  return text.startsWith('<') ? text : start.replace(BEFORE_HEADER, '')
}

const BEFORE_HEADER = /^(?:[^\S\r\n]*[\r\n])*[^\S\t]*/

function chooseParser(start: string, format: FeedFormat): FeedParser {
  const parser = parserOf(start, format)
  // `CSV (Macintosh)`, as spreadsheets still write it: no line of it has a line feed.
  return start.includes('\r') && !start.includes('\n') ? withLineFeeds(parser) : parser
}

function withLineFeeds(parser: FeedParser): FeedParser {
  return {
    get isCut() {
      return parser.isCut
    },
    push: (text, isLast) => parser.push(text.replaceAll('\r', '\n'), isLast),
  }
}

function parserOf(start: string, format: FeedFormat): FeedParser {
  const text = start.trimStart()
  if (text === '') throw new FeedError('the feed is empty')
  // XML knows the word in capitals only: of such a page its parser would find no element at all.
  if (/^<!doctype html/i.test(text)) {
    throw new FeedError('no product feed: its first element is <html>, not <rss>')
  }
  if (firstLine(text).includes('\0')) {
    throw new FeedError('the feed is no text: a spreadsheet, or packed twice')
  }
  switch (format === 'auto' ? guessFormat(text) : format) {
    case 'xml':
      return new XmlParser()
    case 'jsonl':
      return jsonlParser()
    case 'tsv':
      return csvParser('\t')
    case 'csv':
      return csvParser(guessSeparator(firstLine(text)))
  }
}

function guessFormat(text: string): Exclude<FeedFormat, 'auto'> {
  if (text.startsWith('<')) return 'xml'
  if (text.startsWith('{')) return 'jsonl'
  if (text.startsWith('[')) {
    throw new FeedError('the feed is one JSON list; write one object a line (JSON lines) instead')
  }
  return 'csv'
}

function firstLine(text: string): string {
  return text.slice(0, HEADER_CHARACTERS_MAX).split(/[\r\n]/, 1)[0] ?? ''
}
