/** What is done by the clock about money: notices, statements, reports, reconciliation. */
import { deleteOldRefusals, deleteOldRequests } from './attribution/intake-store.ts'
import { retellOrders } from './attribution/retell-orders.ts'
import type { Node } from './node.ts'
import { guardedAgent } from './platform/fetch-guard.ts'
import { DAY_MS } from './platform/timestamp.ts'
import { deliverWebhooks } from './reports/deliver-webhooks.ts'
import { makeNotices } from './reports/make-notices.ts'
import { deleteOldDeliveries } from './reports/webhook-store.ts'
import { runHeavyJob } from './run-heavy-job.ts'
import type { Schedule } from './schedule.ts'
import { deleteSeenLinks } from './stats/fold-seen-links.ts'

const SEEN_DAYS = 3
/** A delivery can be looked at, and sent again, for as long as its order may still change. */
const DELIVERY_DAYS = 180

export const MONEY_SCHEDULES: readonly Schedule[] = [
  { task: 'send_webhooks', cron: '* * * * *', work: sendWebhooks },
  { task: 'retell_orders', cron: '*/5 * * * *', work: retellAllOrders },
  { task: 'issue_statements', cron: '30 2 * * *', isMadeUpFor: true, work: issueAllStatements },
  { task: 'reconcile', cron: '10 3 * * *', isMadeUpFor: true, work: reconcileLastDays },
  { task: 'deliver_reports', cron: '15 */6 * * *', work: sendReports },
  { task: 'forget_intake_requests', cron: '45 * * * *', work: forgetRequests },
  { task: 'forget_deliveries', cron: '35 3 * * *', isMadeUpFor: true, work: forgetDeliveries },
  { task: 'forget_seen_links', cron: '55 * * * *', work: forgetSeenLinks },
]

async function sendWebhooks({ database: db, config, log, metrics, now }: Node): Promise<void> {
  // Where making them fails, those that wait are sent all the same.
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

async function retellAllOrders(node: Node): Promise<void> {
  const { database: db, appender, ids, log, now } = node
  const deps = { db, append: appender.append, nextId: () => ids.next(), now }
  const retold = await retellOrders(deps)
  if (retold > 0) log.info({ orders: retold }, 'told again: their clicks came later')
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

async function sendReports(node: Node): Promise<void> {
  for (const { error, target } of await runHeavyJob(node, 'deliverReports')) {
    if (error !== null) node.log.warn({ target, error }, 'reports were not delivered')
  }
}

/** A page may stay open over night, and its links stay in view for a day after that. */
async function forgetSeenLinks({ database, now }: Node): Promise<void> {
  await deleteSeenLinks(database, new Date(now() - SEEN_DAYS * DAY_MS))
}

async function forgetRequests({ database, now }: Node): Promise<void> {
  await deleteOldRequests(database, new Date(now()))
  await deleteOldRefusals(database, new Date(now()))
}

async function forgetDeliveries({ database, now }: Node): Promise<void> {
  await deleteOldDeliveries(database, new Date(now() - DELIVERY_DAYS * DAY_MS))
}
