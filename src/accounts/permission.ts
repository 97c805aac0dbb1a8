/**
 * Who may do what: the one table of roles and permissions.
 *
 * Every route names its permission, and the API description shows it (`x-permission`). A role is
 * held in one organization; a role in the network counts in every organization.
 */

/** Every permission, in the order of the documentation. */
export const PERMISSIONS = [
  'figures.read', // Statistics, reports, receipts, orders, performance.
  'links.write',
  'campaigns.write',
  'feeds.write',
  'settings.write', // Floors, tolerance, lists, domains, click parameter.
  'orders.review', // Approve and reject held orders.
  'webhooks.write',
  'alerts.write',
  'deliveries.write',
  'keys.write',
  'secrets.write',
  'payments.read',
  'members.write',
  'audit.read',
  'network.read',
  'network.write', // Organizations, terms, payments, payouts, rates, reversals, jobs.
] as const
export type Permission = (typeof PERMISSIONS)[number]

export const ORGANIZATION_KINDS = ['publisher', 'merchant', 'network'] as const

/** Where a right applies. The network has no id. */
export type Organization =
  | { readonly kind: 'publisher'; readonly id: number }
  | { readonly kind: 'merchant'; readonly id: number }
  | { readonly kind: 'network'; readonly id: null }

export const NETWORK: Organization = { kind: 'network', id: null }

/** The roles of a publisher or a merchant. */
export const MEMBER_ROLES = ['owner', 'manager', 'viewer'] as const
/** The roles of the network. */
export const NETWORK_ROLES = ['admin', 'staff'] as const
export const ROLES = [...MEMBER_ROLES, ...NETWORK_ROLES] as const
export type Role = (typeof ROLES)[number]

/** What only the owner of an organization decides: who belongs to it. */
const OF_OWNERS: readonly Permission[] = ['members.write', 'audit.read']
const OF_NETWORK: readonly Permission[] = ['network.read', 'network.write']
const OF_MANAGERS = PERMISSIONS.filter(
  (permission) => !OF_OWNERS.includes(permission) && !OF_NETWORK.includes(permission),
)

const RIGHTS: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  owner: new Set([...OF_MANAGERS, ...OF_OWNERS]),
  manager: new Set(OF_MANAGERS),
  viewer: new Set(['figures.read']),
  admin: new Set(PERMISSIONS),
  staff: new Set(['figures.read', 'orders.review', 'payments.read', 'network.read']),
}

/** What a role allows. */
export function rightsOf(role: Role): ReadonlySet<Permission> {
  return RIGHTS[role]
}

/** The roles that one can have in an organization. */
export function rolesIn(kind: Organization['kind']): readonly Role[] {
  return kind === 'network' ? NETWORK_ROLES : MEMBER_ROLES
}

/** The role that an organization must always have somebody in. */
export function leadingRole(kind: Organization['kind']): Role {
  return kind === 'network' ? 'admin' : 'owner'
}

export function isSameOrganization(one: Organization, other: Organization): boolean {
  return one.kind === other.kind && one.id === other.id
}
