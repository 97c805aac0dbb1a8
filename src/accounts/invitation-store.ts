/** Invitations in SQL. Only the SHA-256 of a link's token is stored. */
import { deleteWhere } from '../platform/postgres/delete-in-batches.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { InvitationTimes } from './invitation.ts'
import { type OrganizationColumns, ofOrganization, toColumns } from './membership-store.ts'
import type { Organization, Role } from './permission.ts'

export interface InvitationRow extends InvitationTimes, OrganizationColumns {
  readonly invitation_id: number
  readonly email: string
  readonly role: Role
  readonly invited_by: number | null
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

const COLUMNS = sql`invitation_id, pub_id, merch_id, email, role, invited_by, datetime_created,
  datetime_updated, datetime_expires, datetime_accepted, datetime_withdrawn`
const IS_UNUSED = sql`datetime_accepted is null and datetime_withdrawn is null`

/** First key of the advisory lock; the second is an organization, hashed. */
const INVITE_LOCK = 0x1417

/** Until the transaction ends, nobody else invites to this organization. */
export async function lockInvitations(tx: Db, { kind, id }: Organization): Promise<void> {
  await tx.run(sql`
    select pg_advisory_xact_lock(${INVITE_LOCK}::int, hashtext(${`${kind} ${id}`}))`)
}

/** Invitations that are open, and all of the last 24 hours. */
export async function countInvitations(
  tx: Db,
  { organization, now }: { organization: Organization; now: Date },
): Promise<number> {
  const row = await tx.row<{ count: number }>(sql`
    select count(*)::int from invitation
    where ${ofOrganization(organization)}
      and ((${IS_UNUSED} and datetime_expires > ${now})
        or datetime_created > ${now}::timestamptz - interval '24 hours')`)
  return row?.count ?? 0
}

export async function insertInvitation(
  tx: Db,
  wanted: {
    readonly organization: Organization
    readonly email: string
    readonly role: Role
    readonly tokenHash: Buffer
    readonly invitedBy: number | null
    readonly now: Date
    readonly expiresAt: Date
  },
): Promise<InvitationRow> {
  const { pub_id, merch_id } = toColumns(wanted.organization)
  const row = await tx.row<InvitationRow>(sql`
    insert into invitation (pub_id, merch_id, email, role, token_hash, invited_by,
      datetime_created, datetime_updated, datetime_expires)
    values (${pub_id}, ${merch_id}, ${wanted.email}, ${wanted.role}, ${wanted.tokenHash},
      ${wanted.invitedBy}, ${wanted.now}, ${wanted.now}, ${wanted.expiresAt})
    returning ${COLUMNS}`)
  return row as InvitationRow
}

/** Withdraws what is open for an address: only the newest link works. Returns their ids. */
export async function withdrawEarlier(
  tx: Db,
  { organization, email, now }: { organization: Organization; email: string; now: Date },
): Promise<number[]> {
  const rows = await tx.rows<{ invitation_id: number }>(sql`
    update invitation set datetime_withdrawn = ${now}, datetime_updated = ${now}
    where ${ofOrganization(organization)} and lower(email) = lower(${email}) and ${IS_UNUSED}
    returning invitation_id`)
  return rows.map((row) => row.invitation_id)
}

/** A page of the invitations that were neither accepted nor withdrawn, the newest first. */
export function listInvitations(
  db: Db,
  {
    organization,
    before,
    limit,
  }: { organization: Organization; before: string | null; limit: number },
): Promise<InvitationRow[]> {
  return db.rows(sql`
    select ${COLUMNS} from invitation
    where ${ofOrganization(organization)} and ${IS_UNUSED}
      and (${before}::bigint is null or invitation_id < ${before}::bigint)
    order by invitation_id desc limit ${limit}`)
}

/** An organization's invitation, locked. */
export function lockInvitation(
  tx: Db,
  { organization, id }: { organization: Organization; id: number },
): Promise<InvitationRow | null> {
  return tx.row(sql`
    select ${COLUMNS} from invitation
    where invitation_id = ${id} and ${ofOrganization(organization)} for update`)
}

export function findInvitation(db: Db, tokenHash: Buffer): Promise<InvitationRow | null> {
  return db.row(sql`select ${COLUMNS} from invitation where token_hash = ${tokenHash}`)
}

/** The same, locked: of two who accept at once, the second sees that it was used. */
export function lockInvitationOf(tx: Db, tokenHash: Buffer): Promise<InvitationRow | null> {
  return tx.row(sql`select ${COLUMNS} from invitation where token_hash = ${tokenHash} for update`)
}

export async function setInvitationEnd(
  tx: Db,
  { id, state, now }: { id: number; state: 'accepted' | 'withdrawn'; now: Date },
): Promise<void> {
  const column = state === 'accepted' ? sql`datetime_accepted` : sql`datetime_withdrawn`
  await tx.run(sql`
    update invitation set ${column} = ${now}, datetime_updated = ${now}
    where invitation_id = ${id}`)
}

/** Deletes invitations that expired before a time. Returns their number. */
export function deletePastInvitations(db: Db, before: Date): Promise<number> {
  return deleteWhere(db, 'invitation', sql`datetime_expires < ${before}`)
}
