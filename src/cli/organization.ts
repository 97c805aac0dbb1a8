/** The organization that options name: `--publisher ID`, `--merchant ID` or `--network`. */
import { findOrganizationName } from '../accounts/member-store.ts'
import { NETWORK, type Organization } from '../accounts/permission.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type OptionSpec, readInteger } from './option.ts'

export interface OrganizationOptions {
  readonly publisher?: number
  readonly merchant?: number
  readonly network?: boolean
}

/** Of `oneOf` of a command that needs one. */
export const ORGANIZATION_NAMES = ['publisher', 'merchant', 'network']

export const OF_PUBLISHER: OptionSpec = {
  flags: '--publisher <ID>',
  help: 'id of a publisher',
  read: readInteger,
}
export const OF_MERCHANT: OptionSpec = {
  flags: '--merchant <ID>',
  help: 'id of a merchant',
  read: readInteger,
}
export const ORGANIZATION_OPTIONS: readonly OptionSpec[] = [
  OF_PUBLISHER,
  OF_MERCHANT,
  { flags: '--network', help: 'the network itself' },
]

/** Null if none is named. */
export function readOrganization({
  publisher,
  merchant,
  network,
}: OrganizationOptions): Organization | null {
  if (publisher !== undefined && merchant !== undefined) {
    throw badRequest([{ field: 'merchant', rule: 'give a publisher or a merchant, not both' }])
  }
  if (publisher !== undefined) return { kind: 'publisher', id: publisher }
  if (merchant !== undefined) return { kind: 'merchant', id: merchant }
  return network === true ? NETWORK : null
}

/** Throws for an organization that does not exist. */
export async function requireKnown(db: Db, organization: Organization): Promise<void> {
  if ((await findOrganizationName(db, organization)) !== null) return
  const { kind, id } = organization
  throw badRequest([{ field: kind, rule: `no ${kind} ${id}` }])
}
