/** Commands on statements, payouts, who owes, webhooks and scheduled deliveries. */
import { join, resolve } from 'node:path'
import { perform } from '../accounts/operation.ts'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { listAgeing } from '../ledger/ageing.ts'
import { lastIssuableMonth, listStatements } from '../ledger/statement-store.ts'
import { issueStatementsBy } from '../operator/payout-operations.ts'
import { badRequest, notFound } from '../platform/errors/api-errors.ts'
import { makeFolder } from '../platform/files/make-folder.ts'
import { replaceText } from '../platform/files/whole-file.ts'
import { formatExact } from '../platform/money/money.ts'
import { parseWebUrl } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestampOrNull, parseTimestamp } from '../platform/time/timestamp.ts'
import { deliverReports, readBucket } from '../reports/deliver-reports.ts'
import {
  deleteReportDelivery,
  listReportDeliveries,
  upsertReportDelivery,
} from '../reports/delivery-store.ts'
import { payoutFile } from '../reports/payout-file.ts'
import { statementPage } from '../reports/statement-page.ts'
import {
  findStatementDetail,
  statementCsv,
  toStatementRecord,
} from '../reports/statement-record.ts'
import { createWebhook } from '../webhooks/create-webhook.ts'
import { issueWithNotices } from '../webhooks/make-notices.ts'
import type { WebhookOwner } from '../webhooks/webhook.ts'
import { toWebhookRecord } from '../webhooks/webhook-schema.ts'
import {
  deleteWebhook,
  enableWebhook,
  listWebhooks,
  replayDelivery,
} from '../webhooks/webhook-store.ts'
import { requirePublisher } from './accounts.ts'
import { asShell } from './as-shell.ts'
import type { CommandContext } from './command.ts'

export async function issueStatementsCommand(context: CommandContext) {
  const db = await context.database()
  const issued = await issueStatements(context, db)
  return {
    issued: issued.map(({ datetime_created: _, datetime_updated: __, ...statement }) => statement),
  }
}

function issueStatements(context: CommandContext, db: Db) {
  const operation = issueStatementsBy((now) => issueWithNotices(db, now))
  return perform(operation, asShell(context, db))
}

export async function listStatementsCommand(
  context: CommandContext,
  { publisher }: { readonly publisher: string },
) {
  const db = await context.database()
  const { pub_id: pubId } = await requirePublisher(db, publisher)
  return (await listStatements(db, pubId)).map(toStatementRecord)
}

/** Writes a month's statement as CSV and as a page to print. */
export async function writeStatementCommand(
  context: CommandContext,
  options: { readonly publisher: string; readonly month: string; readonly out: string },
) {
  const month = requireMonth(options.month)
  const db = await context.database()
  const { pub_id: pubId, name, slug } = await requirePublisher(db, options.publisher)
  const statement = await findStatementDetail(db, { pubId, month })
  if (statement === null) throw notFound(`No statement of ${month} was issued to ${slug}`)
  await makeFolder(options.out)
  const files = [
    [join(options.out, `${slug}_statement_${month}.csv`), statementCsv(statement)],
    [join(options.out, `${slug}_statement_${month}.html`), statementPage(statement, name)],
  ] as const
  for (const [path, text] of files) await replaceText(path, text)
  return { ...statement, files: files.map(([path]) => path) }
}

/**
 * First issues statements that the nightly job has not: a payout file without them would miss
 * publishers.
 */
export async function payoutsCommand(
  context: CommandContext,
  options: { readonly month: string; readonly out: string },
) {
  const month = requireMonth(options.month)
  const db = await context.database() // The database's clock decides whether a month is over.
  const last = lastIssuableMonth(context.now())
  if (month > last) {
    const rule = `the last month that is over, for a day at least, is ${last}`
    throw badRequest([{ field: 'month', rule }])
  }
  await issueStatements(context, db)
  const { text, rows, totalMicros } = await payoutFile(db, month)
  await replaceText(options.out, text)
  return { path: options.out, rows, total_usd: formatExact(totalMicros) }
}

export async function ageingCommand(context: CommandContext) {
  return listAgeing(await context.database(), context.now())
}

/** Exactly one is given, see `oneOf` of the command. */
interface OwnerOptions {
  readonly publisher?: string
  readonly merchant?: number
}

async function ownerOf(context: CommandContext, options: OwnerOptions): Promise<WebhookOwner> {
  const db = await context.database()
  if (options.publisher !== undefined) {
    return { pubId: (await requirePublisher(db, options.publisher)).pub_id }
  }
  const merchant = await requireMerchant(db, options.merchant ?? 0)
  return { merchId: merchant.merch_id }
}

export async function createWebhookCommand(
  context: CommandContext,
  options: OwnerOptions & { readonly url: string; readonly event: readonly string[] },
) {
  const owner = await ownerOf(context, options)
  const { url, event: events } = options
  const { webhook, secret } = await createWebhook(await context.database(), { owner, url, events })
  return { ...toWebhookRecord(webhook), ...ownerFields(webhook), secret }
}

export async function listWebhooksCommand(context: CommandContext) {
  const found = await listWebhooks(await context.database(), null)
  return found.map((webhook) => ({ ...toWebhookRecord(webhook), ...ownerFields(webhook) }))
}

function ownerFields(webhook: { pub_id: number | null; merch_id: number | null }) {
  return { pub_id: webhook.pub_id, merch_id: webhook.merch_id }
}

export async function enableWebhookCommand(
  context: CommandContext,
  { webhook: webhookId }: { readonly webhook: number },
) {
  const db = await context.database()
  const webhook = await enableWebhook(db, { webhookId, owner: null, now: context.now() })
  if (webhook === null) throw notFound(`No webhook ${webhookId}`)
  return toWebhookRecord(webhook)
}

export async function deleteWebhookCommand(
  context: CommandContext,
  { webhook: webhookId }: { readonly webhook: number },
) {
  const db = await context.database()
  if (await deleteWebhook(db, { webhookId, owner: null })) return { webhook_id: webhookId }
  throw notFound(`No webhook ${webhookId}`)
}

export async function replayWebhookCommand(
  context: CommandContext,
  { delivery: deliveryId }: { readonly delivery: string },
) {
  const db = await context.database()
  const wanted = { deliveryId, owner: null, now: context.now() }
  if (!(await replayDelivery(db, wanted))) throw notFound(`No delivery ${deliveryId}`)
  return { delivery_id: deliveryId }
}

export async function createDeliveryCommand(
  context: CommandContext,
  options: {
    readonly publisher: string
    readonly to: string
    readonly endpoint?: string
    readonly region?: string
    readonly accessKey?: string
    readonly secretKey?: string
    readonly gzip?: boolean
  },
) {
  const db = await context.database()
  const { pub_id } = await requirePublisher(db, options.publisher)
  const target = readTarget(options)
  const delivery_id = await upsertReportDelivery(db, {
    pub_id,
    target,
    endpoint: options.endpoint ?? null,
    region: options.region ?? null,
    access_key: options.accessKey ?? null,
    secret_key: options.secretKey ?? null,
    is_gzip: options.gzip === true,
  })
  return { delivery_id, pub_id, target }
}

function readTarget(options: {
  readonly to: string
  readonly endpoint?: string
  readonly accessKey?: string
  readonly secretKey?: string
}): string {
  const { to, endpoint, accessKey, secretKey } = options
  if (!/^[a-z0-9]+:\/\//i.test(to)) return resolve(to)
  if (readBucket(to) === null) {
    throw badRequest([{ field: 'to', rule: 'must be a folder, or s3://bucket/prefix' }])
  }
  // In a file's URL they would lead into another bucket.
  if (to.split('/').some((part) => part === '.' || part === '..')) {
    throw badRequest([{ field: 'to', rule: 'must be a prefix without the parts . and ..' }])
  }
  if (accessKey === undefined || secretKey === undefined) {
    throw badRequest([{ field: 'access-key', rule: 'storage needs --access-key and --secret-key' }])
  }
  if (endpoint !== undefined && parseWebUrl(endpoint) === null) {
    throw badRequest([{ field: 'endpoint', rule: 'must be an http(s) address' }])
  }
  return to.replace(/\/$/, '')
}

export async function listDeliveriesCommand(context: CommandContext) {
  const found = await listReportDeliveries(await context.database())
  return found.map(({ access_key: _, secret_key: __, ...delivery }) => ({
    ...delivery,
    tried_at: formatTimestampOrNull(delivery.tried_at),
    delivered_at: formatTimestampOrNull(delivery.delivered_at),
  }))
}

export async function deleteDeliveryCommand(
  context: CommandContext,
  { delivery }: { readonly delivery: number },
) {
  if (await deleteReportDelivery(await context.database(), delivery)) {
    return { delivery_id: delivery }
  }
  throw notFound(`No delivery ${delivery}`)
}

/** Runs the schedule's work now. */
export async function runDeliveriesCommand(context: CommandContext) {
  const delivered = await deliverReports(await context.database(), context.now())
  return { deliveries: delivered }
}

function requireMonth(month: string): string {
  if (/^\d{4}-\d{2}$/.test(month) && parseTimestamp(`${month}-01`) !== null) return month
  throw badRequest([{ field: 'month', rule: 'must be a month such as 2026-03' }])
}
