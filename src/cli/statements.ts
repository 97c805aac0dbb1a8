/** Commands on statements, payouts, debts, webhooks and scheduled deliveries. */
import { join, resolve } from 'node:path'
import { toColumns, toOrganization } from '../accounts/membership-store.ts'
import { perform } from '../accounts/operation.ts'
import { organizationParams, pathOf } from '../accounts/organization-path.ts'
import type { Organization } from '../accounts/permission.ts'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { listAgeing } from '../ledger/ageing.ts'
import { lastIssuableMonth, listStatements } from '../ledger/statement-store.ts'
import { issueStatementsBy } from '../operator/payout-operations.ts'
import { badRequest, notFound } from '../platform/errors/api-errors.ts'
import { replaceText } from '../platform/files/atomic-file.ts'
import { makeFolder } from '../platform/files/make-folder.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestampOrNull, parseTimestamp } from '../platform/time/timestamp.ts'
import { deliverReports } from '../reports/deliver-reports.ts'
import {
  createReportDelivery,
  deleteReportDeliveryOf,
  runReportDeliveriesBy,
} from '../reports/delivery-operations.ts'
import { findReportDelivery, listReportDeliveries } from '../reports/delivery-store.ts'
import { payoutFile } from '../reports/payout-file.ts'
import { statementPage } from '../reports/statement-page.ts'
import {
  findStatementDetail,
  statementCsv,
  toStatementRecord,
} from '../reports/statement-record.ts'
import { issueWithNotices } from '../webhooks/make-notices.ts'
import {
  createWebhookOf,
  deleteWebhookOf,
  enableWebhookOf,
  replayDeliveryOf,
} from '../webhooks/webhook-operations.ts'
import { toWebhookRecord } from '../webhooks/webhook-schema.ts'
import {
  findWebhook,
  findWebhookOfDelivery,
  listWebhooks,
  type Webhook,
} from '../webhooks/webhook-store.ts'
import { requirePublisher } from './accounts.ts'
import { asShell, namingOptions } from './as-shell.ts'
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

async function ownerOf(db: Db, options: OwnerOptions): Promise<Organization> {
  if (options.publisher !== undefined) {
    return { kind: 'publisher', id: (await requirePublisher(db, options.publisher)).pub_id }
  }
  const merchant = await requireMerchant(db, options.merchant ?? 0)
  return { kind: 'merchant', id: merchant.merch_id }
}

export async function createWebhookCommand(
  context: CommandContext,
  options: OwnerOptions & { readonly url: string; readonly event: readonly string[] },
) {
  const db = await context.database()
  const organization = await ownerOf(db, options)
  const { url, event: events } = options
  const [created] = await perform(createWebhookOf(pathOf(organization.kind)), {
    ...asShell(context, db),
    params: organizationParams(organization),
    body: { url, events: [...events] },
  })
  const { datetime_updated: _, secret, ...webhook } = created as NonNullable<typeof created>
  return { ...webhook, ...toColumns(organization), secret }
}

export async function listWebhooksCommand(context: CommandContext) {
  const found = await listWebhooks(await context.database(), null)
  return found.map((webhook) => {
    const { datetime_updated: _, ...record } = toWebhookRecord(webhook)
    return { ...record, pub_id: webhook.pub_id, merch_id: webhook.merch_id }
  })
}

export async function enableWebhookCommand(
  context: CommandContext,
  { webhook: webhookId }: { readonly webhook: number },
) {
  const db = await context.database()
  const { path, params } = ownerPath(await findWebhook(db, { webhookId, owner: null }), {
    otherwise: `No webhook ${webhookId}`,
  })
  const call = { ...asShell(context, db), params: { ...params, webhook_id: webhookId } }
  const [enabled] = await perform(enableWebhookOf(path), call)
  const { datetime_updated: _, ...webhook } = enabled as NonNullable<typeof enabled>
  return webhook
}

export async function deleteWebhookCommand(
  context: CommandContext,
  { webhook: webhookId }: { readonly webhook: number },
) {
  const db = await context.database()
  const { path, params } = ownerPath(await findWebhook(db, { webhookId, owner: null }), {
    otherwise: `No webhook ${webhookId}`,
  })
  const call = { ...asShell(context, db), params: { ...params, webhook_id: webhookId } }
  await perform(deleteWebhookOf(path), call)
  return { webhook_id: webhookId }
}

export async function replayWebhookCommand(
  context: CommandContext,
  { delivery: deliveryId }: { readonly delivery: string },
) {
  const db = await context.database()
  const { path, params } = ownerPath(await findWebhookOfDelivery(db, deliveryId), {
    otherwise: `No delivery ${deliveryId}`,
  })
  const call = { ...asShell(context, db), params: { ...params, delivery_id: deliveryId } }
  await perform(replayDeliveryOf(path), call)
  return { delivery_id: deliveryId }
}

/** Commands name a webhook by its own id. */
function ownerPath(webhook: Webhook | null, { otherwise }: { readonly otherwise: string }) {
  if (webhook === null) throw notFound(otherwise)
  const organization = toOrganization(webhook)
  return { path: pathOf(organization.kind), params: organizationParams(organization) }
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
  const { to, endpoint = null, region = null, accessKey = null, secretKey = null } = options
  const call = {
    ...asShell(context, db),
    params: { pub_id },
    body: {
      target: /^[a-z0-9]+:\/\//i.test(to) ? to : resolve(to),
      ...{ endpoint, region, access_key: accessKey, secret_key: secretKey },
      is_gzip: options.gzip === true,
    },
  }
  const names = { target: 'to', access_key: 'access-key', secret_key: 'secret-key' }
  const [created] = await namingOptions(names, perform(createReportDelivery, call))
  return { delivery_id: created?.delivery_id, pub_id, target: created?.target }
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
  const db = await context.database()
  const found = await findReportDelivery(db, delivery)
  if (found === null) throw notFound(`No delivery ${delivery}`)
  const params = { pub_id: found.pub_id, delivery_id: delivery }
  await perform(deleteReportDeliveryOf, { ...asShell(context, db), params })
  return { delivery_id: delivery }
}

/** Runs the schedule's work now. */
export async function runDeliveriesCommand(context: CommandContext) {
  const db = await context.database()
  const operation = runReportDeliveriesBy((now) =>
    deliverReports(db, now, { allowPrivate: context.config.allowPrivateFetch }),
  )
  return { deliveries: await perform(operation, asShell(context, db)) }
}

function requireMonth(month: string): string {
  if (/^\d{4}-\d{2}$/.test(month) && parseTimestamp(`${month}-01`) !== null) return month
  throw badRequest([{ field: 'month', rule: 'must be a month such as 2026-03' }])
}
