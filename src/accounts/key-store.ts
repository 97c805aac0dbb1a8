/** The API keys of an organization in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { ofBoundKeys } from './member-store.ts'
import { boundOrganization } from './membership-store.ts'
import type { Organization, Permission } from './permission.ts'
import { type ApiKeyRow, KEY_COLUMNS } from './store.ts'

export interface OrganizationKeyRow extends ApiKeyRow {
  readonly email: string
}

/** Which keys somebody may see in an organization. */
export interface KeyView {
  readonly organization: Organization
  readonly uid: number | null
  /** Whether keys of the organization's other members too. */
  readonly isOfAll: boolean
  /** Whether also the user's own keys for the whole account. */
  readonly isOfAccount: boolean
  /** Whether everybody's keys for their whole account: only for the operator's shell. */
  readonly isOfAnybody: boolean
}

/** A page of keys, the newest first, those of the past too. */
export function listKeysOf(
  db: Db,
  view: KeyView & { readonly before: string | null; readonly limit: number },
): Promise<OrganizationKeyRow[]> {
  return db.rows(sql`
    select ${KEY_COLUMNS}, ${EMAIL}
    from api_key
    where ${isVisible(view)}
      and (${view.before}::bigint is null or token_id < ${view.before}::bigint)
    order by token_id desc limit ${view.limit}`)
}

/** The organization that a key is for, null for all of its user's; undefined without such a key. */
export async function findKeyBinding(
  db: Db,
  tokenId: number,
): Promise<Organization | null | undefined> {
  const row = await db.row<Parameters<typeof boundOrganization>[0]>(sql`
    select pub_id, merch_id, is_of_network from api_key where token_id = ${tokenId}`)
  return row === null ? undefined : boundOrganization(row)
}

/** A key, locked; null where the caller may not see it. */
export function lockKey(
  tx: Db,
  view: KeyView & { readonly tokenId: number },
): Promise<OrganizationKeyRow | null> {
  return tx.row(sql`
    select ${KEY_COLUMNS}, ${EMAIL}
    from api_key where token_id = ${view.tokenId} and ${isVisible(view)} for update`)
}

const EMAIL = sql`(select email from app_user where app_user.uid = api_key.uid) as email`

function isVisible({ organization, uid, isOfAll, isOfAccount, isOfAnybody }: KeyView): Sql {
  const isOwn = sql`uid = ${uid}`
  const isUnbound = sql`(pub_id is null and merch_id is null and not is_of_network)`
  return sql`(
    (${ofBoundKeys(organization)} and (${isOfAll} or ${isOwn}))
    or (${isUnbound} and (${isOfAnybody} or (${isOfAccount} and ${isOwn}))))`
}

/** Replaces the label, the scopes and the expiry of a key. */
export async function updateKey(
  tx: Db,
  key: {
    readonly tokenId: number
    readonly description: string
    readonly scopes: readonly Permission[] | null
    readonly expiresAt: Date | null
  },
): Promise<ApiKeyRow> {
  const row = await tx.row<ApiKeyRow>(sql`
    update api_key set description = ${key.description}, scopes = ${key.scopes}::text[],
      datetime_expires = ${key.expiresAt}, datetime_updated = now()
    where token_id = ${key.tokenId} returning ${KEY_COLUMNS}`)
  return row as ApiKeyRow
}
