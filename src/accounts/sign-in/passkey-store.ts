/** Passkeys in SQL. */
import type { Db } from '../../platform/postgres/postgres.ts'
import { sql } from '../../platform/postgres/sql.ts'

/** One for each device of a person, and some to spare. */
export const PASSKEYS_MAX = 20

export interface PasskeyRow {
  readonly passkey_id: number
  readonly credential_id: string
  readonly public_key: Buffer
  readonly counter: string
  readonly transports: readonly string[]
  readonly name: string
  readonly datetime_created: Date
  readonly datetime_updated: Date
  readonly datetime_last_used: Date | null
}

const COLUMNS = sql`passkey_id, credential_id, public_key, counter, transports, name,
  datetime_created, datetime_updated, datetime_last_used`

export function listPasskeys(db: Db, uid: number): Promise<PasskeyRow[]> {
  return db.rows(sql`select ${COLUMNS} from passkey where uid = ${uid} order by passkey_id`)
}

/** Null if the user has as many as allowed, or somebody has registered this one before. */
export async function insertPasskey(
  tx: Db,
  passkey: {
    readonly uid: number
    readonly credentialId: string
    readonly publicKey: Buffer
    readonly counter: number
    readonly transports: readonly string[]
    readonly name: string
    readonly now: Date
  },
): Promise<PasskeyRow | null> {
  await tx.run(sql`select from app_user where uid = ${passkey.uid} for no key update`)
  return tx.row(sql`
    insert into passkey (uid, credential_id, public_key, counter, transports, name,
      datetime_created, datetime_updated)
    select ${passkey.uid}, ${passkey.credentialId}, ${passkey.publicKey}, ${passkey.counter},
      ${passkey.transports}::text[], ${passkey.name}, ${passkey.now}::timestamptz,
      ${passkey.now}::timestamptz
    where (select count(*) from passkey where uid = ${passkey.uid}) < ${PASSKEYS_MAX}
    on conflict (credential_id) do nothing
    returning ${COLUMNS}`)
}

export async function updatePasskeyUse(
  tx: Db,
  { passkeyId, counter, now }: { passkeyId: number; counter: number; now: Date },
): Promise<void> {
  await tx.run(sql`
    update passkey set counter = ${counter}, datetime_last_used = ${now}
    where passkey_id = ${passkeyId}`)
}

/** The name of the one that was removed; null if the user has none with this id. */
export async function deletePasskey(
  tx: Db,
  { uid, passkeyId }: { uid: number; passkeyId: number },
): Promise<string | null> {
  const row = await tx.row<{ name: string }>(sql`
    delete from passkey where uid = ${uid} and passkey_id = ${passkeyId} returning name`)
  return row?.name ?? null
}

/** The challenge of the user's next registration; an earlier one no longer counts. */
export async function setRegistration(
  tx: Db,
  { uid, challenge, expiresAt }: { uid: number; challenge: string; expiresAt: Date },
): Promise<void> {
  await tx.run(sql`
    insert into passkey_registration (uid, challenge, expires_at)
    values (${uid}, ${challenge}, ${expiresAt})
    on conflict (uid) do update
    set challenge = excluded.challenge, expires_at = excluded.expires_at`)
}

/** Takes the live challenge of a user's registration; it works once. */
export async function takeRegistration(
  tx: Db,
  { uid, now }: { uid: number; now: Date },
): Promise<string | null> {
  const row = await tx.row<{ challenge: string }>(sql`
    delete from passkey_registration where uid = ${uid} and expires_at > ${now}
    returning challenge`)
  return row?.challenge ?? null
}
