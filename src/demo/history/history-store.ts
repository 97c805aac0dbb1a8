/** The parts of a generated history that only SQL can date, because the database's clock does. */
import type { Db } from '../../platform/postgres/postgres.ts'
import { identifier, sql } from '../../platform/postgres/sql.ts'

/** Rows that exist when a history starts, and that the database has just dated. */
const DATED = ['app_user', 'publisher', 'merchant', 'campaign', 'membership', 'api_key'] as const

/** Says of all rows so far that they were created at this time. */
export async function dateNetwork(db: Db, at: Date): Promise<void> {
  for (const table of DATED) {
    await db.run(sql`
      update ${identifier(table)} set datetime_created = ${at}, datetime_updated = ${at}`)
  }
  await db.run(sql`update feed_run set started_at = ${at}, alive_at = ${at}, ended_at = ${at}`)
}

/** Says of a campaign, a link or a webhook when it was created or changed. */
export async function dateCampaign(
  db: Db,
  campaignId: number,
  { createdAt, updatedAt }: { readonly createdAt: Date | null; readonly updatedAt: Date },
): Promise<void> {
  await db.run(sql`
    update campaign set datetime_created = coalesce(${createdAt}::timestamptz, datetime_created),
      datetime_updated = ${updatedAt}
    where campaign_id = ${campaignId}`)
}

export async function dateLinkChange(db: Db, auctionId: string, at: Date): Promise<void> {
  await db.run(sql`
    update smart_link set datetime_updated = ${at} where auction_id = ${auctionId}`)
}

export async function dateWebhook(db: Db, webhookId: number, at: Date): Promise<void> {
  await db.run(sql`update webhook set datetime_created = ${at} where webhook_id = ${webhookId}`)
}

/** Says when an import of a feed ran. */
export async function dateImport(db: Db, importId: string, at: Date): Promise<void> {
  await db.run(sql`
    update feed_run set started_at = ${at}, alive_at = ${at}, ended_at = ${at}
    where import_id = ${importId}`)
}

/** Wakes the fold at once; the log does so twenty times a second at most. */
export async function wakeFold(db: Db): Promise<void> {
  await db.run(sql`select pg_notify('event_appended', 'history ' || string_agg(lane::text, ','))
    from lane`)
}
