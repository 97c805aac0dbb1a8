/**
 * Is an order that only a browser tells of within what its merchant usually sells?
 *
 * Anybody can make a browser say anything, so an order far above the merchant's usual values waits
 * for a person or for the merchant's server to confirm it (economics 4, Intake).
 */
import { LRUCache } from 'lru-cache'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

const DAYS = 90
/** Fewer orders than this say nothing about what is usual. */
const ORDERS_MIN = 20
/** Three times what all but one in a thousand orders stay under is no longer a good day. */
const FAR_OFF_FACTOR = 3
/** Until a merchant has a record: few readers' baskets cost more than ten thousand dollars. */
const NEW_MERCHANT_MAX_MICROS = 10_000_000_000
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
    const usual = await this.#db.row<{ orders: string; high: string | null }>(sql`
      select count(*) as orders,
        percentile_disc(0.999) within group (order by revenue_micros) as high
      from merchant_order
      where merch_id = ${merchId} and hold is null and rejected_at is null
        and accepted_at > ${now}::timestamptz - make_interval(days => ${DAYS})`)
    const isKnown = Number(usual?.orders ?? 0) >= ORDERS_MIN
    const limit = isKnown ? FAR_OFF_FACTOR * Number(usual?.high ?? 0) : NEW_MERCHANT_MAX_MICROS
    this.#limits.set(merchId, limit)
    return limit
  }
}
