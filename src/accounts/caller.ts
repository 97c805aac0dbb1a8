/** The caller: a person in the browser, a program with a key, or the operator's shell. */
import { ApiError } from '../platform/errors/api-errors.ts'
import {
  isSameOrganization,
  type Organization,
  PERMISSIONS,
  type Permission,
  type Role,
  rightsOf,
} from './permission.ts'

export interface Membership {
  readonly organization: Organization
  readonly role: Role
}

/** What the call came through. */
export type Through =
  | { readonly kind: 'session'; readonly sessionId: number; readonly csrfToken: string }
  | { readonly kind: 'key'; readonly tokenId: number }
  | { readonly kind: 'cli' }
  /** A link from an e-mail, such as an invitation's: its holder has no session yet. */
  | { readonly kind: 'link' }

export interface Caller {
  /** The user; null for the operator's shell, which acts in nobody's name. */
  readonly uid: number | null
  readonly through: Through
  readonly memberships: readonly Membership[]
  /** The only permissions that the key has; null: all of its user. */
  readonly scopes: readonly Permission[] | null
  /** The only organization that the key is for; null: all of its user. */
  readonly boundTo: Organization | null
}

/** The operator's shell may do everything: who has it has the database too. */
export const SHELL: Caller = {
  uid: null,
  through: { kind: 'cli' },
  memberships: [{ organization: { kind: 'network', id: null }, role: 'admin' }],
  scopes: null,
  boundTo: null,
}

/** What the caller may do in an organization; null if it does not belong there. */
export function permissionsIn(
  caller: Caller,
  organization: Organization,
): ReadonlySet<Permission> | null {
  const { boundTo, scopes, memberships } = caller
  if (boundTo !== null && !isSameOrganization(boundTo, organization)) return null
  const roles = memberships
    .filter(
      (membership) =>
        membership.organization.kind === 'network' ||
        isSameOrganization(membership.organization, organization),
    )
    .map(({ role }) => rightsOf(role))
  if (roles.length === 0) return null
  return new Set(
    PERMISSIONS.filter(
      (permission) =>
        roles.some((rights) => rights.has(permission)) &&
        (scopes === null || scopes.includes(permission)),
    ),
  )
}

/**
 * Throws a 403: `notYours` outside of the caller's organizations, `roleForbids` where its role or
 * its key lacks the permission.
 */
export function authorize(
  caller: Caller,
  organization: Organization,
  permission: Permission,
): void {
  const permissions = permissionsIn(caller, organization)
  if (permissions === null) throw new ApiError('notYours')
  if (permissions.has(permission)) return
  const isOfKey = caller.scopes !== null && !caller.scopes.includes(permission)
  throw new ApiError('roleForbids', {
    message: isOfKey
      ? `The key lacks the scope ${permission}`
      : `Your role does not include ${permission}`,
    data: { permission },
  })
}

/**
 * Whether the caller acts for the network: the shell, or a role there. A key that is bound to a
 * merchant or a publisher acts for that one.
 */
export function actsForNetwork({ memberships, boundTo }: Caller): boolean {
  const isBound = boundTo !== null && boundTo.kind !== 'network'
  return !isBound && memberships.some(({ organization }) => organization.kind === 'network')
}

/** The ids of the caller's own publishers or merchants, whatever its role in the network. */
export function ownIds(caller: Caller, kind: 'publisher' | 'merchant'): number[] {
  const { boundTo } = caller
  return caller.memberships
    .map(({ organization }) => organization)
    .filter((organization) => boundTo === null || isSameOrganization(boundTo, organization))
    .flatMap((organization) => (organization.kind === kind ? [organization.id] : []))
    .toSorted((one, other) => one - other)
}

/** Names whose repeated creations are the same: those of one key, or of one person. */
export function callerName({ uid, through }: Pick<Caller, 'uid' | 'through'>): string {
  return through.kind === 'key' ? `key:${through.tokenId}` : `user:${uid}`
}
