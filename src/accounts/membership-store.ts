/** Memberships in SQL: which role a user has in which organization. */
import { ApiError } from '../platform/errors/api-errors.ts'
import { canBeSmallId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import type { Membership } from './caller.ts'
import type { Organization, Role } from './permission.ts'

/** The columns that name an organization; both are null for the network. */
export interface OrganizationColumns {
  readonly pub_id: number | null
  readonly merch_id: number | null
}

export function toColumns({ kind, id }: Organization): OrganizationColumns {
  return {
    pub_id: kind === 'publisher' ? id : null,
    merch_id: kind === 'merchant' ? id : null,
  }
}

export function toOrganization({ pub_id, merch_id }: OrganizationColumns): Organization {
  if (pub_id !== null) return { kind: 'publisher', id: pub_id }
  return merch_id === null ? { kind: 'network', id: null } : { kind: 'merchant', id: merch_id }
}

/** The only organization that a key is for; null: all of its user. */
export function boundOrganization(
  key: OrganizationColumns & { readonly is_of_network: boolean },
): Organization | null {
  const isBound = key.pub_id !== null || key.merch_id !== null || key.is_of_network
  return isBound ? toOrganization(key) : null
}

/** A condition on the rows of one organization. */
export function ofOrganization(organization: Organization): Sql {
  const { pub_id, merch_id } = toColumns(organization)
  if (pub_id !== null) return sql`pub_id = ${pub_id}`
  if (merch_id !== null) return sql`merch_id = ${merch_id}`
  return sql`pub_id is null and merch_id is null`
}

/** Memberships of users as one JSON value: a part of the queries that identify callers. */
export const membershipsOf = (uid: Sql): Sql => sql`(
  select coalesce(json_agg(json_build_object(
    'pub_id', pub_id, 'merch_id', merch_id, 'role', role) order by membership_id), '[]')
  from membership where membership.uid = ${uid})`

export interface MembershipJson extends OrganizationColumns {
  readonly role: Role
}

export const toMemberships = (rows: readonly MembershipJson[]): Membership[] =>
  rows.map((row) => ({ organization: toOrganization(row), role: row.role }))

/** Gives a user a role in an organization, or another one than before. */
export async function setMembership(
  tx: Db,
  { uid, organization, role }: { uid: number; organization: Organization; role: Role },
): Promise<void> {
  const { pub_id, merch_id } = toColumns(organization)
  await tx.run(sql`
    insert into membership (uid, pub_id, merch_id, role)
    values (${uid}, ${pub_id}, ${merch_id}, ${role})
    on conflict (uid, pub_id, merch_id)
    do update set role = excluded.role, datetime_updated = now()`)
}

/** Whether a user has any role in an organization. */
export async function isMember(
  db: Db,
  { uid, of }: { uid: number; of: Organization },
): Promise<boolean> {
  const row = await db.row(sql`
    select from membership where uid = ${uid} and ${ofOrganization(of)}`)
  return row !== null
}

/** Ends a membership; false if there was none. */
export async function deleteMembership(
  tx: Db,
  { uid, organization }: { uid: number; organization: Organization },
): Promise<boolean> {
  const deleted = await tx.run(sql`
    delete from membership where uid = ${uid} and ${ofOrganization(organization)}`)
  return deleted === 1
}

/**
 * Hands an organization to another user: the one who owned it first leaves, the new one becomes an
 * owner. Nothing happens where nobody changes.
 */
export async function handOver(
  tx: Db,
  change: { organization: Organization; from: number | null; to: number | null },
): Promise<void> {
  const { organization, from, to } = change
  if (from === to) return
  if (from !== null) await deleteMembership(tx, { uid: from, organization })
  if (to !== null) await setMembership(tx, { uid: to, organization, role: 'owner' })
}

/**
 * Throws the 403 of a foreign organization where there is none with this id: a role in the network
 * counts in every organization, so it does not show that there is one.
 */
export async function requireOrganization(db: Db, organization: Organization): Promise<void> {
  if (!(await isOrganization(db, organization))) throw new ApiError('notYours')
}

/** Whether there is an organization with this id. A schema refuses what is no integer. */
export async function isOrganization(db: Db, { kind, id }: Organization): Promise<boolean> {
  if (kind === 'network' || !Number.isInteger(id)) return true
  if (!canBeSmallId(id)) return false
  const row = await db.row(
    kind === 'publisher'
      ? sql`select from publisher where pub_id = ${id}`
      : sql`select from merchant where merch_id = ${id}`,
  )
  return row !== null
}

/** The organizations of a user with their names; the network has the name of the service. */
export function listOrganizationNames(
  db: Db,
  uid: number,
): Promise<(MembershipJson & { readonly name: string })[]> {
  return db.rows(sql`
    select membership.pub_id, membership.merch_id, role,
      coalesce(publisher.name, merchant.name, 'Network') as name
    from membership
    left join publisher on publisher.pub_id = membership.pub_id
    left join merchant on merchant.merch_id = membership.merch_id
    where membership.uid = ${uid}
    order by membership_id`)
}
