/** Wraps pages about the people of an organization: its name as title, or who may see the page. */
import type { ReactNode } from 'react'
import type { Permission } from '../../src/accounts/permission.ts'
import type { Membership } from '../membership.ts'
import { useOrganizationIfAny } from '../organization.ts'
import { EmptyState } from './notice.tsx'
import { Title } from './title.tsx'

export function OfOrganization(props: {
  title: string
  /** Whether it is a whole page, or a section of one. */
  isPage?: boolean
  permission: Permission
  /** Who may see the page. */
  who: string
  children: (membership: Membership) => ReactNode
}) {
  const { title, isPage = true, permission, who, children } = props
  const at = useOrganizationIfAny()
  if (at === null || !at.permissions.includes(permission)) {
    return (
      <EmptyState title={title} isPage={isPage}>
        Only {who} have this. Ask an owner to give you that role.
      </EmptyState>
    )
  }
  return (
    <div className={isPage ? 'space-y-6' : 'space-y-3'}>
      {isPage ? (
        <Title name={at.name}>{` · ${title}`}</Title>
      ) : (
        <h2>
          {title} of <bdi>{at.name}</bdi>
        </h2>
      )}
      {children(at)}
    </div>
  )
}
