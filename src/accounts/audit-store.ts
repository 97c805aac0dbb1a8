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
import { toColumns } from './membership-store.ts'
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
}

/** Writes one entry, in the transaction of the change. */
export async function writeAudit(
  tx: Db,
  { caller, organization, requestId }: AuditContext,
  { action, target, before = null, after = null }: Change,
): Promise<void> {
  const { pub_id, merch_id } = toColumns(organization)
  const { through, uid } = caller
  const tokenId = through.kind === 'key' ? through.tokenId : null
  await tx.run(sql`
    insert into audit_entry (uid, through, token_id, pub_id, merch_id, action, target, before,
      after, request_id)
    values (${uid}, ${through.kind}, ${tokenId}, ${pub_id}, ${merch_id}, ${action}, ${target},
      ${toJson(before)}::jsonb, ${toJson(after)}::jsonb, ${requestId})`)
}

const toJson = (value: unknown) => (value === null ? null : JSON.stringify(value))

/** Deletes entries that are old enough. Returns their number. */
export function deletePastAudit(db: Db): Promise<number> {
  return deleteWhere(db, 'audit_entry', sql`at < now() - make_interval(days => ${AUDIT_DAYS})`)
}
