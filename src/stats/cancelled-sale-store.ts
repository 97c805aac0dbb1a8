/** Whether an order was cancelled, or called a test, when its earnings stood already, in SQL. */
import { type Sql, sql } from '../platform/postgres/sql.ts'

/**
 * What is locked keeps its commission but is no sale any more: neither the statistics nor a list of
 * orders count what it sold for. `order` names what has the order's columns.
 */
export function isCancelledSale(order: Sql): Sql {
  const believed = sql`coalesce(${order}.account->'stood', ${order}.account->'reports')`
  const best = sql`coalesce(${believed}->'s2s', ${believed}->'import', ${believed}->'pixel')`
  return sql`((${best}->>'is_cancelled')::boolean or coalesce((${best}->>'is_test')::boolean, false))`
}
