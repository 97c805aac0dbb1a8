/** Pages of lists that are ordered by an id: the cursor is the last id of the page before. */

import { badRequest } from '../platform/errors/api-errors.ts'
import type { Page, PageQuery } from './operation.ts'

const CURSOR_RULE = 'must be the next_cursor of the page before'
const ID = /^\d{1,19}$/

/** The id after which the page begins; null for the first page. Throws a 400 for another text. */
export function cursorId({ cursor }: PageQuery): string | null {
  if (cursor === null) return null
  if (ID.test(cursor) && BigInt(cursor) <= ID_MAX) return cursor
  throw badRequest([{ field: 'cursor', rule: CURSOR_RULE }])
}

const ID_MAX = 2n ** 63n - 1n

/** A page of rows of which one more than `limit` was read, so that the end is known. */
export function pageOf<Row, Entry>(
  rows: readonly Row[],
  limit: number,
  { idOf, toEntry }: { idOf: (row: Row) => number | string; toEntry: (row: Row) => Entry },
): Page<Entry> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const isMore = rows.length > limit && last !== undefined
  return { rows: shown.map(toEntry), nextCursor: isMore ? String(idOf(last)) : null }
}

/**
 * A page of a list that is computed as a whole, because each of its rows needs all: the cursor is
 * the number of rows before it.
 */
export function sliceOf<Entry>(rows: readonly Entry[], page: PageQuery): Page<Entry> {
  const from = Number(cursorId(page) ?? 0)
  const to = from + page.limit
  return { rows: rows.slice(from, to), nextCursor: to < rows.length ? String(to) : null }
}
