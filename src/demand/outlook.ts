/**
 * What is expected of a click, for every pair of publisher and merchant, from the daily figures.
 *
 * Read off the request path every minute; the auction and `best_effort_cpc` ask this one book, so
 * that they can never disagree. Older days count less: half after 14 days (economics 3).
 */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import {
  type ClickOutlook,
  estimateRate,
  estimateValue,
  type RateModel,
  UNFITTED,
  UNFITTED_VALUE,
  type ValueModel,
} from './predict.ts'

const HALF_LIFE_DAYS = 14
/** Of what is older less than a hundredth would count. */
const DAYS_MAX = 100
/** Before a pair has shown its own: 97 of 100 clicks land and are valid. */
const VALID_PRIOR = { valid: 97, all: 100 }

/** Decayed sums of the daily figures. */
interface PairFigures {
  clicks: number
  invalid: number
  orders: number
  logValue: number
  logValueSquare: number
}

interface PairRow extends PairFigures {
  readonly pub_id: number
  readonly merch_id: number
}

export type PairOutlook = Omit<ClickOutlook, 'share' | 'fundedShare'>

export class OutlookBook {
  #pairs = new Map<string, PairFigures>()
  #merchants = new Map<number, PairFigures>()
  readonly #rates: RateModel
  readonly #values: ValueModel

  constructor(rates: RateModel = UNFITTED, values: ValueModel = UNFITTED_VALUE) {
    this.#rates = rates
    this.#values = values
  }

  async refresh(db: Db, nowMs: number): Promise<void> {
    const rows = await findPairFigures(db, new Date(nowMs).toISOString().slice(0, 10))
    const pairs = new Map<string, PairFigures>()
    const merchants = new Map<number, PairFigures>()
    for (const row of rows) {
      pairs.set(pairKey(row.pub_id, row.merch_id), row)
      merchants.set(row.merch_id, add(merchants.get(row.merch_id) ?? NONE, row))
    }
    this.#pairs = pairs
    this.#merchants = merchants
  }

  of(pubId: number, merchId: number): PairOutlook {
    const pair = this.#pairs.get(pairKey(pubId, merchId)) ?? NONE
    const merchant = this.#merchants.get(merchId) ?? NONE
    const valid = pair.clicks + VALID_PRIOR.valid
    return {
      rate: estimateRate(this.#rates, merchant, pair),
      value: estimateValue(this.#values, merchant, pair),
      returnShare: 0, // Returns are taken off the revenue of the day on which they come.
      validShare: valid / (pair.clicks + pair.invalid + VALID_PRIOR.all),
    }
  }
}

const NONE: PairFigures = { clicks: 0, invalid: 0, orders: 0, logValue: 0, logValueSquare: 0 }

const pairKey = (pubId: number, merchId: number): string => `${pubId} ${merchId}`

function add(one: PairFigures, other: PairFigures): PairFigures {
  return {
    clicks: one.clicks + other.clicks,
    invalid: one.invalid + other.invalid,
    orders: one.orders + other.orders,
    logValue: one.logValue + other.logValue,
    logValueSquare: one.logValueSquare + other.logValueSquare,
  }
}

/** Orders of a day enter with their mean value: the figures keep no single ones. */
function findPairFigures(db: Db, today: string): Promise<PairRow[]> {
  return db.rows<PairRow>(sql`
    select pub_id, merch_id,
      sum(clicks * weight)::float8 as clicks,
      sum(invalid_clicks * weight)::float8 as invalid,
      sum(greatest(sales, 0) * weight)::float8 as orders,
      sum(greatest(sales, 0) * log_value * weight)::float8 as "logValue",
      sum(greatest(sales, 0) * log_value ^ 2 * weight)::float8 as "logValueSquare"
    from stats_day,
      lateral (select 0.5 ^ ((${today}::date - day)::float8 / ${HALF_LIFE_DAYS}::float8) as weight),
      lateral (select case when sales > 0 and revenue_micros > 0
        then ln(revenue_micros::float8 / sales) else 0 end as log_value)
    where day > ${today}::date - ${DAYS_MAX}::int and merch_id <> 0
    group by pub_id, merch_id`)
}
