/**
 * How long a judgement of the budgets of CPA and EPP campaigns takes: 50,000 clicks a day over 36
 * days and 300 merchants, every 50th with an order.
 *
 *   node bench/open-budgets.ts
 *
 * Before and after the nightly job that sums the clicks of past days
 * (docs/spec/budgets.md#open-clicks), at 18:00. Exits 1 above the goal of 1 s. Filling the tables
 * takes a minute.
 */
import { loadOverCap } from '../src/budgets/liability-store.ts'
import { sumOpenClicks } from '../src/budgets/open-click-store.ts'
import type { Db } from '../src/platform/postgres/postgres.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { DAY_MS } from '../src/platform/time/timestamp.ts'
import { ClickEstimates } from '../src/prediction/click-estimates.ts'
import { UNFITTED_MODEL } from '../src/prediction/prediction-model.ts'
import { openBenchDatabase } from './database.ts'
import { median } from './median.ts'

const [CLICKS_PER_DAY, DAYS, MERCHANTS, PUBLISHERS] = [50_000, 36, 300, 40]
const NOW_MS = Date.parse('2026-04-13T18:00:00Z')
const GOAL_MS = 1_000
const JUDGEMENTS = 5
/** Orders of some readers take weeks, so that all clicks of 36 days count. */
const SLOW = { ...UNFITTED_MODEL, delayCurve: [0.3, 0.2, 0.1, 0.1, 0.2, 0.1] }

await using stack = new AsyncDisposableStack()
const { database } = await openBenchDatabase(stack)
await fill(database)
const estimates = new ClickEstimates()
estimates.take(SLOW, [], NOW_MS)
const judge = () => loadOverCap(database, { estimates, nowMs: NOW_MS })
console.log(`reading all clicks: ${await medianMs(judge)} ms`)
console.log(`the nightly job: ${await medianMs(() => sumOpenClicks(database, NOW_MS), 1)} ms`)
const ms = await medianMs(judge)
console.log(`sums and the clicks since: ${ms} ms (goal ${GOAL_MS} ms)`)
if (ms > GOAL_MS) process.exitCode = 1

async function medianMs(work: () => Promise<unknown>, times = JUDGEMENTS): Promise<number> {
  const taken: number[] = []
  for (let time = 0; time < times; time++) {
    const started = performance.now()
    await work()
    taken.push(performance.now() - started)
  }
  return Math.round(median(taken))
}

/** Each address unit clicks twice, so that the rule of clicks per address has work. */
async function fill(db: Db): Promise<void> {
  await db.run(sql`
    insert into merchant (name, postback_secret)
    select 'shop ' || n, 'secret' from generate_series(1, ${MERCHANTS}::int) as n`)
  await db.run(sql`
    insert into campaign (merch_id, model, payment_micros, budget_micros, daily_budget_micros)
    select merch_id, 'epp', 1000000, 1000000000, 30000000 from merchant`)
  await db.run(sql`
    insert into click (event_id, click_id, result_number, day, at, pub_id, article_id, auction_id,
      merch_id, campaign_id, model, terms_amount, share_ppm, merchant_cost_micros,
      publisher_earnings_micros, reason,
      is_reserved, address_key)
    select n, decode(md5(n::text), 'hex'), decode(md5(n::text), 'hex'), at::date, at,
      1 + (hashint4(n) & 1048575) % ${PUBLISHERS}::int, 1, 1, merch_id, merch_id, 3,
      1000000, 750000, 0, 0, 0, false,
      decode(md5((n / 2)::text), 'hex')
    from generate_series(1, ${CLICKS_PER_DAY * DAYS}::int) as n,
    lateral (select ${new Date(NOW_MS - DAYS * DAY_MS)}::timestamptz
      + n * interval '1 second' * ${86_400 / CLICKS_PER_DAY}::float8 as at,
      1 + (hashint4(n + 7) & 1048575) % ${MERCHANTS}::int as merch_id) as of_click`)
  await db.run(sql`
    insert into merchant_order (merch_id, order_id, account, is_posted, click_id, attribution)
    select merch_id, event_id, '{}', true, click_id, 'exact' from click where event_id % 50 = 0`)
  await db.run(sql`vacuum analyze`)
}
