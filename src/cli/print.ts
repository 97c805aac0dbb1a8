/** Results for people: tables for lists, lines for records. Scripts use --json instead. */

/** Longer values are cut in tables; records show them whole. */
const CELL_WIDTH_MAX = 60
/** The part of the end that stays: a path's file name, the last part of a URL. */
const CELL_END = 36

/** Files and programs accept lines of any length. */
const ANY_WIDTH = Number.POSITIVE_INFINITY

/**
 * A result as text: a list of records becomes a table, a record one line per field. A table wider
 * than the terminal becomes records, because wrapped lines are unreadable.
 */
export function formatResult(
  result: unknown,
  columns: number = ANY_WIDTH,
  cellWidthMax: number = CELL_WIDTH_MAX,
): string {
  if (Array.isArray(result)) return formatTable(result, { columns, cellWidthMax })
  if (!isRecord(result)) return cell(result)
  const entries = Object.entries(result)
  const lists = entries.filter(([, value]) => isRecordList(value))
  const fields = entries.filter(([, value]) => !isRecordList(value))
  const tables = lists.map(
    ([name, value]) => `${name}:\n${formatTable(value as unknown[], { columns, cellWidthMax })}`,
  )
  const own = fields.length === 0 ? [] : [fieldLines(fields).join('\n')]
  return [...own, ...tables].join('\n\n')
}

/**
 * Without cutting values: paths, which people paste, and faults, which explain how to fix a row.
 */
export const formatWhole = (result: unknown, columns?: number): string =>
  formatResult(result, columns, ANY_WIDTH)

function fieldLines(fields: readonly (readonly [string, unknown])[]): string[] {
  const width = Math.max(0, ...fields.map(([name]) => name.length))
  // A line break inside a value would make the rest look like another field.
  const line = (value: unknown) => cell(value).replaceAll('\n', '\\u000a')
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${line(value)}`.trimEnd())
}

/** Each check's detail in full, because the fix is at its end. */
export function formatChecks({ checks }: Checks): string {
  const width = Math.max(0, ...checks.map(({ name }) => name.length))
  return checks
    .map(({ name, ok, detail }) => `${ok ? 'ok    ' : 'WRONG '}  ${name.padEnd(width)}  ${detail}`)
    .join('\n')
}

export interface Checks {
  readonly ok: boolean
  readonly checks: readonly { readonly name: string; ok: boolean; detail: string }[]
}

/**
 * A table with a column per field; values longer than `cellWidthMax` are cut. Rows that contain
 * tables are printed one below the other; cut, they would show one line's account beside another
 * line's amount.
 */
export function formatTable(
  rows: readonly unknown[],
  {
    cellWidthMax = CELL_WIDTH_MAX,
    columns = ANY_WIDTH,
  }: { readonly cellWidthMax?: number; readonly columns?: number | undefined } = {},
): string {
  if (rows.length === 0) return '(none)'
  if (!rows.every(isRecord)) return rows.map(cell).join('\n')
  if (rows.some((row) => Object.values(row).some(isRecordList))) {
    return rows.map((row) => formatResult(row, columns, cellWidthMax)).join('\n\n')
  }
  const lines = tableLines(rows, cellWidthMax)
  if (lines.every((line) => widthOf(line) <= columns)) return lines.join('\n')
  return rows.map((row) => fieldLines(Object.entries(row)).join('\n')).join('\n\n')
}

function tableLines(
  rows: readonly Record<string, unknown>[],
  cellWidthMax: number,
): readonly string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cells = [
    names,
    ...rows.map((row) => names.map((name) => cut(cell(row[name]), cellWidthMax))),
  ]
  const widths = names.map((_, at) => Math.max(...cells.map((line) => widthOf(line[at] ?? ''))))
  return cells.map((line) =>
    line
      .map((text, at) => text + ' '.repeat((widths[at] ?? 0) - widthOf(text)))
      .join('  ')
      .trimEnd(),
  )
}

/**
 * The width of a text in a terminal: a Chinese character takes two columns, a combining accent
 * none.
 */
const widthOf = (text: string): number => text.replace(PLACELESS, '').replace(WIDE, '  ').length

const PLACELESS = /[\p{Mn}\p{Me}\p{Cf}]/gv
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{scx=Hira}\p{scx=Kana}\p{Emoji_Presentation}\uff01-\uff60]/gv

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRecordList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isRecord)
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cell).join(', ')
  if (typeof value === 'object') return JSON.stringify(value)
  return String(value)
}

function cut(text: string, widthMax: number): string {
  // By characters, because half an emoji is no valid text.
  const line = Array.from(text.replaceAll(/\s+/g, ' '))
  if (line.length <= widthMax) return line.join('')
  return [...line.slice(0, widthMax - CELL_END - 1), '…', ...line.slice(-CELL_END)].join('')
}
