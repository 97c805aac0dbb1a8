/**
 * The returns that took effect on a publisher's days: each on its own day, or with a later order.
 */
import { type Sql, sql } from '../platform/postgres/sql.ts'
import type { DayRange } from './day-range.ts'

/** The day on which a return of `back` took effect on its order `bought`. */
export const EFFECTIVE_DAY = sql`greatest(back.day, bought.day)`

/**
 * Parts of a query: returns as `back`, their orders as `bought`. Excludes refused returns, and
 * returns of orders without a click, held orders and rejected orders.
 */
export function returnsOf({ pubId, dayFrom, dayTo }: DayRange): { from: Sql; where: Sql } {
  return {
    from: sql`(
        -- Each by its own index: one condition over both days would read both tables whole.
        select merch_id, order_id from merchant_order
        where pub_id = ${pubId} and day between ${dayFrom} and ${dayTo}
        union
        select merch_id, order_id from order_return where day between ${dayFrom} and ${dayTo}
      ) as touched
      join merchant_order bought using (merch_id, order_id)
      join order_return back using (merch_id, order_id)`,
    where: sql`bought.pub_id = ${pubId} and locks_at is not null and rejected_at is null
      and back.state = 'applied' and bought.day <= ${dayTo} and back.day <= ${dayTo}
      and (bought.day >= ${dayFrom} or back.day >= ${dayFrom})`,
  }
}
