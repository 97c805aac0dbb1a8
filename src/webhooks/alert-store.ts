/** Alerts in SQL: settings, events, events already sent, and messages for webhooks. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { type AlertEvent, type AlertKind, type AlertSettings, quietDaysOf } from './alert.ts'

export interface AlertRow extends AlertSettings {
  readonly createdAt: Date | null
  readonly updatedAt: Date | null
}

export async function readAlerts(db: Db, pubId: number): Promise<AlertRow> {
  const row = await db.row<{
    kinds: AlertKind[]
    webhook_url: string | null
    emails: string[]
    datetime_created: Date
    datetime_updated: Date
  }>(sql`
    select kinds, webhook_url, datetime_created, datetime_updated, coalesce((
      select array_agg(email order by email) from alert_email where alert_email.pub_id = s.pub_id
    ), '{}') as emails
    from alert_setting s where pub_id = ${pubId}`)
  return {
    kinds: row?.kinds ?? [],
    emails: row?.emails ?? [],
    webhookUrl: row?.webhook_url ?? null,
    createdAt: row?.datetime_created ?? null,
    updatedAt: row?.datetime_updated ?? null,
  }
}

/** Addresses that stay keep their token, so that links in earlier messages work. */
export async function saveAlerts(
  tx: Db,
  { pubId, settings, newToken }: { pubId: number; settings: AlertSettings; newToken: () => string },
): Promise<void> {
  const { kinds, emails, webhookUrl } = settings
  await tx.run(sql`
    insert into alert_setting (pub_id, kinds, webhook_url)
    values (${pubId}, ${kinds}::text[], ${webhookUrl})
    on conflict (pub_id) do update set kinds = excluded.kinds,
      webhook_url = excluded.webhook_url, datetime_updated = now()`)
  await tx.run(sql`
    delete from alert_email where pub_id = ${pubId} and email <> all(${emails}::text[])`)
  await tx.run(sql`
    insert into alert_email (pub_id, email, token)
    select ${pubId}, email, token
    from unnest(${emails}::text[], ${emails.map(() => newToken())}::text[]) as given (email, token)
    on conflict (pub_id, email) do nothing`)
}

/** Whose messages a token ends; null for an unknown one. */
export function findSubscription(
  db: Db,
  token: string,
): Promise<{ readonly pub_id: number; readonly email: string; readonly name: string } | null> {
  return db.row(sql`
    select pub_id, email, name from alert_email join publisher using (pub_id)
    where token = ${token}`)
}

/** True if the token was known. */
export async function unsubscribe(db: Db, token: string): Promise<boolean> {
  return (await db.run(sql`delete from alert_email where token = ${token}`)) > 0
}

export interface Subscriber {
  readonly pub_id: number
  readonly name: string
  readonly kinds: readonly AlertKind[]
  readonly webhook_url: string | null
  readonly emails: readonly { readonly email: string; readonly token: string }[]
}

/** Publishers that want messages and have somewhere to send them. */
export function listSubscribers(db: Db): Promise<Subscriber[]> {
  return db.rows(sql`
    select s.pub_id, p.name, kinds, webhook_url, coalesce((
      select json_agg(json_build_object('email', email, 'token', token) order by email)
      from alert_email e where e.pub_id = s.pub_id
    ), '[]') as emails
    from alert_setting s join publisher p using (pub_id)
    where cardinality(kinds) > 0
      and (webhook_url is not null or exists (select from alert_email e where e.pub_id = s.pub_id))
    order by s.pub_id`)
}

/** Writes down what only its witness sees; nothing where nobody wants to know. */
export async function addAlertEvents(
  db: Db,
  { pubIds, event, at }: { pubIds: readonly number[]; event: AlertEvent; at: Date },
): Promise<void> {
  await db.run(sql`
    insert into alert_event (pub_id, kind, key, line, at)
    select pub_id, ${event.kind}, ${event.key}, ${event.line}, ${at}
    from alert_setting where pub_id = any(${pubIds}::int[]) and ${event.kind} = any(kinds)`)
}

/** Takes what was written down. */
export function takeAlertEvents(tx: Db, pubId: number): Promise<AlertEvent[]> {
  return tx.rows(sql`
    delete from alert_event where pub_id = ${pubId} returning kind, key, line`)
}

/** Events that have not been sent lately; they count as sent from now on. */
export async function takeUnsent(
  tx: Db,
  {
    pubId,
    kind,
    events,
    now,
  }: { pubId: number; kind: AlertKind; events: readonly AlertEvent[]; now: Date },
): Promise<AlertEvent[]> {
  if (events.length === 0) return []
  const before = new Date(now.getTime() - quietDaysOf(kind) * DAY_MS)
  const rows = await tx.rows<{ key: string }>(sql`
    insert into sent_alert as sent (pub_id, kind, key, at)
    select distinct ${pubId}::int, ${kind}, key, ${now}::timestamptz
    from unnest(${events.map(({ key }) => key)}::text[]) as event (key)
    on conflict (pub_id, kind, key) do update set at = excluded.at where sent.at <= ${before}
    returning key`)
  const fresh = new Set(rows.map(({ key }) => key))
  return events.filter(({ key }) => fresh.delete(key))
}

/** Links that stopped earning in the last day, other than those that somebody disabled. */
export function listStoppedLinks(
  db: Db,
  { pubId, since }: { readonly pubId: number; readonly since: Date },
): Promise<
  {
    readonly auction_id: string
    readonly health: string
    readonly risk_micros: string
    readonly url: string
    readonly article_name: string
  }[]
> {
  return db.rows(sql`
    select auction_id, health, risk_micros, coalesce(l.url, a.url) as url, a.name as article_name
    from link_health h join smart_link l using (auction_id)
    join article a on a.article_id = l.article_id
    where h.pub_id = ${pubId} and risk_micros > 0 and since >= ${since} and health <> 'disabled'
    order by risk_micros desc, auction_id`)
}

/** Merchants that the publisher earned with since then, and whether they sell anything now. */
export function listEarningMerchants(
  db: Db,
  { pubId, dayFrom }: { readonly pubId: number; readonly dayFrom: string },
): Promise<{ readonly merch_id: number; readonly name: string; readonly is_empty: boolean }[]> {
  return db.rows(sql`
    select merch_id, name, feed_imported_at is not null and not exists (
      select from current_offer o where o.merch_id = merchant.merch_id and is_in_stock
    ) as is_empty
    from merchant where merch_id in (
      select merch_id from stats_day
      where pub_id = ${pubId} and day >= ${dayFrom} and earnings_micros > 0
    ) order by merch_id`)
}

export function listReadyPayouts(
  db: Db,
  { pubId, since }: { readonly pubId: number; readonly since: Date },
): Promise<{ readonly month: string; readonly payout_micros: string }[]> {
  return db.rows(sql`
    select month, payout_micros from statement
    where pub_id = ${pubId} and payout_micros > 0 and issued_at >= ${since} order by month`)
}

/** The last report of a tag that reported since then. */
export async function findLastTagReport(
  db: Db,
  { pubId, dayFrom }: { readonly pubId: number; readonly dayFrom: string },
): Promise<Date | null> {
  const row = await db.row<{ at: Date | null }>(sql`
    select max(last_at) as at from tag_day where pub_id = ${pubId} and day >= ${dayFrom}`)
  return row?.at ?? null
}

export async function addPost(
  tx: Db,
  { pubId, body, now }: { pubId: number; body: object; now: Date },
): Promise<void> {
  await tx.run(sql`
    insert into alert_post (pub_id, body, due_at)
    values (${pubId}, ${JSON.stringify(body)}::jsonb, ${now})`)
}

export interface DuePost {
  readonly alert_post_id: string
  readonly webhook_url: string
  readonly body: object
  readonly attempts: number
}

/** Due messages; those of a publisher without a webhook are dropped. */
export async function takeDuePosts(db: Db, now: Date): Promise<DuePost[]> {
  await db.run(sql`
    delete from alert_post p where not exists (
      select from alert_setting s where s.pub_id = p.pub_id and webhook_url is not null)`)
  return db.rows(sql`
    update alert_post p set attempts = attempts + 1,
      due_at = ${now}::timestamptz + make_interval(mins => 15 * (1 << least(attempts, 10)))
    from alert_setting s
    where s.pub_id = p.pub_id and due_at <= ${now}
    returning alert_post_id, webhook_url, body, attempts`)
}

export async function deletePost(db: Db, alertPostId: string): Promise<void> {
  await db.run(sql`delete from alert_post where alert_post_id = ${alertPostId}`)
}
