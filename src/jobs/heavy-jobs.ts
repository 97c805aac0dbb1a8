/**
 * Jobs with long computations or queries. Each runs on a separate thread (run-heavy-job.ts),
 * because it would delay readers on the main thread: fitting 100,000 pairs takes seconds, and so
 * does settling merchants' debts. A month of clicks takes longer to read than the statement timeout
 * allows.
 *
 * They receive the database and the time, and return plain data that the schedule reports.
 */
import { randomBytes } from 'node:crypto'
import { guardExploration } from '../auction/guard-exploration.ts'
import { sumOpenClicks } from '../budgets/open-click-store.ts'
import { stepRoasMultipliers } from '../budgets/roas-store.ts'
import { learnTraffic } from '../budgets/traffic-store.ts'
import { refetchFeeds } from '../catalog/feeds/refetch-feeds.ts'
import { type FeedImportOrder, runFeedImport } from '../catalog/feeds/run-feed-import.ts'
import { runTagChecks, type TagCheckWork } from '../check-page/run-tag-checks.ts'
import { retireViews } from '../events/view-totals.ts'
import { type AgeingRow, listAgeing } from '../ledger/ageing.ts'
import type { IssuedStatement } from '../ledger/statement-store.ts'
import { updateProductWords } from '../matching/product-words-store.ts'
import type { SealingKey } from '../node/config.ts'
import { feedPriceRates } from '../orders/feed-rates.ts'
import { guardedAgent } from '../platform/net/fetch-guard.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import { fitNightly } from '../prediction/learn-store.ts'
import { type Reconciliation, reconcile } from '../reconcile/reconcile.ts'
import { recordReconciliation } from '../reconcile/reconciliation-store.ts'
import { type DeliveryWish, deliverReports } from '../reports/deliver-reports.ts'
import { watchLinks } from '../stats/watch-links.ts'
import { issueWithNotices } from '../webhooks/make-notices.ts'
import { makeAlerts, postAlerts } from '../webhooks/send-alerts.ts'

/** A job's input. Everything except the database is sent to its thread as a message. */
export interface HeavyWork {
  readonly db: Database
  readonly nowMs: number
  readonly keys: readonly SealingKey[]
  readonly allowPrivateFetch: boolean
  readonly retentionDays: number
  readonly baseUrl: string
  /** What the one who starts the job wants of it; plain data. */
  readonly input?: unknown
}

/** Every night covers the last week again, because late events are in the log by then. */
const RECONCILE_DAYS = 8

export const HEAVY_JOBS = {
  async learnModel({ db, nowMs }: HeavyWork): Promise<void> {
    await fitNightly(db, nowMs)
  },
  sumOpenClicks: ({ db, nowMs }: HeavyWork): Promise<void> => sumOpenClicks(db, nowMs),
  learnTraffic: ({ db, nowMs }: HeavyWork): Promise<void> => learnTraffic(db, nowMs),
  stepRoas: ({ db, nowMs }: HeavyWork): Promise<number> => stepRoasMultipliers(db, nowMs),
  issueStatements: ({ db, nowMs }: HeavyWork): Promise<IssuedStatement[]> =>
    issueWithNotices(db, new Date(nowMs)),
  readAgeing: ({ db, nowMs }: HeavyWork): Promise<AgeingRow[]> => listAgeing(db, new Date(nowMs)),
  guardExploration: ({ db, nowMs }: HeavyWork): Promise<void> => guardExploration(db, nowMs),
  retireViews: (work: HeavyWork): Promise<number> => retireViews(work.db, work),
  async reconcile({ db, nowMs, keys }: HeavyWork): Promise<Reconciliation> {
    const from = utcDay(nowMs - (RECONCILE_DAYS - 1) * DAY_MS)
    const result = await reconcile(db, { from, to: utcDay(nowMs), keys })
    await recordReconciliation(db, new Date(nowMs), result)
    return result
  },
  async refetchFeeds({ db, nowMs, allowPrivateFetch: allowPrivate }: HeavyWork) {
    const toDollars = await feedPriceRates(db, utcDay(nowMs))
    const seed = randomBytes(4).readUInt32BE()
    return refetchFeeds(db, { at: new Date(nowMs), allowPrivate, toDollars, seed })
  },
  watchLinks: ({ db, nowMs }: HeavyWork): Promise<number> => watchLinks(db, new Date(nowMs)),
  async sendAlerts({ db, nowMs, baseUrl, allowPrivateFetch: allowPrivate }: HeavyWork) {
    const now = new Date(nowMs)
    const agent = guardedAgent({ allowPrivate })
    try {
      await makeAlerts(db, { now, baseUrl })
      return await postAlerts(db, { agent, now })
    } finally {
      await agent.close()
    }
  },
  updateProductWords: ({ db }: HeavyWork): Promise<number> => updateProductWords(db),
  async importFeed({ db, nowMs, allowPrivateFetch: allowPrivate, input }: HeavyWork) {
    const toDollars = await feedPriceRates(db, utcDay(nowMs))
    const seed = randomBytes(4).readUInt32BE()
    const given = { at: new Date(nowMs), allowPrivate, toDollars, seed }
    await runFeedImport(db, input as FeedImportOrder, given)
  },
  checkTags: ({ db, keys, baseUrl, allowPrivateFetch: allowPrivate, input }: HeavyWork) =>
    runTagChecks({ ...(input as Pick<TagCheckWork, 'brand'>), db, keys, baseUrl, allowPrivate }),
  deliverReports: ({ db, nowMs, allowPrivateFetch: allowPrivate, input }: HeavyWork) =>
    deliverReports(db, new Date(nowMs), { allowPrivate, ...(input as DeliveryWish | null) }),
}
export type HeavyJob = keyof typeof HEAVY_JOBS
