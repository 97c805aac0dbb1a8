/**
 * Cursors of lists that are ordered by one or more columns: the values of the last row.
 *
 * Clients pass them on unread, so they are one opaque word.
 */
import { badRequest } from '../errors/api-errors.ts'

/** The kind of each value of a cursor. Ids of 64 bits are texts of digits. */
export type CursorPart = 'integer' | 'text' | 'id'

const ID = /^-?\d{1,19}$/
const IS_PART: Readonly<Record<CursorPart, (value: unknown) => boolean>> = {
  integer: Number.isSafeInteger,
  text: (value) => typeof value === 'string',
  id: (value) => typeof value === 'string' && ID.test(value),
}

export function writeCursor(values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/** The values of a cursor; null for the first page. Throws a 400 for an invalid one. */
export function readCursor(
  cursor: string | null,
  parts: readonly CursorPart[],
): readonly (string | number)[] | null {
  if (cursor === null) return null
  const values = parse(cursor)
  const isRight =
    Array.isArray(values) &&
    values.length === parts.length &&
    parts.every((part, index) => IS_PART[part](values[index]))
  if (isRight) return values
  throw badRequest([{ field: 'cursor', rule: 'must be the next_cursor of a page of this list' }])
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return null
  }
}

/** The rows of a page of which one more was read, and the cursor of the next page. */
export function pageOf<Row, Entry>(
  read: readonly Row[],
  limit: number,
  as: {
    readonly cursorOf: (row: Row) => readonly (string | number)[]
    readonly entryOf: (row: Row) => Entry
  },
): { rows: Entry[]; nextCursor: string | null } {
  const rows = read.slice(0, limit)
  const last = rows.at(-1)
  const isMore = read.length > limit && last !== undefined
  return { rows: rows.map(as.entryOf), nextCursor: isMore ? writeCursor(as.cursorOf(last)) : null }
}
