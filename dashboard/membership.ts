/** An organization that the user belongs to, and the pages that it has for the user. */
import type { Organization } from '../src/accounts/permission.ts'
import type { User } from './api.ts'
import { isAllowed, type PageEntry } from './navigation.ts'

export type Membership = User['memberships'][number]

/** `publisher-7`; also the value of `org` in the page's URL. */
export const nameOf = ({ kind, id }: Membership['organization']): string =>
  kind === 'network' ? kind : `${kind}-${id}`

export const organizationOf = ({ organization }: Membership) => organization as Organization

/** Whether an organization has a page, and the user may open it there. */
export function hasPage({ organization, permissions }: Membership, page: PageEntry): boolean {
  return page.kind === 'person' || isAllowed(page, organization.kind, permissions)
}
