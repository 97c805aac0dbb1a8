/**
 * The category of an offer as one integer (2.6, service_product_category_id).
 *
 * Our choice: a number of Google's taxonomy is taken as it is. A path of words, which feeds use as
 * often, gets a number of our own above all of Google's, made from the words: the same in every
 * feed and on every node, without a table. The taxonomy that would say Google's number of a path
 * is not part of the program. Two of 10,000 paths share a number once in twenty networks.
 */
import { hash } from 'node:crypto'

const OWN_MIN = 1_000_000_000
const OWN_COUNT = 1_000_000_000
/** A feed has hundreds of categories; one that has more pays for each of them again. */
const KNOWN_MAX = 10_000

const known = new Map<string, number>()

/** `422`, `422 - Food Items` or `Food Items > Tea`; null when nothing is written. */
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
