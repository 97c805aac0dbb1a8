/**
 * The audit log: who changed what, through what, and how it was before and after.
 *
 * An entry is written in the transaction of its change. The database refuses to change entries, and
 * to delete them before they are 400 days old.
 */
import { deleteWhere } from '../platform/postgres/delete-in-batches.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { Caller } from './caller.ts'
import { type OrganizationColumns, ofOrganization, toColumns } from './membership-store.ts'
import type { Organization } from './permission.ts'

/** The same as in the trigger `refuse_audit_change`. */
export const AUDIT_DAYS = 400

export interface Change {
  /** Subject and verb, such as `campaign.update`. */
  readonly action: string
  /** What was changed, such as `campaign:7`. */
  readonly target: string
  /** The record or the changed fields; null where there was none. Never a secret. */
  readonly before?: unknown
  readonly after?: unknown
}

export interface AuditContext {
  readonly caller: Caller
  readonly organization: Organization
  readonly requestId: string | null
  /** Only of a generated history; every other entry has the database's time. */
  readonly at?: Date | undefined
}

/** Writes one entry, in the transaction of the change. */
export async function writeAudit(
  tx: Db,
  { caller, organization, requestId, at }: AuditContext,
  { action, target, before = null, after = null }: Change,
): Promise<void> {
  const { pub_id, merch_id } = toColumns(organization)
  const { through, uid } = caller
  const tokenId = through.kind === 'key' ? through.tokenId : null
  await tx.run(sql`
    insert into audit_entry (uid, through, token_id, pub_id, merch_id, action, target, before,
      after, request_id, at)
    values (${uid}, ${through.kind}, ${tokenId}, ${pub_id}, ${merch_id}, ${action}, ${target},
      ${toJson(before)}::jsonb, ${toJson(after)}::jsonb, ${requestId},
      coalesce(${at ?? null}::timestamptz, now()))`)
}

const toJson = (value: unknown) => (value === null ? null : JSON.stringify(value))

export interface AuditRow extends OrganizationColumns {
  readonly audit_id: string
  readonly at: Date
  readonly uid: number | null
  readonly email: string | null
  readonly through: Caller['through']['kind']
  readonly token_id: number | null
  readonly action: string
  readonly target: string
  readonly before: unknown
  readonly after: unknown
  readonly request_id: string | null
}

/** A page of an organization's entries, the newest first; for the network, of all entries. */
export function listAudit(
  db: Db,
  asked: {
    readonly organization: Organization
    /** UTC days, both inclusive. */
    readonly from: string | null
    readonly to: string | null
    /** An action, or the subject of several. */
    readonly action: string | null
    /** A uid, or an e-mail address. */
    readonly user: string | null
    readonly before: string | null
    readonly limit: number
  },
): Promise<AuditRow[]> {
  const { organization, from, to, action, user } = asked
  const whose = organization.kind === 'network' ? sql`true` : ofOrganization(organization)
  return db.rows(sql`
    select audit_id, at, uid, (select email from app_user where app_user.uid = audit_entry.uid),
      through, token_id, pub_id, merch_id, action, target, before, after, request_id
    from audit_entry
    where ${whose}
      and (${from}::date is null or at >= ${from}::date)
      and (${to}::date is null or at < ${to}::date + 1)
      and (${action}::text is null or action = ${action} or starts_with(action, ${action} || '.'))
      and (${user}::text is null or uid in (
        select app_user.uid from app_user
        where app_user.uid::text = ${user} or lower(email) = lower(${user})))
      and (${asked.before}::bigint is null or audit_id < ${asked.before}::bigint)
    order by audit_id desc limit ${asked.limit}`)
}

/** Deletes entries that are old enough. Returns their number. */
export function deletePastAudit(db: Db): Promise<number> {
  return deleteWhere(db, 'audit_entry', sql`at < now() - make_interval(days => ${AUDIT_DAYS})`)
}
