/**
 * Reports as files, one per day. A folder is written beside the old one and then replaces it, so
 * nobody reads half a file. The same figures give the same bytes.
 */
import { createWriteStream } from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { pipeline as finished } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { replaceFile } from '../platform/files/atomic-file.ts'
import { makeFolder } from '../platform/files/make-folder.ts'
import { type CsvCell, csvLine } from '../platform/text/csv.ts'
import type { DayRange } from '../stats/day-range.ts'
import type { ReportSource } from './read-report.ts'
import {
  daysBetween,
  REPORT_COLUMNS,
  type ReportName,
  type ReportPage,
  type ReportRequest,
  reportPath,
} from './report.ts'

/** Rows held in memory at a time. */
const PAGE_ROWS = 5_000

export interface ExportRequest extends DayRange {
  readonly slug: string
  readonly report: ReportName
  readonly now: Date
  readonly isGzip: boolean
}

export interface ExportedFile {
  readonly path: string
  readonly rows: number
}

/** Stores a file atomically under its path below the target. */
export type TakeFile = (path: string, read: () => Readable) => Promise<void>

/** Writes the files of some days under a folder. */
export async function exportReport(
  source: ReportSource,
  folder: string,
  request: ExportRequest,
): Promise<ExportedFile[]> {
  const files = await giveFiles(source, request, intoFolder(folder))
  return files.map(({ path, rows }) => ({ path: join(folder, path), rows }))
}

/** Passes on the files of some days, one after the other; days without rows have only a header. */
export async function giveFiles(
  source: ReportSource,
  request: ExportRequest,
  take: TakeFile,
): Promise<ExportedFile[]> {
  const { slug, report, isGzip } = request
  const files: ExportedFile[] = []
  for (const day of daysBetween(request.dayFrom, request.dayTo)) {
    const name = reportPath(slug, report, day)
    const path = isGzip ? `${name}.gz` : name
    const counted = { rows: 0 }
    const days = { ...request, dayFrom: day, dayTo: day }
    await take(path, () => {
      const lines = Readable.from(rangeLines(source, days, counted))
      // Node's gzip writes no time and no name, so equal rows are equal bytes. An error of the
      // lines also breaks the stream.
      return isGzip ? pipeline(lines, createGzip(), () => undefined) : lines
    })
    files.push({ path, rows: counted.rows })
  }
  return files
}

export const intoFolder =
  (folder: string): TakeFile =>
  async (name, read) => {
    const path = join(folder, name)
    await makeFolder(dirname(path))
    await replaceFile(path, (draft) => finished(read(), createWriteStream(draft)))
  }

/** The text of a file for some days, one page at a time. */
export function rangeLines(
  source: ReportSource,
  request: Omit<ReportRequest, 'cursor' | 'limitRows'> & { readonly report: ReportName },
  counted: { rows: number } = { rows: 0 },
): AsyncGenerator<string> {
  const { report, ...wanted } = request
  const page: ReadPage = (place) => source.page(report, { ...wanted, ...place })
  return csvOfPages(REPORT_COLUMNS[report], page, counted)
}

/** Reads a page after another one's end, or the first one if null. */
type ReadPage = (place: Pick<ReportRequest, 'cursor' | 'limitRows'>) => Promise<ReportPage>

/** The text of a CSV file, one page at a time. */
export async function* csvOfPages(
  columns: readonly string[],
  readPage: ReadPage,
  counted: { rows: number } = { rows: 0 },
): AsyncGenerator<string> {
  const lineOf = (row: ReportPage['rows'][number]) =>
    csvLine(columns.map((column) => cellOf(row, column)))
  let head = csvLine(columns)
  let cursor: string | null = null
  do {
    const { rows, next } = await readPage({ cursor, limitRows: PAGE_ROWS })
    counted.rows += rows.length
    yield head + rows.map(lineOf).join('')
    head = ''
    cursor = next
  } while (cursor !== null)
}

/** A null is an empty cell; undefined means that the query does not select the column. */
function cellOf(row: ReportPage['rows'][number], column: string): CsvCell {
  const cell = row[column]
  const value = typeof cell === 'object' && cell !== null ? cell.text : cell
  if (cell === undefined || value === undefined) throw new Error(`a row has no ${column}`)
  return cell
}
