/** Users as the operator sees them, in SQL: memberships, last activity, suspension. */
import { type MembershipJson, membershipsOf } from '../accounts/membership-store.ts'
import { NETWORK_ROLES, type Role } from '../accounts/permission.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import type { PageRange } from './organization-store.ts'

export interface UserDetail {
  readonly uid: number
  readonly email: string
  readonly name: string
  readonly is_suspended: boolean
  readonly memberships: readonly MembershipJson[]
  readonly last_active: Date | null
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

const selectUsers = (condition: Sql): Sql => sql`
  select uid, email, name, is_suspended, datetime_created, datetime_updated,
    ${membershipsOf(sql`app_user.uid`)} as memberships,
    greatest(
      (select max(datetime_last_used) from api_key where api_key.uid = app_user.uid),
      (select max(datetime_last_used) from dashboard_session s where s.uid = app_user.uid)
    ) as last_active
  from app_user where ${condition}`

/** A page of users with one more row than `limit`, if there is one. */
export function listUserDetails(db: Db, { after, limit }: PageRange): Promise<UserDetail[]> {
  return db.rows(sql`
    ${selectUsers(sql`uid > coalesce(${after}::bigint, 0)`)} order by uid limit ${limit + 1}`)
}

export function findUserDetail(db: Db, uid: number): Promise<UserDetail | null> {
  return db.row(selectUsers(sql`uid = ${uid}`))
}

/** Locks a user that is read next. */
export async function lockUser(tx: Db, uid: number): Promise<void> {
  await tx.run(sql`select from app_user where uid = ${uid} for update`)
}

export async function setUserName(tx: Db, uid: number, name: string): Promise<void> {
  await tx.run(sql`
    update app_user set name = ${name}, datetime_updated = now() where uid = ${uid}`)
}

/** A suspended user's sessions end, so that a later resumption does not revive them. */
export async function setUserSuspended(tx: Db, uid: number, to: boolean): Promise<void> {
  await tx.run(sql`
    update app_user set is_suspended = ${to}, datetime_updated = now() where uid = ${uid}`)
  if (to) await tx.run(sql`delete from dashboard_session where uid = ${uid}`)
}

/** Whether an administrator of the network besides this user can sign in. */
export async function isOtherAdmin(tx: Db, uid: number): Promise<boolean> {
  // Two administrators who remove each other at once would both see the other one.
  const admins = await tx.rows<{ uid: number }>(sql`
    select uid from app_user
    where not is_suspended and uid in (
      select uid from membership where role = 'admin' and pub_id is null and merch_id is null)
    order by uid for update`)
  return admins.some((admin) => admin.uid !== uid)
}

/** The role in the network; null if the user has none. */
export function networkRole({ memberships }: Pick<UserDetail, 'memberships'>): Role | null {
  const own = memberships.find(({ pub_id, merch_id }) => pub_id === null && merch_id === null)
  return NETWORK_ROLES.find((role) => role === own?.role) ?? null
}
