/**
 * How far a reader of the changes has come, as the text of `cursor` and `next`: the last change,
 * and the last article-day of the impressions, which has no number of its own.
 */
import { isId } from '../platform/ids.ts'

export interface ChangeCursor {
  readonly changeId: string // '0' before the first
  readonly seen: SeenPlace
}

/** A place in the order of the impressions: by time, article and day. */
export interface SeenPlace {
  readonly atMicros: string // since 1970; the database counts microseconds
  readonly articleId: string
  readonly dayNumber: string // since 1970
}

export const CHANGES_START: ChangeCursor = {
  changeId: '0',
  seen: { atMicros: '0', articleId: '0', dayNumber: '0' },
}

export const CURSOR_RULE = 'must be `next` of the page before'
export const CURSOR_LENGTH_MAX = 64

/** A time until 2286, an article and a day: all fit the columns that they are compared with. */
const FORM = /^(\d{1,19})\.(\d{1,16})\.(\d{1,10})\.(\d{1,6})$/

export function formatCursor({ changeId, seen }: ChangeCursor): string {
  return `${changeId}.${seen.atMicros}.${seen.articleId}.${seen.dayNumber}`
}

/** Null for what `formatCursor` does not write. */
export function parseCursor(text: string): ChangeCursor | null {
  const [, changeId = '', atMicros = '', articleId = '', dayNumber = ''] = FORM.exec(text) ?? []
  if (changeId !== '0' && !isId(changeId)) return null
  return { changeId, seen: { atMicros, articleId, dayNumber } }
}
