/**
 * Reports as files: one a day, written beside the old one and put in its place, so that nobody
 * ever reads half a file. The same figures give the same bytes.
 */
import { createWriteStream } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { csvLine } from '../platform/csv.ts'
import { makeFolder } from '../platform/make-folder.ts'
import { replaceFile } from '../platform/whole-file.ts'
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

/** Writes the files of some days under a folder; days without rows have a header only. */
export async function exportReport(
  source: ReportSource,
  folder: string,
  request: ExportRequest,
): Promise<ExportedFile[]> {
  const files: ExportedFile[] = []
  for (const day of daysBetween(request.dayFrom, request.dayTo)) {
    const name = reportPath(request.slug, request.report, day)
    const path = join(folder, request.isGzip ? `${name}.gz` : name)
    await makeFolder(dirname(path))
    files.push({ path, rows: await writeFile(source, path, { ...request, day }) })
  }
  return files
}

async function writeFile(
  source: ReportSource,
  path: string,
  request: ExportRequest & { readonly day: string },
): Promise<number> {
  const counted = { rows: 0 }
  const days = { ...request, dayFrom: request.day, dayTo: request.day }
  const lines = Readable.from(rangeLines(source, days, counted))
  await replaceFile(path, async (draft) => {
    // Node's gzip writes no time and no name: equal rows are equal bytes.
    if (request.isGzip) await pipeline(lines, createGzip(), createWriteStream(draft))
    else await pipeline(lines, createWriteStream(draft))
  })
  return counted.rows
}

/** The text of a file of some days, a page at a time. */
export async function* rangeLines(
  source: ReportSource,
  request: Omit<ReportRequest, 'cursor' | 'limitRows'> & { readonly report: ReportName },
  counted: { rows: number } = { rows: 0 },
): AsyncGenerator<string> {
  const { report, ...wanted } = request
  const columns: readonly string[] = REPORT_COLUMNS[report]
  const lineOf = (row: ReportPage['rows'][number]) =>
    csvLine(columns.map((column) => row[column] ?? null))
  let head = csvLine(columns)
  let cursor: string | null = null
  do {
    const { rows, next } = await source.page(report, { ...wanted, cursor, limitRows: PAGE_ROWS })
    counted.rows += rows.length
    yield head + rows.map(lineOf).join('')
    head = ''
    cursor = next
  } while (cursor !== null)
}
