/** Reads feeds of delimited text: a header that names the columns, then one product a row. */
import { type CsvHeader, csvReader } from '../../platform/text/csv-reader.ts'
import { type Columns, readCells } from './feed-columns.ts'
import type { FeedEntry, FeedParser } from './feed-entry.ts'

/** Reads the rows that follow the header. */
export function csvParser(header: CsvHeader, columns: Columns): FeedParser {
  const { separator, cells, endLine: line } = header
  const reader = csvReader(separator, { width: cells.length, line })
  let isCut = false
  return {
    get isCut() {
      return isCut
    },
    push(text, isLast) {
      const entries: FeedEntry[] = []
      for (const record of reader.push(text, isLast)) {
        if (record.kind === 'cells') {
          const fields = readCells(record.cells, columns)
          entries.push({ kind: 'row', line: record.line, fields })
          continue
        }
        if (record.reason === 'row_truncated') isCut = true
        const { cells: sure, ...bad } = record
        entries.push({ ...bad, id: sure[columns.first.id]?.trim() || null })
      }
      return entries
    },
  }
}
