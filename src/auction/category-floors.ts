/** A publisher's category floors, laid out for the auction: one array by country each. */
import { type CategoryFloor, categoryFloor } from '../accounts/category-floor.ts'
import { COUNTRY_SLOTS, countryCode } from './targeting.ts'

/** By category: micros by country index. Index 0 (unknown country) has the general floor. */
export type CategoryFloors = ReadonlyMap<number, Float64Array>

export function compileFloors(floors: readonly CategoryFloor[]): CategoryFloors {
  const categories = [...new Set(floors.map(({ category_id }) => category_id))]
  return new Map(
    categories.map((categoryId) => [
      categoryId,
      Float64Array.from({ length: COUNTRY_SLOTS }, (_, index) =>
        categoryFloor(floors, { categoryId, country: countryCode(index) }),
      ),
    ]),
  )
}
