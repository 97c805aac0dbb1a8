/** The members of an organization in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { ofOrganization } from './membership-store.ts'
import { leadingRole, type Organization, type Role } from './permission.ts'

export interface MemberRow {
  readonly membership_id: number
  readonly uid: number
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly is_suspended: boolean
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

const COLUMNS = sql`membership_id, membership.uid, email, name, role, is_suspended,
  membership.datetime_created, membership.datetime_updated`

/** A page of members, the first ones first. */
export function listMembers(
  db: Db,
  {
    organization,
    after,
    limit,
  }: { organization: Organization; after: string | null; limit: number },
): Promise<MemberRow[]> {
  return db.rows(sql`
    select ${COLUMNS} from membership join app_user using (uid)
    where ${ofOrganization(organization)} and membership_id > coalesce(${after}::bigint, 0)
    order by membership_id limit ${limit}`)
}

/**
 * A member, and how many others lead the organization. Locks all of them, always in one order: of
 * two owners who leave at once, the second one sees that the first has left.
 */
export async function lockMember(
  tx: Db,
  { organization, uid }: { organization: Organization; uid: number },
): Promise<{ readonly member: MemberRow | null; readonly otherLeaders: readonly number[] }> {
  const leading = leadingRole(organization.kind)
  const rows = await tx.rows<MemberRow>(sql`
    select ${COLUMNS} from membership join app_user using (uid)
    where ${ofOrganization(organization)} and (role = ${leading} or membership.uid = ${uid})
    order by membership_id
    for update of membership`)
  return {
    member: rows.find((row) => row.uid === uid) ?? null,
    otherLeaders: rows
      .filter((row) => row.uid !== uid && row.role === leading && !row.is_suspended)
      .map((row) => row.uid),
  }
}

export async function updateMemberRole(
  tx: Db,
  { membership_id: id }: Pick<MemberRow, 'membership_id'>,
  role: Role,
): Promise<Pick<MemberRow, 'datetime_updated'>> {
  const row = await tx.row<Pick<MemberRow, 'datetime_updated'>>(sql`
    update membership set role = ${role}, datetime_updated = now()
    where membership_id = ${id} returning datetime_updated`)
  return row as Pick<MemberRow, 'datetime_updated'>
}

/** The user that a publisher's or merchant's own record names becomes another owner. */
export async function renameOwner(
  tx: Db,
  { organization, from, to }: { organization: Organization; from: number; to: number },
): Promise<void> {
  const { kind, id } = organization
  if (kind === 'publisher') {
    await tx.run(sql`update publisher set uid = ${to} where pub_id = ${id} and uid = ${from}`)
  } else if (kind === 'merchant') {
    await tx.run(sql`update merchant set uid = ${to} where merch_id = ${id} and uid = ${from}`)
  }
}

/** Disables the keys that a former member has for this organization. Returns their ids. */
export async function disableKeysOf(
  tx: Db,
  { organization, uid }: { organization: Organization; uid: number },
): Promise<number[]> {
  const rows = await tx.rows<{ token_id: number }>(sql`
    update api_key set is_enabled_by_user = false, datetime_updated = now()
    where uid = ${uid} and ${ofBoundKeys(organization)} and is_enabled_by_user
    returning token_id`)
  return rows.map((row) => row.token_id)
}

/** A condition on the keys that are for one organization only. */
export function ofBoundKeys(organization: Organization): Sql {
  return organization.kind === 'network' ? sql`is_of_network` : ofOrganization(organization)
}

/** The name of an organization; null if there is none with this id. */
export async function findOrganizationName(
  db: Db,
  { kind, id }: Organization,
): Promise<string | null> {
  if (kind === 'network') return 'Network'
  const row = await db.row<{ name: string }>(
    kind === 'publisher'
      ? sql`select name from publisher where pub_id = ${id}`
      : sql`select name from merchant where merch_id = ${id}`,
  )
  return row?.name ?? null
}
