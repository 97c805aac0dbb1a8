/**
 * Clicks whose orders may still come: docs/spec/budgets.md#open-clicks.
 *
 * A nightly job sums the clicks of past days, because reading a month of them takes longer than the
 * statement timeout. Later clicks are read one by one, and so are clicks that the sums lack.
 * Everything that could make a sum too low is noted by the fold, in the transaction that does it.
 */
import { clickIdBytes } from '../events/click-id.ts'
import type { Model } from '../events/event.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { HOUR_MS, utcDay } from '../platform/time/timestamp.ts'
import { IS_LED_BY_CLICK } from '../prediction/delay-store.ts'
import { WAITS_MS } from '../prediction/evidence.ts'

/** Clicks with a smaller part of their order still to come are left out: they are old and many. */
export const WAITING_MIN = 0.01
/** Whatever curve a merchant's delays have, older clicks are below WAITING_MIN: 83 days. */
const LOOK_BACK_MS = Math.max(...WAITS_MS) * Math.log(1 / WAITING_MIN)
/**
 * Clicks of an address unit and day that count for a campaign: such clicks cost their sender
 * nothing (docs/spec/budgets.md#free-requests-elsewhere).
 */
const CLICKS_PER_ADDRESS = 3
/** A transaction of the fold, and the difference between two clocks, are shorter. */
const FOLD_MS_MAX = HOUR_MS

/**
 * More mean delays count as this many. PostgreSQL raises an error on underflow, also in the product
 * of two such parts.
 */
const DELAYS_MAX = 300

const TASK = 'sum_open_clicks'

/** Open clicks of one campaign at one publisher, with the same sealed terms. */
export interface OpenClickRow {
  readonly merch_id: number
  readonly campaign_id: number
  readonly pub_id: number
  readonly model: Model
  readonly terms_amount: string
  readonly waiting: readonly number[] // Σ exp(-age / WAITS_MS[part])
}

/** The columns that `sumsOf` reads of a click. */
const COLUMNS = sql`click.click_id, click.campaign_id, click.pub_id, click.model,
  click.terms_amount, click.at, click.address_key, click.reversed_at`
/** As in the index click_per_order, so without bound values. CPC clicks owe no order. */
const IS_PER_ORDER = sql`click.model in (2, 3) and click.reason = 0`

/** The sums of a query's open clicks by campaign, publisher and terms, as of a time. */
function sumsOf(clicks: Sql, asOf: Date): Sql {
  const sums = WAITS_MS.map(
    (meanMs) => sql`sum(exp(-least(${DELAYS_MAX}, age_ms / ${meanMs}::float8)))`,
  ).reduce((all, sum) => sql`${all}, ${sum}`)
  // The age by date_part: extract gives a numeric, whose arithmetic takes ten times as long.
  return sql`
    select campaign_id, pub_id, model, terms_amount, array[${sums}] as waiting
    from (
      select campaign_id, pub_id, model, terms_amount,
        date_part('epoch', ${asOf}::timestamptz - at) * 1000 as age_ms,
        row_number() over (
          partition by campaign_id, coalesce(address_key, click_id) order by at
        ) as of_address
      from (${clicks}) as click
      where reversed_at is null and not exists (
        select from merchant_order where merchant_order.click_id = click.click_id
          and ${IS_LED_BY_CLICK}
      )
    ) as open_click
    where of_address <= ${CLICKS_PER_ADDRESS}
    group by campaign_id, pub_id, model, terms_amount`
}

/**
 * Sums the open clicks of past days again, for all merchants. In one statement, so that a click is
 * either in the sums or stays noted as missing in them.
 */
export async function sumOpenClicks(db: Db, nowMs: number): Promise<void> {
  const until = new Date(utcDay(nowMs - FOLD_MS_MAX))
  const from = new Date(until.getTime() - LOOK_BACK_MS)
  await db.transaction(async (tx) => {
    // Locks the row: of two jobs at once, the second would not delete the sums of the first.
    await tx.run(sql`
      insert into upkeep (task, done_until) values (${TASK}, ${until})
      on conflict (task) do update set done_until = excluded.done_until`)
    const clicks = sql`
      select ${COLUMNS} from click
      where click.merch_id = merchant.merch_id and at >= ${from} and at < ${until}
        and campaign_id is not null and ${IS_PER_ORDER}`
    await tx.run(sql`
      with replaced as (delete from open_click_sum), included as (delete from open_click_unsummed)
      insert into open_click_sum (merch_id, campaign_id, pub_id, model, terms_amount, waiting)
      select merch_id, open.* from merchant cross join lateral (${sumsOf(clicks, until)}) as open`)
  })
}

/** A valid click that pays per order, as the fold inserts it. */
export interface LateClick {
  readonly merchId: number
  readonly clickId: Buffer
  readonly atMs: number
}

/**
 * Notes those of the folded clicks that are of past days: the sums may lack them. Clicks of today
 * are read one by one, whenever the job runs next.
 */
export async function noteLateClicks(tx: Db, clicks: readonly LateClick[]): Promise<void> {
  if (clicks.length === 0) return
  await tx.run(sql`
    insert into open_click_unsummed (merch_id, click_id)
    select merch_id, click_id from unnest(
      ${clicks.map(({ merchId }) => merchId)}::int[],
      ${clicks.map(({ clickId }) => clickId)}::bytea[],
      ${clicks.map(({ atMs }) => new Date(atMs))}::timestamptz[]
    ) as folded (merch_id, click_id, at)
    where at < date_trunc('day', now(), 'UTC')`)
}

/** Notes clicks (hex) that lost an order to another click, or to none: they are open again. */
export async function noteReopenedClicks(tx: Db, clickIds: readonly string[]): Promise<void> {
  if (clickIds.length === 0) return
  await tx.run(sql`
    insert into open_click_unsummed (merch_id, click_id)
    select merch_id, click_id from click where click_id = any(${clickIdBytes(clickIds)}::bytea[])`)
}

/**
 * Finds the open clicks of these campaigns: the sums, and the clicks since or besides. Each
 * merchant is looked up separately, as far back as its delay goes, and once for all its campaigns.
 */
export function findOpenClicks(
  db: Db,
  from: {
    readonly campaignIds: readonly number[]
    readonly merchants: readonly { readonly merchId: number; readonly sinceMs: number }[]
    readonly nowMs: number
  },
): Promise<OpenClickRow[]> {
  const { campaignIds, merchants } = from
  const now = new Date(from.nowMs)
  const isAsked = sql`campaign_id = any(${campaignIds}::int[])`
  const clicks = sql`
    select ${COLUMNS} from click
    where click.merch_id = asked.merch_id and at >= greatest(asked.since, summed.until)
      and at <= ${now} and ${isAsked} and ${IS_PER_ORDER}
    union all
    select found.* from (
      select distinct click_id from open_click_unsummed where merch_id = asked.merch_id
    ) as unsummed
    cross join lateral (
      -- By its index: the planner would read all clicks of the merchant.
      select ${COLUMNS} from click
      where click.click_id = unsummed.click_id and at < summed.until and ${isAsked}
        and ${IS_PER_ORDER} offset 0
    ) as found`
  const waiting = WAITS_MS.map(
    (meanMs, part) => sql`waiting[${part + 1}::int] * exp(-least(${DELAYS_MAX},
      date_part('epoch', ${now}::timestamptz - summed.until) * 1000 / ${meanMs}::float8))`,
  ).reduce((all, sum) => sql`${all}, ${sum}`)
  return db.rows<OpenClickRow>(sql`
    with summed as materialized (
      select (select done_until from upkeep where task = ${TASK}) as until
    )
    select asked.merch_id, open.*
    from unnest(
      ${merchants.map(({ merchId }) => merchId)}::int[],
      ${merchants.map(({ sinceMs }) => new Date(sinceMs))}::timestamptz[]
    ) as asked (merch_id, since)
    cross join summed cross join lateral (${sumsOf(clicks, now)}) as open
    union all
    select merch_id, campaign_id, pub_id, model, terms_amount, array[${waiting}]
    from open_click_sum cross join summed where ${isAsked}`)
}
