/** Users and API keys in SQL. */

import type { Fault } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { refusingTaken } from '../platform/postgres/refuse-taken.ts'
import { LIST_ROWS_MAX, sql } from '../platform/postgres/sql.ts'
import {
  deleteMembership,
  type MembershipJson,
  membershipsOf,
  setMembership,
  toColumns,
} from './membership-store.ts'
import { NETWORK, type Organization, type Permission } from './permission.ts'

export interface UserRow {
  readonly uid: number
  readonly email: string
  readonly name: string
  readonly is_admin: boolean // Whether the user is an administrator of the network.
  readonly is_suspended: boolean
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

/** An API key without the key: neither it nor its hash leaves the store. */
export interface ApiKeyRow {
  readonly token_id: number
  readonly uid: number
  readonly description: string
  readonly datetime_created: Date
  readonly datetime_updated: Date
  readonly datetime_active: Date
  readonly datetime_expires: Date | null
  readonly datetime_last_used: Date | null
  readonly is_enabled_by_user: boolean
  readonly scopes: readonly Permission[] | null // null: all permissions of the user
  readonly pub_id: number | null // The publisher that the key is bound to.
  readonly merch_id: number | null // The merchant that the key is bound to.
  readonly is_of_network: boolean // Whether the key is bound to the network.
}

/** A usable key and the memberships of its user. */
export interface KeyHolderRow extends ApiKeyRow {
  readonly memberships: readonly MembershipJson[]
}

const IS_ADMIN = sql`
  exists (select from membership m where m.uid = app_user.uid and m.role = 'admin') as is_admin`
export const USER_COLUMNS = sql`uid, email, name, datetime_created, datetime_updated, is_suspended,
  ${IS_ADMIN}`
export const KEY_COLUMNS = sql`token_id, uid, description, datetime_created, datetime_updated,
  datetime_active, datetime_expires, datetime_last_used, is_enabled_by_user, scopes, pub_id,
  merch_id, is_of_network`

/** Throws a 400 that names `email` if another user has the address, in any case. */
export async function insertUser(
  db: Db,
  user: { email: string; passwordHash: string; isAdmin: boolean; name?: string },
): Promise<UserRow> {
  const { name = '' } = user
  const insert = () =>
    db.transaction(async (tx) => {
      const row = await tx.row<UserRow>(sql`
        insert into app_user (email, password_hash, name)
        values (${user.email}, ${user.passwordHash}, ${name})
        returning ${USER_COLUMNS}
      `)
      if (row === null || !user.isAdmin) return row
      await setMembership(tx, { uid: row.uid, organization: NETWORK, role: 'admin' })
      return { ...row, is_admin: true }
    })
  const row = await refusingTaken(insert, () => takenEmail(user.email))
  return row as UserRow
}

/**
 * Changes the given fields; null if the user does not exist. A new password ends the user's
 * sessions, except the one that is named.
 */
export function updateUser(
  db: Db,
  user: {
    readonly uid: number
    readonly email: string | null
    readonly passwordHash: string | null
    readonly isAdmin: boolean | null
    readonly name?: string | undefined
    /** The session that changes its own password, and goes on. */
    readonly sessionId?: number | undefined
  },
): Promise<UserRow | null> {
  const update = () =>
    db.transaction(async (tx) => {
      const row = await tx.row<UserRow>(sql`
        update app_user set email = coalesce(${user.email}, email),
          name = coalesce(${user.name ?? null}, name),
          password_hash = coalesce(${user.passwordHash}, password_hash), datetime_updated = now()
        where uid = ${user.uid}
        returning ${USER_COLUMNS}
      `)
      if (row === null) return null
      // After the update: a sign-in that had read the old row has started its session by now.
      if (user.passwordHash !== null) {
        const kept = user.sessionId ?? null
        await tx.run(sql`
          delete from dashboard_session
          where uid = ${user.uid} and session_id is distinct from ${kept}`)
      }
      const admin = { uid: user.uid, organization: NETWORK }
      if (user.isAdmin === true) await setMembership(tx, { ...admin, role: 'admin' })
      if (user.isAdmin === false) await deleteMembership(tx, admin)
      return { ...row, is_admin: user.isAdmin ?? row.is_admin }
    })
  return refusingTaken(update, () => takenEmail(user.email))
}

const takenEmail = (email: string | null): Fault => {
  return { field: 'email', rule: `another user has ${email}` }
}

export function findUserByEmail(
  db: Db,
  email: string,
): Promise<(UserRow & { password_hash: string }) | null> {
  return db.row(sql`
    select ${USER_COLUMNS}, password_hash from app_user where lower(email) = lower(${email})
  `)
}

export function findUser(db: Db, uid: number): Promise<UserRow | null> {
  return db.row(sql`select ${USER_COLUMNS} from app_user where uid = ${uid}`)
}

export function listUsers(db: Db): Promise<UserRow[]> {
  return db.rows(sql`select ${USER_COLUMNS} from app_user order by uid limit ${LIST_ROWS_MAX}`)
}

/** A person needs a handful; a program that creates one per run has a bug. */
export const KEYS_PER_USER_MAX = 100

/**
 * Stores a key; null if the user has as many working keys as allowed. The lock on the user
 * serializes counting and adding.
 */
export function insertApiKey(
  db: Db,
  key: {
    readonly uid: number
    readonly description: string
    readonly keyHash: Buffer
    readonly expiresAt: Date | null
    readonly scopes: readonly Permission[] | null
    readonly boundTo: Organization | null
  },
): Promise<ApiKeyRow | null> {
  const { pub_id, merch_id } = toColumns(key.boundTo ?? NETWORK)
  const isOfNetwork = key.boundTo?.kind === 'network'
  return db.transaction(async (tx) => {
    await tx.run(sql`select from app_user where uid = ${key.uid} for no key update`)
    return tx.row<ApiKeyRow>(sql`
      insert into api_key (uid, description, key_hash, datetime_expires, scopes, pub_id, merch_id,
        is_of_network)
      select ${key.uid}, ${key.description}, ${key.keyHash}, ${key.expiresAt},
        ${key.scopes}::text[], ${pub_id}::int, ${merch_id}::int, ${isOfNetwork}::boolean
      where (
        select count(*) < ${KEYS_PER_USER_MAX} from api_key
        where uid = ${key.uid} and is_enabled_by_user
          and (datetime_expires is null or datetime_expires > now())
      )
      returning ${KEY_COLUMNS}`)
  })
}

/** The keys of one user, or all if `uid` is null; newest last. */
export function listApiKeys(db: Db, { uid }: { uid: number | null }): Promise<ApiKeyRow[]> {
  return db.rows(sql`
    select ${KEY_COLUMNS} from api_key
    where ${uid}::int is null or uid = ${uid}
    order by token_id limit ${LIST_ROWS_MAX}
  `)
}

/**
 * Disables a key for good; null if there is none, or if `uid` is given and not its owner. A second
 * call changes nothing.
 */
export function disableApiKey(
  db: Db,
  { tokenId, uid }: { tokenId: number; uid: number | null },
): Promise<ApiKeyRow | null> {
  return db.row(sql`
    update api_key
    set is_enabled_by_user = false,
      datetime_updated = case when is_enabled_by_user then now() else datetime_updated end
    where token_id = ${tokenId} and (${uid}::int is null or uid = ${uid})
    returning ${KEY_COLUMNS}
  `)
}

/** The enabled key with this hash, its user and its access. */
export function findKeyHolder(
  db: Db,
  { keyHash, now }: { keyHash: Buffer; now: Date },
): Promise<(KeyHolderRow & { key_hash: Buffer }) | null> {
  return db.row(sql`
    select ${KEY_COLUMNS}, key_hash, ${membershipsOf(sql`api_key.uid`)} as memberships
    from api_key
    where key_hash = ${keyHash} and is_enabled_by_user
      and (datetime_expires is null or datetime_expires > ${now})
      and not (select is_suspended from app_user where app_user.uid = api_key.uid)
  `)
}

export async function updateKeyUse(db: Db, { tokenId, at }: { tokenId: number; at: Date }) {
  await db.run(sql`
    update api_key set datetime_last_used = greatest(datetime_last_used, ${at})
    where token_id = ${tokenId}
  `)
}

/** Records a place of use; returns whether it is new, and whether it is the key's first one. */
export async function insertKeyPlace(
  db: Db,
  use: { readonly tokenId: number; readonly place: Buffer },
): Promise<{ readonly isNew: boolean; readonly isFirst: boolean }> {
  const row = await db.row<{ is_new: boolean; is_first: boolean }>(sql`
    with noted as (
      insert into api_key_place (token_id, place_hash) values (${use.tokenId}, ${use.place})
      on conflict do nothing
      returning token_id
    )
    select exists (select from noted) as is_new,
      not exists (select from api_key_place where token_id = ${use.tokenId}) as is_first`)
  return { isNew: row?.is_new === true, isFirst: row?.is_first === true }
}
