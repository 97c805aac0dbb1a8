/**
 * The position of a reader of the changes, as the text of `cursor` and `next`: one position per
 * list, because a page contains all lists side by side.
 */

/** A position in a list: the numbers its rows are ordered by, the first one first. */
export type Place = readonly string[]

/** The lists, and how many numbers a position in each has. */
const PLACES = { changes: 1, placements: 4, networks: 2, impressions: 3 } as const
export type ChangeList = keyof typeof PLACES
export type ChangeCursor = Readonly<Record<ChangeList, Place>>

const LISTS = Object.keys(PLACES) as ChangeList[]
const NUMBERS = Object.values(PLACES).reduce((sum, count) => sum + count, 0)
/** Microseconds until 2286 have 16 digits; ids and days have fewer. */
const DIGITS_MAX = 16
const FORM = new RegExp(`^\\d{1,${DIGITS_MAX}}(\\.\\d{1,${DIGITS_MAX}}){${NUMBERS - 1}}$`)

export const CURSOR_RULE = 'must be `next` or `cursor` of an earlier answer'
export const CURSOR_LENGTH_MAX = NUMBERS * (DIGITS_MAX + 1)
export const CHANGES_START: ChangeCursor = split(new Array(NUMBERS).fill('0'))

export function formatCursor(cursor: ChangeCursor): string {
  return LISTS.flatMap((list) => cursor[list]).join('.')
}

/** Null for text that `formatCursor` does not produce. */
export function parseCursor(text: string): ChangeCursor | null {
  return FORM.test(text) ? split(text.split('.')) : null
}

function split(numbers: readonly string[]): ChangeCursor {
  const rest = [...numbers]
  const take = (list: ChangeList): Place => rest.splice(0, PLACES[list])
  return {
    changes: take('changes'),
    placements: take('placements'),
    networks: take('networks'),
    impressions: take('impressions'),
  }
}
