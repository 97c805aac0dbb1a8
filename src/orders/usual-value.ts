/**
 * Limits the value of an order known only from a browser to the merchant's usual values.
 *
 * Anybody can make a browser send anything, so an order far above the merchant's usual values waits
 * for a person or for the merchant's server to confirm it.
 */
import { LRUCache } from 'lru-cache'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

const DAYS = 90
/** Fewer orders do not define a usual value. */
const ORDERS_MIN = 20
/**
 * Three times the value that all but one in a thousand orders stay under is no longer a good day.
 */
const FAR_OFF_FACTOR = 3
/**
 * The limit until the merchant's server has reported enough orders: few baskets cost more than ten
 * thousand dollars. Browsers' orders may lower it, but never raise it, or forged orders just below
 * the limit would triple it each time. They lower it to a thousand dollars at most, or twenty
 * forged orders of a cent would hold every honest one.
 */
const UNCONFIRMED_MAX_MICROS = 10_000_000_000
const UNCONFIRMED_MIN_MICROS = 1_000_000_000
/** Habits change slowly, and a quantile over many orders takes a moment. */
const KEPT_MS = 60_000
const MERCHANTS_MAX = 10_000

export class UsualValues {
  readonly #limits = new LRUCache<number, number>({ max: MERCHANTS_MAX, ttl: KEPT_MS })
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** The value in micros above which an unconfirmed order of the merchant is held. */
  async limitOf(merchId: number, now: Date): Promise<number> {
    const known = this.#limits.get(merchId)
    if (known !== undefined) return known
    const row = await this.#db.row<UsualRow>(sql`
      select count(*) filter (where source <> 'pixel') as confirmed, count(*) as reported,
        percentile_disc(0.999) within group (order by revenue_micros)
          filter (where source <> 'pixel') as confirmed_high,
        percentile_disc(0.999) within group (order by revenue_micros) as reported_high
      from merchant_order
      where merch_id = ${merchId} and hold is null and rejected_at is null
        and accepted_at > ${now}::timestamptz - make_interval(days => ${DAYS})`)
    const confirmed = limitBy(row?.confirmed, row?.confirmed_high)
    const reported = limitBy(row?.reported, row?.reported_high) ?? UNCONFIRMED_MAX_MICROS
    const unconfirmed = Math.max(UNCONFIRMED_MIN_MICROS, Math.min(UNCONFIRMED_MAX_MICROS, reported))
    const limit = confirmed ?? unconfirmed
    this.#limits.set(merchId, limit)
    return limit
  }
}

interface UsualRow {
  readonly confirmed: string // orders also reported by a server or another network's file
  readonly confirmed_high: string | null
  readonly reported: string
  readonly reported_high: string | null
}

/** Null if too few orders define a usual value. */
function limitBy(orders = '0', high: string | null = null): number | null {
  return Number(orders) < ORDERS_MIN ? null : FAR_OFF_FACTOR * Number(high)
}
