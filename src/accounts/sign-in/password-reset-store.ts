/** Tokens that set a new password, in SQL. Only their hashes are stored. */
import { deleteWhere } from '../../platform/postgres/delete-in-batches.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { sql } from '../../platform/postgres/sql.ts'

/** More links than these in an hour only fill a mailbox. */
const LIVE_RESETS_MAX = 3

/** Stores a token; false if the user has as many as allowed, or is suspended. */
export async function insertReset(
  db: Db,
  reset: { tokenHash: Buffer; uid: number; expiresAt: Date; now: Date },
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into password_reset (token_hash, uid, expires_at)
    select ${reset.tokenHash}, uid, ${reset.expiresAt}::timestamptz from app_user
    where uid = ${reset.uid} and not is_suspended and (
      select count(*) < ${LIVE_RESETS_MAX} from password_reset
      where password_reset.uid = app_user.uid and expires_at > ${reset.now})`)
  return inserted === 1
}

/** The user of a live token; null for one that is unknown, used or expired. */
export async function findReset(
  db: Db,
  { tokenHash, now }: { tokenHash: Buffer; now: Date },
): Promise<number | null> {
  const row = await db.row<{ uid: number }>(sql`
    select uid from password_reset join app_user using (uid)
    where token_hash = ${tokenHash} and expires_at > ${now} and not is_suspended
    for update of password_reset`)
  return row?.uid ?? null
}

/** For a link that reached nobody. */
export async function deleteReset(db: Db, tokenHash: Buffer): Promise<void> {
  await db.run(sql`delete from password_reset where token_hash = ${tokenHash}`)
}

/** A new password makes every link of the user useless. */
export async function deleteResetsOf(db: Db, uid: number): Promise<void> {
  await db.run(sql`delete from password_reset where uid = ${uid}`)
}

export function deletePastResets(db: Db, now: Date): Promise<number> {
  return deleteWhere(db, 'password_reset', sql`expires_at < ${now}`)
}
