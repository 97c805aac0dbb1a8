/** The product of a click in SQL, for each report that tells of clicks. */
import { type Sql, sql } from '../platform/sql.ts'

/**
 * Joins, as `offer`, what the offer said when the click was folded: a day's file written again
 * must not change because a later feed did. `click` names what has the click's columns.
 */
export function joinClickedOffer(click: Sql): Sql {
  return sql`
    left join lateral (
      select * from clicked_offer kept
      where kept.offer_id = ${click}.offer_id
        and kept.from_generation = coalesce(${click}.offer_generation, kept.from_generation)
      order by from_generation limit 1
    ) as offer on true`
}
