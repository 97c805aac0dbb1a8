/** The organization whose people, keys or changes a page shows. */
import type { Organization, Permission } from '../src/accounts/permission.ts'
import { useAddress } from './address.ts'
import type { User } from './api.ts'
import { useMe } from './session.ts'

export type Membership = User['memberships'][number]

/** `publisher-7`; also the value of `org` in the page's URL. */
export const nameOf = ({ kind, id }: Membership['organization']): string =>
  kind === 'network' ? kind : `${kind}-${id}`

/**
 * The user's organizations in which they have a permission, and the chosen one: that of the URL,
 * the publisher or merchant of the other pages, or the first.
 */
export function useOrganizations(permission: Permission) {
  const { data: me } = useMe()
  const [{ org, pub, merch }, change] = useAddress()
  const all = (me?.memberships ?? []).filter(({ permissions }) => permissions.includes(permission))
  const wanted = [org, pub && `publisher-${pub}`, merch && `merchant-${merch}`]
  const chosen =
    wanted
      .map((name) => all.find(({ organization }) => nameOf(organization) === name))
      .find((found) => found !== undefined) ?? all[0]
  const choose = (name: string) => change({ org: name })
  return { all, chosen: chosen ?? null, choose }
}

export const organizationOf = ({ organization }: Membership) => organization as Organization
