/** SQL for the product of a click, for reports that list clicks. */
import { type Sql, sql } from '../platform/postgres/sql.ts'

/**
 * Joins, as `offer`, the offer as it was when the click was folded. A day's file must not change
 * when a later feed does. `click` names the relation with the click's columns.
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
