/**
 * Which rights a new or changed API key may have: never more than its maker has at that moment.
 *
 * A key that could make a key with more rights than its own would have no scopes at all.
 */
import { ApiError, type Fault } from '../platform/errors/api-errors.ts'
import { type Caller, permissionsIn } from './caller.ts'
import type { Organization, Permission } from './permission.ts'

export interface WantedRights {
  /** Null: all permissions of the key's user. */
  readonly scopes: readonly Permission[] | null
  /** Null: the user's whole account. */
  readonly boundTo: Organization | null
}

/** Every scope that the maker may not give away. */
export function scopeFaults(caller: Caller, { scopes, boundTo }: WantedRights): Fault[] {
  const mine = rightsToGive(caller, boundTo)
  const faults: Fault[] = []
  for (const [at, scope] of (scopes ?? []).entries()) {
    if (!mine.has(scope)) {
      faults.push({ field: `scopes[${at}]`, rule: `you do not have ${scope} yourself` })
    }
  }
  return faults
}

/** Throws where a key of few rights would make one of more. */
export function requireAsWide(caller: Caller, { scopes, boundTo }: WantedRights): void {
  if (boundTo === null && caller.boundTo !== null) {
    throw new ApiError('notYours', {
      message: 'A key for one organization cannot make one for the whole account',
    })
  }
  if (scopes === null && caller.scopes !== null) {
    throw new ApiError('roleForbids', {
      message: 'A key with scopes makes only keys with scopes',
      data: { permission: 'keys.write' },
    })
  }
}

function rightsToGive(caller: Caller, boundTo: Organization | null): ReadonlySet<Permission> {
  if (boundTo !== null) return permissionsIn(caller, boundTo) ?? new Set()
  const all = caller.memberships.flatMap(({ organization }) => [
    ...(permissionsIn(caller, organization) ?? []),
  ])
  return new Set(all)
}
