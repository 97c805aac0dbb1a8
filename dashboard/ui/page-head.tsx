/** The top of a page: heading, purpose in one sentence, and its actions. */
import type { ReactNode } from 'react'
import type { Permission } from '../../src/accounts/permission.ts'
import { useCan, useOrganization } from '../organization.ts'
import { Icon } from './icon.tsx'
import { Title } from './title.tsx'

export function PageHead(props: { title: string; purpose: string; children?: ReactNode }) {
  return (
    <div className="flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0">
        <Title>{props.title}</Title>
        <p className="mt-1 max-w-prose text-sm text-soft">{props.purpose}</p>
      </div>
      {props.children !== undefined && (
        <div className="flex flex-wrap gap-2 print:hidden">{props.children}</div>
      )}
    </div>
  )
}

/** Says why the buttons of a page are missing, to a person whose role may only read it. */
export function ReadOnlyNote({ permission, action }: { permission: Permission; action: string }) {
  const { role, organization } = useOrganization()
  if (useCan(permission)) return null
  const who = organization.kind === 'network' ? 'an admin' : 'an owner'
  return (
    <p className="flex items-center gap-2 text-sm text-soft">
      <Icon name="lock" size={14} />
      <span>
        Your role here is {role}, which cannot {action}. Ask {who} for another role.
      </span>
    </p>
  )
}
