/** Whether an order was cancelled when its earnings stood already, in SQL. */
import { type Sql, sql } from '../platform/sql.ts'

/**
 * What is locked keeps its commission but is no sale any more: neither the statistics nor a list of
 * orders count what it sold for. `order` names what has the order's columns.
 */
export function isCancelledSale(order: Sql): Sql {
  const believed = sql`coalesce(${order}.told->'stood', ${order}.told->'reports')`
  return sql`(
    coalesce(${believed}->'s2s', ${believed}->'import', ${believed}->'pixel')->>'is_cancelled'
  )::boolean`
}
