/** Webhooks and their deliveries in SQL. */
import { randomUUID } from 'node:crypto'
import { deleteWhere } from '../platform/postgres/delete-in-batches.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { type SentEvent, TEST_EVENT, type WebhookEvent, type WebhookOwner } from './webhook.ts'

export interface Webhook {
  readonly webhook_id: number
  readonly pub_id: number | null
  readonly merch_id: number | null
  readonly url: string
  readonly events: readonly WebhookEvent[]
  readonly state: 'active' | 'disabled'
  readonly failures: number
  readonly notice: string | null
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

const COLUMNS = sql`webhook_id, pub_id, merch_id, url, events, state, failures, notice,
  datetime_created, datetime_updated`
/** Of lists without pages. */
const ROWS_MAX = 1_000

/** Null means everybody's: the operator's view. */
function isOwn(owner: WebhookOwner | null): Sql {
  if (owner === null) return sql`true`
  return 'pubId' in owner ? sql`pub_id = ${owner.pubId}` : sql`merch_id = ${owner.merchId}`
}

export async function insertWebhook(
  db: Db,
  wanted: {
    readonly owner: WebhookOwner
    readonly url: string
    readonly secret: string
    readonly events: readonly WebhookEvent[]
  },
): Promise<Webhook> {
  const { owner, url, secret, events } = wanted
  const [pubId, merchId] = 'pubId' in owner ? [owner.pubId, null] : [null, owner.merchId]
  const row = await db.row<Webhook>(sql`
    insert into webhook (pub_id, merch_id, url, secret, events)
    values (${pubId}, ${merchId}, ${url}, ${secret}, ${events})
    returning ${COLUMNS}`)
  if (row === null) throw new Error('the webhook was not returned')
  return row
}

/** An owner's webhooks, or all of them. */
export function listWebhooks(db: Db, owner: WebhookOwner | null): Promise<Webhook[]> {
  return db.rows(sql`
    select ${COLUMNS} from webhook where ${isOwn(owner)} order by webhook_id limit ${ROWS_MAX}`)
}

/** A page of an owner's webhooks, the first ones first. */
export function listWebhookPage(
  db: Db,
  asked: { readonly owner: WebhookOwner; readonly after: string | null; readonly limit: number },
): Promise<Webhook[]> {
  return db.rows(sql`
    select ${COLUMNS} from webhook
    where ${isOwn(asked.owner)} and webhook_id > coalesce(${asked.after}::bigint, 0)
    order by webhook_id limit ${asked.limit}`)
}

/** A webhook; null if the owner has none with this id. */
export function findWebhook(
  db: Db,
  { webhookId, owner }: { readonly webhookId: number; readonly owner: WebhookOwner | null },
): Promise<Webhook | null> {
  return db.row(sql`
    select ${COLUMNS} from webhook where webhook_id = ${webhookId} and ${isOwn(owner)}`)
}

/** The webhook of a delivery; null if there is no such delivery. */
export function findWebhookOfDelivery(db: Db, deliveryId: string): Promise<Webhook | null> {
  return db.row(sql`
    select ${COLUMNS} from webhook
    where webhook_id = (
      select webhook_id from webhook_delivery where delivery_id = ${deliveryId})`)
}

/** Until the transaction ends, nobody else changes this owner or creates webhooks for it. */
export async function lockOwner(tx: Db, owner: WebhookOwner): Promise<void> {
  const row =
    'pubId' in owner
      ? sql`publisher where pub_id = ${owner.pubId}`
      : sql`merchant where merch_id = ${owner.merchId}`
  await tx.run(sql`select from ${row} for no key update`)
}

export async function countWebhooks(db: Db, owner: WebhookOwner): Promise<number> {
  const row = await db.row<{ count: string }>(sql`
    select count(*) from webhook where ${isOwn(owner)}`)
  return Number(row?.count)
}

/** False if the owner has no such webhook. */
export async function deleteWebhook(
  db: Db,
  { webhookId, owner }: { readonly webhookId: number; readonly owner: WebhookOwner | null },
): Promise<boolean> {
  const deleted = await db.run(sql`
    delete from webhook where webhook_id = ${webhookId} and ${isOwn(owner)}`)
  return deleted === 1
}

/** Enables a webhook and makes its waiting deliveries due; null if there is none. */
export function enableWebhook(
  db: Db,
  wanted: { readonly webhookId: number; readonly owner: WebhookOwner | null; readonly now: Date },
): Promise<Webhook | null> {
  return db.transaction(async (tx) => {
    const row = await tx.row<Webhook>(sql`
      update webhook set state = 'active', failures = 0, notice = null,
        datetime_updated = ${wanted.now}
      where webhook_id = ${wanted.webhookId} and ${isOwn(wanted.owner)}
      returning ${COLUMNS}`)
    if (row === null) return null
    await tx.run(sql`
      update webhook_delivery set due_at = ${wanted.now}, attempts = 0
      where webhook_id = ${row.webhook_id} and delivered_at is null`)
    return row
  })
}

export interface Notice {
  readonly event: WebhookEvent
  readonly key: string // Unique per notification.
  readonly pubId: number | null
  readonly merchId: number | null
  readonly payload: object
}

/**
 * Queues notifications for every active webhook of the parties that subscribes to them. Repeating
 * it does nothing.
 */
export async function queueNotices(db: Db, notices: readonly Notice[], now: Date): Promise<number> {
  if (notices.length === 0) return 0
  return db.run(sql`
    insert into webhook_delivery (webhook_id, event, notice_key, payload, created_at, due_at)
    select webhook_id, event, notice_key, payload, ${now}, ${now}
    from unnest(
      ${notices.map(({ event }) => event)}::text[],
      ${notices.map(({ key }) => key)}::text[],
      ${notices.map(({ pubId }) => pubId)}::int[],
      ${notices.map(({ merchId }) => merchId)}::int[],
      ${notices.map(({ payload }) => JSON.stringify(payload))}::jsonb[]
    ) as notice (event, notice_key, pub_id, merch_id, payload)
    join webhook on event = any (webhook.events) and state = 'active'
      and (webhook.pub_id = notice.pub_id or webhook.merch_id = notice.merch_id)
    -- Waits for a webhook that is just being deleted, so that the others still get their notices.
    for key share of webhook
    on conflict (webhook_id, notice_key) do nothing`)
}

/** Whether any active webhook exists. */
export async function hasWebhooks(db: Db): Promise<boolean> {
  return (await db.row(sql`select from webhook where state = 'active' limit 1`)) !== null
}

export interface DueDelivery {
  readonly delivery_id: string
  readonly webhook_id: number
  readonly pub_id: number | null
  readonly merch_id: number | null
  readonly event: SentEvent
  readonly payload: object
  readonly created_at: Date
  readonly url: string
  readonly secret: string
}

/**
 * Due deliveries: the oldest of each publisher and merchant first, then the second ones, and so on;
 * the same among an owner's webhooks. So a silent receiver blocks no other. Per owner, no more are
 * read than can be returned.
 */
export function listDueDeliveries(
  db: Db,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<DueDelivery[]> {
  return db.rows(sql`
    with due as (
      select delivery_id, pub_id, merch_id, due_at, turn
      from webhook cross join lateral (
        select delivery_id, due_at, row_number() over (order by due_at, delivery_id) as turn
        from webhook_delivery waiting
        where waiting.webhook_id = webhook.webhook_id and due_at <= ${now}
        order by due_at, delivery_id limit ${limit}
      ) as its_next
      where state = 'active'
    ), next as (
      select delivery_id, due_at, row_number() over (
          partition by pub_id, merch_id order by turn, due_at, delivery_id
        ) as place
      from due order by place, due_at, delivery_id limit ${limit}
    )
    select delivery_id, webhook_id, pub_id, merch_id, event, payload, created_at, url, secret
    from next join webhook_delivery using (delivery_id) join webhook using (webhook_id)
    order by place, next.due_at, delivery_id`)
}

/**
 * Takes a delivery for one attempt; returns the number of earlier attempts. No other run takes it
 * before `until`. Null if it is no longer due: another run has it, or it or its webhook is gone or
 * disabled.
 */
export async function takeDelivery(
  db: Db,
  wanted: { readonly deliveryId: string; readonly now: Date; readonly until: Date },
): Promise<number | null> {
  const taken = await db.row<{ attempts: number }>(sql`
    update webhook_delivery set due_at = ${wanted.until} from webhook
    where delivery_id = ${wanted.deliveryId} and due_at <= ${wanted.now}
      and webhook.webhook_id = webhook_delivery.webhook_id and state = 'active'
    returning attempts`)
  return taken?.attempts ?? null
}

export interface AttemptResult {
  readonly deliveryId: string
  readonly takenUntil: Date
  readonly webhookId: number
  readonly now: Date
  readonly status: number | null
  readonly error: string | null // Null if delivered.
  readonly dueAt: Date | null // The time of the next attempt; null if none.
}

/**
 * Records the result of an attempt; returns the webhook's consecutive failures. A replay that was
 * requested meanwhile stays due.
 */
export async function recordAttempt(db: Db, result: AttemptResult): Promise<number> {
  const isDelivered = result.error === null
  await db.run(sql`
    update webhook_delivery set attempts = attempts + 1, status = ${result.status},
      error = ${result.error}, due_at = ${result.dueAt},
      delivered_at = ${isDelivered ? result.now : null}
    where delivery_id = ${result.deliveryId} and due_at = ${result.takenUntil}`)
  const row = await db.row<{ failures: number }>(sql`
    update webhook set failures = case when ${isDelivered} then 0 else failures + 1 end
    where webhook_id = ${result.webhookId} returning failures`)
  return row?.failures ?? 0
}

/** Disables a webhook and records why; false if it was disabled already. */
export async function disableWebhook(
  db: Db,
  { webhookId, notice }: { readonly webhookId: number; readonly notice: string },
): Promise<boolean> {
  const switched = await db.run(sql`
    update webhook set state = 'disabled', notice = ${notice}, datetime_updated = now()
    where webhook_id = ${webhookId} and state = 'active'`)
  return switched === 1
}

/** Queues an event that only shows whether the receiver works; returns its delivery. */
export function queueTest(
  db: Db,
  { webhookId, now }: { readonly webhookId: number; readonly now: Date },
): Promise<DeliveryRow | null> {
  const payload = { message: 'A test event. Nothing happened.' }
  return db.row(sql`
    insert into webhook_delivery (webhook_id, event, notice_key, payload, created_at, due_at)
    values (${webhookId}, ${TEST_EVENT}, ${`test ${randomUUID()}`}, ${JSON.stringify(payload)},
      ${now}, ${now})
    returning delivery_id, event, created_at, attempts, delivered_at, due_at, status, error,
      payload`)
}

export interface DeliveryRow {
  readonly delivery_id: string
  readonly event: SentEvent
  readonly created_at: Date
  readonly attempts: number
  readonly delivered_at: Date | null
  readonly due_at: Date | null
  readonly status: number | null
  readonly error: string | null
  readonly payload: object
}

/** A page of the deliveries of an owner's webhook, newest first. */
export function listDeliveries(
  db: Db,
  asked: {
    readonly webhookId: number
    readonly owner: WebhookOwner | null
    readonly before?: string | null
    readonly limit?: number
  },
): Promise<DeliveryRow[]> {
  const { webhookId, owner, before = null, limit = ROWS_MAX } = asked
  return db.rows(sql`
    select delivery_id, event, created_at, attempts, delivered_at, due_at, status, error, payload
    from webhook_delivery join webhook using (webhook_id)
    where webhook_id = ${webhookId} and ${isOwn(owner)}
      and (${before}::bigint is null or delivery_id < ${before}::bigint)
    order by delivery_id desc limit ${limit}`)
}

/** Makes a delivery due again, unchanged. Returns its webhook; null if the owner has none such. */
export async function replayDelivery(
  db: Db,
  wanted: { readonly deliveryId: string; readonly owner: WebhookOwner | null; readonly now: Date },
): Promise<number | null> {
  const row = await db.row<Pick<Webhook, 'webhook_id'>>(sql`
    update webhook_delivery set due_at = ${wanted.now}, attempts = 0, delivered_at = null
    from webhook
    where webhook.webhook_id = webhook_delivery.webhook_id
      and delivery_id = ${wanted.deliveryId} and ${isOwn(wanted.owner)}
    returning webhook.webhook_id`)
  return row?.webhook_id ?? null
}

/**
 * Deletes deliveries created before `before`; returns how many. Waiting ones belong to webhooks
 * disabled as long ago.
 */
export function deleteOldDeliveries(db: Db, before: Date): Promise<number> {
  return deleteWhere(db, 'webhook_delivery', sql`created_at < ${before}`)
}
