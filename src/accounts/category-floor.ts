/**
 * The lowest price of a click on offers of a category, everywhere or in one country:
 * docs/spec/auction.md#floors.
 *
 * Our choice: a country's floor replaces the category's general one, so that a publisher can ask
 * less where readers buy less.
 */

import type { Fault } from '../platform/errors/api-errors.ts'
import { formatExact, type Micros, micros, parseDollars } from '../platform/money/money.ts'
import { isCountry } from '../platform/net/countries.ts'

export interface CategoryFloor {
  // As in responses: Google's number, or Souk's own for a path of words.
  readonly category_id: number
  readonly country: string | null // ISO 3166; null means everywhere.
  readonly floor_micros: Micros
}

export const CATEGORY_FLOOR_RULE = 'must be CATEGORY=DOLLARS or CATEGORY:COUNTRY=DOLLARS'
const CATEGORY_ID_MAX = 1_999_999_999 // The last of Souk's own numbers, see catalog/category.ts.
const WRITTEN = /^(\d{1,10})(?::([a-z]{2}))?=(.+)$/i

/** `222=0.10` or `222:GB=0.08`; null for anything else. */
export function parseCategoryFloor(text: string): CategoryFloor | null {
  const [, category = '', country = null, dollars = ''] = WRITTEN.exec(text.trim()) ?? []
  const amount = parseDollars(dollars)
  if (category === '' || amount === null) return null
  return {
    category_id: Number(category),
    country: country?.toUpperCase() ?? null,
    floor_micros: amount,
  }
}

/** The inverse of `parseCategoryFloor`. */
export function formatCategoryFloor({ category_id, country, floor_micros }: CategoryFloor): string {
  return `${category_id}${country === null ? '' : `:${country}`}=${formatExact(floor_micros)}`
}

export function categoryFloorFaults(
  floors: readonly CategoryFloor[],
  { floorMax, lengthMax }: { floorMax: Micros; lengthMax: number },
): Fault[] {
  const faults: Fault[] = []
  const refuse = (wrong: readonly CategoryFloor[], rule: string) => {
    const shown = wrong.slice(0, 5).map(formatCategoryFloor).join(', ')
    if (wrong.length > 0) faults.push({ field: 'category_floor', rule: `${rule}: ${shown}` })
  }
  refuse(
    floors.filter(({ category_id: id }) => !(id >= 1 && id <= CATEGORY_ID_MAX)),
    `a category is a number from 1 to ${CATEGORY_ID_MAX}`,
  )
  refuse(
    floors.filter(({ country }) => country !== null && !isCountry(country)),
    'not an ISO 3166 country code',
  )
  refuse(
    floors.filter(({ floor_micros: floor }) => !(floor >= 0 && floor <= floorMax)),
    `must be from $0 to $${formatExact(floorMax)} a click`,
  )
  const keys = floors.map(({ category_id, country }) => `${category_id} ${country}`)
  refuse(
    floors.filter((_, index) => keys.indexOf(keys[index] ?? '') !== index),
    'given twice for one category and country',
  )
  if (floors.length > lengthMax) {
    faults.push({ field: 'category_floor', rule: `at most ${lengthMax}` })
  }
  return faults
}

/** The floor of a category for a reader from this country; 0 if none is set. */
export function categoryFloor(
  floors: readonly CategoryFloor[],
  { categoryId, country }: { categoryId: number | null; country: string | null },
): Micros {
  const ofCategory = floors.filter((floor) => floor.category_id === categoryId)
  const own = ofCategory.find((floor) => floor.country === country)
  return (own ?? ofCategory.find((floor) => floor.country === null))?.floor_micros ?? micros(0)
}
