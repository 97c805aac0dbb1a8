/** Dashboard sessions in SQL. */
import { deleteWhere } from '../platform/postgres/delete-in-batches.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { type MembershipJson, membershipsOf } from './membership-store.ts'
import { USER_COLUMNS, type UserRow } from './store.ts'

export interface SessionRow {
  readonly session_id: number
  readonly user_agent: string
  readonly address: string
  readonly expires_at: Date
  readonly datetime_created: Date
  readonly datetime_last_used: Date
}

/**
 * Starts a session; false if the user is suspended, or has another password by now than the one
 * that was checked (null: none was).
 */
export async function insertSession(
  db: Db,
  session: {
    readonly tokenHash: Buffer
    readonly uid: number
    readonly passwordHash: string | null
    readonly expiresAt: Date
    readonly now: Date
    readonly userAgent: string
    readonly address: string
  },
): Promise<boolean> {
  const started = await db.run(sql`
    insert into dashboard_session (token_hash, uid, expires_at, datetime_created,
      datetime_last_used, user_agent, address)
    select ${session.tokenHash}, uid, ${session.expiresAt}::timestamptz,
      ${session.now}::timestamptz, ${session.now}::timestamptz, ${session.userAgent},
      ${session.address}
    from app_user
    where uid = ${session.uid} and not is_suspended
      and password_hash = coalesce(${session.passwordHash}, password_hash)
    for share
  `)
  return started === 1
}

/** The user of a live session, and its access. */
export function findSessionUser(
  db: Db,
  { tokenHash, now }: { tokenHash: Buffer; now: Date },
): Promise<(UserRow & SessionAccess) | null> {
  return db.row(sql`
    select session_id, datetime_last_used, ${membershipsOf(sql`app_user.uid`)} as memberships,
      ${USER_COLUMNS}
    from (select uid as session_uid, session_id, datetime_last_used from dashboard_session
      where token_hash = ${tokenHash} and expires_at > ${now}) as live
    join app_user on uid = session_uid
    where not is_suspended
  `)
}

interface SessionAccess {
  readonly session_id: number
  readonly datetime_last_used: Date
  readonly memberships: readonly MembershipJson[]
}

export async function updateSessionUse(
  db: Db,
  { sessionId, at }: { sessionId: number; at: Date },
): Promise<void> {
  await db.run(sql`
    update dashboard_session set datetime_last_used = greatest(datetime_last_used, ${at})
    where session_id = ${sessionId}`)
}

/** A user's live sessions, newest first. */
export function listSessions(
  db: Db,
  asked: { uid: number; now: Date; before: string | null; limit: number },
): Promise<SessionRow[]> {
  return db.rows(sql`
    select session_id, user_agent, address, expires_at, datetime_created, datetime_last_used
    from dashboard_session
    where uid = ${asked.uid} and expires_at > ${asked.now}
      and (${asked.before}::bigint is null or session_id < ${asked.before}::bigint)
    order by session_id desc limit ${asked.limit}`)
}

/** Ends one of a user's sessions; false if it is none of theirs. */
export async function deleteSessionOf(
  db: Db,
  { uid, sessionId }: { uid: number; sessionId: number },
): Promise<boolean> {
  const ended = await db.run(sql`
    delete from dashboard_session where uid = ${uid} and session_id = ${sessionId}`)
  return ended === 1
}

export async function deleteSessionsOf(db: Db, uid: number): Promise<void> {
  await db.run(sql`delete from dashboard_session where uid = ${uid}`)
}

export async function deleteSession(db: Db, tokenHash: Buffer): Promise<void> {
  await db.run(sql`delete from dashboard_session where token_hash = ${tokenHash}`)
}

/** Deletes expired sessions; returns how many were found. */
export function deletePastSessions(db: Db, now: Date): Promise<number> {
  return deleteWhere(db, 'dashboard_session', sql`expires_at < ${now}`)
}
