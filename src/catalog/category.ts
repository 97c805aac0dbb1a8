/**
 * The category of an offer as one integer (service_product_category_id).
 *
 * Our choice: a number of Google's taxonomy is used unchanged. A path of words, which feeds use as
 * often, gets a number above all of Google's, computed from the words: the same in every feed and
 * on every node, without a table. Souk does not contain the taxonomy that would map a path to
 * Google's number. Two of 10,000 paths share a number once in twenty networks.
 */
import { hash } from 'node:crypto'

const OWN_MIN = 1_000_000_000
const OWN_COUNT = 1_000_000_000
/** A feed has hundreds of categories; beyond this, numbers are computed again. */
const KNOWN_MAX = 10_000

const known = new Map<string, number>()

/** `422`, `422 - Food Items` or `Food Items > Tea`; null when the cell is empty. */
export function readCategory(written: string): number | null {
  if (written === '') return null
  const number = /^\s*(\d{1,9})(?:\s*-.*|\s*)$/.exec(written)?.[1]
  if (number !== undefined) return Number(number)
  const before = known.get(written)
  if (before !== undefined) return before
  const words = written.normalize('NFKC').toLowerCase().split('>')
  const path = words.flatMap((word) => word.trim().replaceAll(/\s+/g, ' ') || []).join(' > ')
  if (path === '') return null
  const own = OWN_MIN + (hash('sha256', path, 'buffer').readUInt32BE() % OWN_COUNT)
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(written, own)
  return own
}

/** The number where it is one of Google's. */
export function googleCategory(categoryId: number | null): number | null {
  return categoryId !== null && categoryId < OWN_MIN ? categoryId : null
}
