/**
 * All schedules, each with its time and its work: maintenance, deletion, money. run-schedules.ts
 * runs them.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { deletePastAudit } from '../accounts/audit-store.ts'
import { deletePastResponses } from '../accounts/idempotency-store.ts'
import { explainedSince } from '../accounts/invitation.ts'
import { deletePastInvitations } from '../accounts/invitation-store.ts'
import { deletePastSessions } from '../accounts/session-store.ts'
import { deletePastChallenges } from '../accounts/sign-in/factor-store.ts'
import { deletePastResets } from '../accounts/sign-in/password-reset-store.ts'
import { sendMail } from '../accounts/sign-in/send-mail.ts'
import { deleteUnclickedReceipts } from '../auction/receipt-store.ts'
import { deleteOldJobs } from '../auction/what-if-job-store.ts'
import { deleteOldTagChecks, hasOpenTagChecks } from '../check-page/tag-check-store.ts'
import { deleteSeenLinks } from '../fold/fold-seen-links.ts'
import { deletePageSessions } from '../fold/fold-views.ts'
import { takeHealthSample } from '../fold/health-sample-store.ts'
import { checkPages } from '../links/check-pages.ts'
import { deletePastLinkHours } from '../links/store.ts'
import { deleteOldUnattributed } from '../links/unattributed-store.ts'
import { listMerchantsWithNewWords } from '../matching/product-words-store.ts'
import type { Node } from '../node/node.ts'
import { deleteOldRefusals, deleteOldRequests } from '../orders/intake-store.ts'
import { reattributeOrders } from '../orders/reattribute-orders.ts'
import { deleteOldWarnings } from '../orders/warning-store.ts'
import { deleteOldStoredBytes } from '../platform/limits/storage-quota-store.ts'
import { guardedAgent } from '../platform/net/fetch-guard.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { isModelYoung } from '../prediction/learn-store.ts'
import type { DeliveryWish } from '../reports/deliver-reports.ts'
import { hasRequestedDeliveries } from '../reports/delivery-store.ts'
import { deliverWebhooks } from '../webhooks/deliver-webhooks.ts'
import { makeNotices } from '../webhooks/make-notices.ts'
import { DELIVERY_DAYS } from '../webhooks/webhook.ts'
import { deleteOldDeliveries } from '../webhooks/webhook-store.ts'
import { runHeavyJob } from './run-heavy-job.ts'

export interface Schedule {
  readonly task: string
  /** Minute, hour, day, month, weekday; UTC. */
  readonly cron: string
  readonly work: (node: Node) => Promise<unknown>
}

/** The key behind a session's hash is deleted after 30 days. Nothing can match the hash later. */
const PAGE_SESSION_DAYS = 60
const SEEN_DAYS = 3

export const SCHEDULES: readonly Schedule[] = [
  {
    task: 'forget_hash_keys',
    cron: '20 * * * *',
    work: ({ hashKeys, now }) => hashKeys.forget(now()),
  },
  {
    task: 'guard_exploration',
    cron: '30 0 * * *',
    work: (node) => runHeavyJob(node, 'guardExploration'),
  },
  {
    task: 'sum_open_clicks',
    cron: '15 1 * * *',
    work: (node) => runHeavyJob(node, 'sumOpenClicks'),
  },
  {
    task: 'learn_model',
    cron: '30 2 * * *',
    work: (node) => runHeavyJob(node, 'learnModel'),
  },
  { task: 'learn_young_model', cron: '*/10 * * * *', work: learnYoungModel },
  {
    task: 'learn_traffic',
    cron: '40 2 * * *',
    work: (node) => runHeavyJob(node, 'learnTraffic'),
  },
  {
    task: 'step_roas',
    cron: '5 * * * *',
    work: (node) => runHeavyJob(node, 'stepRoas'),
  },
  { task: 'sample_health', cron: '*/5 * * * *', work: sampleHealth },
  { task: 'refetch_feeds', cron: '50 * * * *', work: refetchAllFeeds },
  { task: 'update_product_words', cron: '* * * * *', work: updateWords },
  { task: 'watch_links', cron: '25 * * * *', work: (node) => runHeavyJob(node, 'watchLinks') },
  { task: 'send_alerts', cron: '*/15 * * * *', work: (node) => runHeavyJob(node, 'sendAlerts') },
  { task: 'check_pages', cron: '*/15 * * * *', work: checkLinkPages },
  { task: 'forget_receipts', cron: '*/15 * * * *', work: forgetReceipts },
  { task: 'forget_responses', cron: '40 * * * *', work: forgetExpired },
  { task: 'forget_page_sessions', cron: '50 3 * * *', work: forgetPageSessions },
  { task: 'retire_views', cron: '5 4 * * *', work: dropOldViews },
  { task: 'send_webhooks', cron: '* * * * *', work: sendWebhooks },
  // Each new mail also makes it due, by a trigger (migrations).
  { task: 'send_mail', cron: '* * * * *', work: sendAllMail },
  // So does each new check.
  { task: 'check_tags', cron: '* * * * *', work: checkTags },
  { task: 'reattribute_orders', cron: '*/5 * * * *', work: reattributeAllOrders },
  { task: 'issue_statements', cron: '30 2 * * *', work: issueAllStatements },
  { task: 'reconcile', cron: '10 3 * * *', work: reconcileLastDays },
  { task: 'deliver_reports', cron: '15 */6 * * *', work: (node) => sendReports(node) },
  { task: 'deliver_requested_reports', cron: '* * * * *', work: sendRequestedReports },
  { task: 'forget_intake_requests', cron: '45 * * * *', work: forgetRequests },
  { task: 'forget_deliveries', cron: '35 3 * * *', work: forgetDeliveries },
  { task: 'forget_people', cron: '25 3 * * *', work: forgetPeople },
  { task: 'forget_seen_links', cron: '55 * * * *', work: forgetSeenLinks },
]

async function learnYoungModel(node: Node): Promise<void> {
  if (await isModelYoung(node.database)) await runHeavyJob(node, 'learnModel')
}

/** Reports merchants whose server does not answer to the operator. Their offers stay for a day. */
async function refetchAllFeeds(node: Node): Promise<void> {
  for (const { merchId: merch_id, error } of await runHeavyJob(node, 'refetchFeeds')) {
    if (error === null) node.log.info({ merch_id }, 'feed fetched')
    else node.log.warn({ merch_id, error }, 'a feed could not be imported, or not as a whole')
  }
}

/** Product search finds what imports changed. Usually nothing did. */
async function updateWords(node: Node): Promise<void> {
  const changed = await listMerchantsWithNewWords(node.database)
  if (changed.length > 0) await runHeavyJob(node, 'updateProductWords')
}

async function sampleHealth({ database, now }: Node): Promise<void> {
  await takeHealthSample(database, new Date(now()))
}

/** Whether the pages of earning links are there: each once a day. */
async function checkLinkPages({ database: db, config, now }: Node): Promise<void> {
  const agent = guardedAgent({ allowPrivate: config.allowPrivateFetch })
  try {
    await checkPages({ db, agent, sleep, now: () => new Date(now()) })
  } finally {
    await agent.destroy()
  }
}

/** Receipts of clicked results are stored forever, all others for RECEIPT_HOURS. */
async function forgetReceipts({ database, config, now }: Node): Promise<void> {
  await deleteUnclickedReceipts(database, new Date(now() - config.receiptHours * HOUR_MS))
}

/**
 * Deletes data that expires within hours: stored responses, dashboard sessions, links for new
 * passwords, half-done sign-ins, counts of new links.
 */
async function forgetExpired({ database, now }: Node): Promise<void> {
  const at = new Date(now())
  await deletePastResponses(database, at)
  await deletePastSessions(database, at)
  await deletePastResets(database, at)
  await deletePastChallenges(database, at)
  await deletePastLinkHours(database, at)
  await deleteOldUnattributed(database, at)
  await deleteOldTagChecks(database)
}

/** Sessions whose views were deleted too. The fold counts a late view by its day's total. */
async function forgetPageSessions({ database, config, now }: Node): Promise<void> {
  const days = Math.min(PAGE_SESSION_DAYS, config.retentionDays)
  await deletePageSessions(database, new Date(now() - days * DAY_MS))
}

/** Views older than RETENTION_DAYS, after their signed totals are written. */
async function dropOldViews(node: Node): Promise<void> {
  const { retentionDays } = node.config
  const dropped = await runHeavyJob(node, 'retireViews')
  if (dropped > 0) node.log.info({ events: dropped, retentionDays }, 'views dropped')
}

async function sendWebhooks({ database: db, config, log, metrics, now }: Node): Promise<void> {
  // If creating new ones fails, waiting ones are still sent.
  const making = makeNotices(db, new Date(now()))
  await making.catch(() => undefined)
  const agent = guardedAgent({ allowPrivate: config.allowPrivateFetch })
  try {
    const delivered = await deliverWebhooks({
      db,
      agent,
      now: () => new Date(now()),
      onDisabled: (webhook, notice) => {
        metrics.webhooksDisabled.inc()
        log.warn({ webhook, notice }, 'a webhook was switched off')
      },
    })
    metrics.webhooksDelivered.inc(delivered)
  } finally {
    await agent.close()
  }
  await making
}

async function sendAllMail({ database: db, config, log, now }: Node): Promise<void> {
  const { mail: server, baseUrl } = config
  await sendMail({
    db,
    server,
    baseUrl,
    now: () => new Date(now()),
    onFailed: (err, isLast) => {
      log.warn({ err }, isLast ? 'a mail was given up' : 'a mail was not sent; trying again')
    },
  })
}

/** Pages that publishers want checked. Usually none: then no thread starts. */
async function checkTags(node: Node): Promise<void> {
  if (!(await hasOpenTagChecks(node.database))) return
  const input = { brand: node.config.brand }
  for (const error of await runHeavyJob(node, 'checkTags', { input })) {
    node.log.warn({ error }, 'a page of a publisher could not be checked')
  }
}

async function reattributeAllOrders(node: Node): Promise<void> {
  const { database: db, appender, ids, log, now } = node
  const deps = { db, append: appender.append, nextId: () => ids.next(), now }
  const repeated = await reattributeOrders(deps)
  if (repeated > 0) log.info({ orders: repeated }, 'recounted: their clicks came later')
}

async function issueAllStatements(node: Node): Promise<void> {
  const issued = await runHeavyJob(node, 'issueStatements')
  if (issued.length > 0) node.log.info({ statements: issued.length }, 'statements issued')
}

async function reconcileLastDays(node: Node): Promise<void> {
  const { log } = node
  const started = performance.now()
  const { differences, events } = await runHeavyJob(node, 'reconcile')
  const seconds = Math.round(performance.now() - started) / 1000
  if (differences.length === 0) log.info({ events, seconds }, 'reconciled')
  else log.error({ differences: differences.slice(0, 10), events, seconds }, 'does not reconcile')
}

async function sendReports(node: Node, input: DeliveryWish = {}): Promise<void> {
  for (const { error, target } of await runHeavyJob(node, 'deliverReports', { input })) {
    if (error !== null) node.log.warn({ target, error }, 'reports were not delivered')
  }
}

/** New deliveries, and those that somebody runs now. */
async function sendRequestedReports(node: Node): Promise<void> {
  if (await hasRequestedDeliveries(node.database)) await sendReports(node, { onlyRequested: true })
}

/** A page may stay open overnight, and its links stay in view for a day after that. */
async function forgetSeenLinks({ database, now }: Node): Promise<void> {
  await deleteSeenLinks(database, new Date(now() - SEEN_DAYS * DAY_MS))
}

async function forgetRequests({ database, now }: Node): Promise<void> {
  await deleteOldRequests(database, new Date(now()))
  await deleteOldRefusals(database, new Date(now()))
  await deleteOldStoredBytes(database, new Date(now()))
  await deleteOldWarnings(database, new Date(now()))
  await deleteOldJobs(database, new Date(now()))
}

/** Invitations whose link needs no reason any more, and entries after their 400 days. */
async function forgetPeople({ database, now }: Node): Promise<void> {
  await deletePastInvitations(database, explainedSince(new Date(now())))
  await deletePastAudit(database)
}

async function forgetDeliveries({ database, now }: Node): Promise<void> {
  await deleteOldDeliveries(database, new Date(now() - DELIVERY_DAYS * DAY_MS))
}
