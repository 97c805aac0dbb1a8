/** The returns of a merchant's orders in SQL, the latest first. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export const RETURN_STATES = ['waiting', 'applied', 'refused'] as const

export interface MerchantReturn {
  readonly event_id: string
  readonly return_id: string
  readonly order_id: string
  readonly state: (typeof RETURN_STATES)[number]
  readonly reason: string | null
  readonly accepted_at: Date
  readonly returned_at: Date
  readonly products: string | null
  readonly quantity: number
  readonly amount: string | null
  readonly currency: string | null
  readonly revenue_micros: string
  readonly commission_micros: string
}

/** A page of returns, with one more row than `limit` if there is one. */
export function listMerchantReturns(
  db: Db,
  wanted: {
    readonly merchId: number
    readonly dayFrom: string | null
    readonly dayTo: string | null
    readonly before: string | null // the last return of the page before
    readonly limit: number
  },
): Promise<MerchantReturn[]> {
  const { merchId, dayFrom, dayTo, before, limit } = wanted
  return db.rows(sql`
    with page as (
      select * from order_return
      where merch_id = ${merchId}
        and (${dayFrom}::date is null or day >= ${dayFrom})
        and (${dayTo}::date is null or day <= ${dayTo})
        and (${before}::bigint is null or event_id < ${before})
      order by event_id desc limit ${limit + 1}
    )
    select page.*, taken.revenue_micros, taken.commission_micros,
      -- Only orders with a click have parts. Otherwise the product of the line that it names.
      coalesce(products, named.name, page.product_id) as products
    from page
    left join order_line named on named.merch_id = page.merch_id
      and named.order_id = page.order_id and named.line = page.line
    cross join lateral (
      select string_agg(coalesce(bought.name, bought.product_id), ', ' order by line) as products,
        coalesce(sum(part.revenue_micros), 0)::bigint as revenue_micros,
        coalesce(sum(part.commission_micros), 0)::bigint as commission_micros
      from order_return_line part left join order_line bought using (merch_id, order_id, line)
      where (part.merch_id, part.order_id, part.return_id)
        = (page.merch_id, page.order_id, page.return_id)
    ) as taken
    order by page.event_id desc`)
}
