/** Second factors other than passkeys, and half-done sign-ins, in SQL. */
import { deleteWhere } from '../../platform/postgres/delete-in-batches.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { sql } from '../../platform/postgres/sql.ts'

export interface Factors {
  readonly totp: boolean
  readonly passkeys: number
  readonly recovery_codes: number
}

export async function readFactors(db: Db, uid: number): Promise<Factors> {
  const row = await db.row<Factors>(sql`
    select exists (select from totp where uid = ${uid} and is_confirmed) as totp,
      (select count(*)::int from passkey where uid = ${uid}) as passkeys,
      (select count(*)::int from recovery_code where uid = ${uid}) as recovery_codes`)
  return row ?? { totp: false, passkeys: 0, recovery_codes: 0 }
}

/** Removes every second factor of a user; returns those that there were. */
export async function deleteFactors(tx: Db, uid: number): Promise<Factors> {
  const before = await readFactors(tx, uid)
  for (const table of [sql`totp`, sql`passkey`, sql`recovery_code`, sql`sign_in_challenge`]) {
    await tx.run(sql`delete from ${table} where uid = ${uid}`)
  }
  return before
}

/** Recovery codes replace a factor; without one they open nothing. */
export async function deleteUselessCodes(tx: Db, uid: number): Promise<void> {
  const { totp, passkeys } = await readFactors(tx, uid)
  if (!totp && passkeys === 0) await tx.run(sql`delete from recovery_code where uid = ${uid}`)
}

export interface TotpRow {
  readonly secret: string
  readonly is_confirmed: boolean
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

/** Stores a secret that is not confirmed yet; null if the user has a confirmed one. */
export function insertTotp(
  tx: Db,
  { uid, secret, now }: { uid: number; secret: string; now: Date },
): Promise<TotpRow | null> {
  return tx.row(sql`
    insert into totp (uid, secret, datetime_created, datetime_updated)
    values (${uid}, ${secret}, ${now}, ${now})
    on conflict (uid) do update set secret = excluded.secret,
      datetime_created = excluded.datetime_created, datetime_updated = excluded.datetime_updated
    where not totp.is_confirmed
    returning secret, is_confirmed, datetime_created, datetime_updated`)
}

export function findTotp(db: Db, uid: number): Promise<TotpRow | null> {
  return db.row(sql`
    select secret, is_confirmed, datetime_created, datetime_updated from totp where uid = ${uid}`)
}

/**
 * Uses the code of a time step; false if this or a later one was used before. Confirms the secret.
 */
export async function spendTotpStep(
  tx: Db,
  { uid, step, now }: { uid: number; step: number; now: Date },
): Promise<boolean> {
  const used = await tx.run(sql`
    update totp set last_step = ${step}, is_confirmed = true,
      datetime_updated = case when is_confirmed then datetime_updated else ${now} end
    where uid = ${uid} and last_step < ${step}`)
  return used === 1
}

/** False if there was no secret. */
export async function deleteTotp(tx: Db, uid: number): Promise<boolean> {
  return (await tx.run(sql`delete from totp where uid = ${uid}`)) === 1
}

export async function replaceRecoveryCodes(
  tx: Db,
  { uid, hashes }: { uid: number; hashes: readonly Buffer[] },
): Promise<void> {
  // Two replacements at once would leave the codes of both.
  await tx.run(sql`select from app_user where uid = ${uid} for no key update`)
  await tx.run(sql`delete from recovery_code where uid = ${uid}`)
  for (const codeHash of hashes) {
    await tx.run(sql`insert into recovery_code (uid, code_hash) values (${uid}, ${codeHash})`)
  }
}

/** Uses up a code; false if the user has none with this hash. */
export async function spendRecoveryCode(
  tx: Db,
  { uid, codeHash }: { uid: number; codeHash: Buffer },
): Promise<boolean> {
  const used = await tx.run(sql`
    delete from recovery_code where uid = ${uid} and code_hash = ${codeHash}`)
  return used === 1
}

/** A sign-in that waits for its second factor. */
export interface ChallengeRow {
  readonly uid: number
  readonly password_hash: string
  readonly passkey_challenge: string
}

export async function insertChallenge(
  db: Db,
  challenge: {
    readonly tokenHash: Buffer
    readonly uid: number
    readonly passwordHash: string
    readonly passkeyChallenge: string
    readonly expiresAt: Date
  },
): Promise<void> {
  await db.run(sql`
    insert into sign_in_challenge (token_hash, uid, password_hash, passkey_challenge, expires_at)
    values (${challenge.tokenHash}, ${challenge.uid}, ${challenge.passwordHash},
      ${challenge.passkeyChallenge}, ${challenge.expiresAt})`)
}

/** The live challenge of a token; null if there is none. */
export function findChallenge(
  db: Db,
  { tokenHash, now }: { tokenHash: Buffer; now: Date },
): Promise<ChallengeRow | null> {
  return db.row(sql`
    select uid, password_hash, passkey_challenge from sign_in_challenge
    where token_hash = ${tokenHash} and expires_at > ${now}`)
}

/** False if somebody else has used it meanwhile. */
export async function deleteChallenge(tx: Db, tokenHash: Buffer): Promise<boolean> {
  return (await tx.run(sql`delete from sign_in_challenge where token_hash = ${tokenHash}`)) === 1
}

/** Deletes half-done sign-ins and registrations that have expired. */
export async function deletePastChallenges(db: Db, now: Date): Promise<void> {
  await deleteWhere(db, 'sign_in_challenge', sql`expires_at < ${now}`)
  await deleteWhere(db, 'passkey_registration', sql`expires_at < ${now}`)
}
