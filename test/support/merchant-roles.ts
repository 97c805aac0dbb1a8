/** A merchant of a running service with a key for each role, for tests of operations. */
import { createApiKey, createUser } from '../../src/accounts/create-account.ts'
import { setMembership } from '../../src/accounts/membership-store.ts'
import { NETWORK, type Organization, type Role } from '../../src/accounts/permission.ts'
import { MERCHANT_DEFAULTS, type MerchantSettings } from '../../src/catalog/merchant.ts'
import { insertMerchant } from '../../src/catalog/merchant-store.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import type { Answer, Api, CallOptions } from './api.ts'

export interface MerchantWorld {
  readonly merchId: number
  /** The keys of its owner, manager and viewer, and of the network's admin and staff. */
  readonly keys: Readonly<Record<Role, string>>
  /** A call below the merchant's path; as its owner unless a key is given. */
  call(path: string, options?: CallOptions): Promise<Answer>
  /** What was changed, oldest first. */
  audit(): Promise<{ action: string; target: string; before: unknown; after: unknown }[]>
}

export async function makeMerchantWorld(
  api: Api,
  settings: Partial<MerchantSettings> & { readonly name: string },
): Promise<MerchantWorld> {
  const { db } = api
  const domains = [`${settings.name.toLowerCase()}.example`]
  const { merch_id: merchId } = await insertMerchant(db, {
    ...MERCHANT_DEFAULTS,
    domains,
    ...settings,
  })
  const own: Organization = { kind: 'merchant', id: merchId }
  const keyOf = (role: Role, organization: Organization = own) =>
    makeKey(api, { email: `${role}@${domains[0]}`, organization, role })
  const keys = {
    owner: await keyOf('owner'),
    manager: await keyOf('manager'),
    viewer: await keyOf('viewer'),
    admin: await keyOf('admin', NETWORK),
    staff: await keyOf('staff', NETWORK),
  }
  return {
    merchId,
    keys,
    call: (path, options = {}) =>
      api.call(`/api/v1/merchants/${merchId}/${path}`, { key: keys.owner, ...options }),
    audit: () =>
      db.rows(sql`
        select action, target, before, after from audit_entry where merch_id = ${merchId}
        order by audit_id`),
  }
}

async function makeKey(
  { db }: Api,
  user: { readonly email: string; readonly organization: Organization; readonly role: Role },
): Promise<string> {
  const { email, organization, role } = user
  const { uid } = await createUser(db, { email, password: 'a long password', isAdmin: false })
  await setMembership(db, { uid, organization, role })
  const given = { uid, description: role, expiresAt: null, now: new Date() }
  return (await createApiKey(db, given)).key
}
