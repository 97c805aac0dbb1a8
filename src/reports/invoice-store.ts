/**
 * What a merchant's months cost, in SQL. Every amount is a sum of the ledger's own lines, so the
 * months add up to the merchant's account.
 */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** Sums of a month in micro-dollars; amounts that the merchant owes are above 0. */
export interface MonthSums {
  readonly month: string // YYYY-MM
  readonly opening_micros: string
  readonly clicks_micros: string
  readonly orders_micros: string
  readonly returned_micros: string
  readonly paid_micros: string
  readonly closing_micros: string
}

/** Entries of clicks, returns and payments; all others are of orders. */
const IS_CLICK = sql`coalesce(kind = 'click', false)`
const IS_BACK = sql`coalesce(kind in ('return', 'reversal'), false)`

/** Months with ledger entries, newest first, from the one before `before` on. */
export function listMonths(
  db: Db,
  { merchId, before, limit }: { merchId: number; before: string | null; limit: number },
): Promise<MonthSums[]> {
  return db.rows(sql`
    with line as (
      select to_char(line.day, 'YYYY-MM') as month, pub_id, amount_micros, kind
      from ledger_line line left join ledger_transaction using (transaction_id)
      where account = 'merchant' and merch_id = ${merchId}
    ), summed as (
      select month,
        -coalesce(sum(amount_micros) filter (where pub_id <> 0 and ${IS_CLICK}), 0) as clicks,
        -coalesce(sum(amount_micros) filter (
          where pub_id <> 0 and not (${IS_CLICK}) and not ${IS_BACK}), 0) as orders,
        coalesce(sum(amount_micros) filter (where pub_id <> 0 and ${IS_BACK}), 0) as returned,
        coalesce(sum(amount_micros) filter (where pub_id = 0), 0) as paid,
        -sum(amount_micros) as change
      from line group by month
    ), running as (
      select *, sum(change) over (order by month) as closing from summed
    )
    select month, (closing - change)::text as opening_micros, clicks::text as clicks_micros,
      orders::text as orders_micros, returned::text as returned_micros, paid::text as paid_micros,
      closing::text as closing_micros
    from running where ${before}::text is null or month < ${before}
    order by month desc limit ${limit}`)
}

export async function findMonth(
  db: Db,
  { merchId, month, next }: { merchId: number; month: string; next: string },
): Promise<MonthSums | null> {
  const [found] = await listMonths(db, { merchId, before: next, limit: 1 })
  return found?.month === month ? found : null
}

/** What one campaign cost at one publisher. */
export interface InvoiceLine {
  readonly pub_id: number
  readonly publisher_name: string
  readonly campaign_id: number | null
  readonly clicks: string
  readonly clicks_micros: string
  readonly orders: string
  readonly orders_micros: string
  readonly returned_micros: string
}

/**
 * The lines of a month, the most expensive first. Of an order that moved to another publisher, the
 * lines of the first one have no campaign.
 */
export function listInvoiceLines(
  db: Db,
  { merchId, month }: { merchId: number; month: string },
): Promise<InvoiceLine[]> {
  const first = sql`${`${month}-01`}::date`
  return db.rows(sql`
    with line as materialized (
      select line.pub_id, amount_micros, kind, event_id,
        coalesce(corrects, idempotency_key) as subject
      from ledger_line line left join ledger_transaction using (transaction_id)
      where account = 'merchant' and merch_id = ${merchId} and line.pub_id <> 0
        and line.day >= ${first} and line.day < ${first} + interval '1 month'
    ), placed as (
      select line.*, coalesce(clicked.campaign_id, reversed.campaign_id, bought.campaign_id)
        as campaign_id
      from line
      left join click clicked on ${IS_CLICK} and clicked.event_id = line.event_id
      left join lateral (
        select campaign_id from click
        where kind = 'reversal' and click_id = decode(substr(subject, length('click:') + 1), 'hex')
        limit 1
      ) as reversed on true
      left join merchant_order bought on bought.merch_id = ${merchId}
        and bought.pub_id = line.pub_id
        and 'order:' || bought.merch_id || ':' || bought.order_id = subject
        and bought.order_id = substr(subject, length(${`order:${merchId}:`}) + 1)
    )
    select placed.pub_id, coalesce(publisher.name, '') as publisher_name, campaign_id,
      count(*) filter (where ${IS_CLICK})::text as clicks,
      (-coalesce(sum(amount_micros) filter (where ${IS_CLICK}), 0))::text as clicks_micros,
      count(*) filter (where kind = 'order')::text as orders,
      (-coalesce(sum(amount_micros) filter (
        where not (${IS_CLICK}) and not ${IS_BACK}), 0))::text as orders_micros,
      coalesce(sum(amount_micros) filter (where ${IS_BACK}), 0)::text as returned_micros
    from placed left join publisher using (pub_id)
    group by placed.pub_id, publisher.name, campaign_id
    order by sum(amount_micros), placed.pub_id, campaign_id`)
}
