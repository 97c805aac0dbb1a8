/** Lists for people, newest first, one page at a time. */
import Type from 'typebox'
import { idText, orNull } from './field-types.ts'

/** One to three screens. */
const PAGE_ROWS = 100
/** Rows to read for a page: one more than it shows, to know whether there is a next one. */
export const PAGE_ROWS_READ = PAGE_ROWS + 1

export const PageCursor = Type.Optional(idText('`next` of the page before'))
export const NextPage = orNull(Type.String(), 'Cursor of the next page')

/** The rows of a page, and the cursor of the next one: the id of the last row. */
export function cutPage<Row>(read: readonly Row[], idOf: (row: Row) => string) {
  const rows = read.slice(0, PAGE_ROWS)
  const last = rows.at(-1)
  return { rows, next: last === undefined || read.length <= PAGE_ROWS ? null : idOf(last) }
}
