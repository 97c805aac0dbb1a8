/** Wraps pages about the people of an organization: title, choice, or why there is none. */
import { Fragment, type ReactNode } from 'react'
import type { Permission } from '../../src/accounts/permission.ts'
import { type Membership, nameOf, useOrganizations } from '../organization.ts'
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
  const { all, chosen, choose } = useOrganizations(permission)
  if (chosen === null) {
    return (
      <EmptyState title={title} isPage={isPage}>
        Only {who} have this. Ask an owner to give you that role.
      </EmptyState>
    )
  }
  const value = nameOf(chosen.organization)
  return (
    <div className={isPage ? 'space-y-6' : 'space-y-3'}>
      <div className="flex flex-wrap items-center justify-between gap-3">
        {isPage ? (
          <Title name={chosen.name}>{` · ${title}`}</Title>
        ) : (
          <h2>
            {title} of <bdi>{chosen.name}</bdi>
          </h2>
        )}
        {all.length > 1 && (
          <select
            aria-label="Organization"
            className="h-9 max-w-72 min-w-0 rounded-lg border border-edge bg-panel px-2 text-ellipsis"
            value={value}
            onChange={({ target }) => choose(target.value)}
          >
            {all.map(({ organization, name }) => (
              <option key={nameOf(organization)} value={nameOf(organization)} dir="auto">
                {organization.kind === 'network' ? name : `${name} (${organization.kind})`}
              </option>
            ))}
          </select>
        )}
      </div>
      {/* Remounts for another organization, so that form input does not carry over. */}
      <Fragment key={value}>{children(chosen)}</Fragment>
    </div>
  )
}
