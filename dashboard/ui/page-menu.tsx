/** The pages of the present organization, grouped by purpose. */
import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import { nameOf } from '../membership.ts'
import { grouped, listPages, START } from '../navigation.ts'
import { useChosen } from '../organization.ts'
import type { Search } from '../paths.ts'
import { useMe } from '../session.ts'

export function PageMenu({ onOpen }: { onOpen?: () => void }) {
  const chosen = useChosen()
  const { data: me } = useMe()
  const kind = chosen?.organization.kind ?? null
  const pages = listPages(kind, chosen?.permissions ?? [])
  // With one organization, URLs need not name it.
  const isNamed = (me?.memberships.length ?? 0) > 1
  const org = chosen && isNamed ? nameOf(chosen.organization) : undefined
  return (
    <nav aria-label="Pages" className="space-y-4">
      {grouped(pages).map(([group, entries]) => (
        <Group key={group} name={group}>
          {entries.map(({ path, label }) => (
            <li key={path}>
              <Link
                to={path}
                search={(search: Search) => ({ ...search, org: org ?? search.org })}
                activeOptions={{ exact: isStart(path), includeSearch: false }}
                className="block rounded-md px-2 py-1.5 text-sm text-soft hover:bg-sunk hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:font-medium aria-[current=page]:text-accent"
                onClick={onOpen}
              >
                {label}
              </Link>
            </li>
          ))}
        </Group>
      ))}
    </nav>
  )
}

/** Other pages lie below these paths. */
const isStart = (path: string): boolean => Object.values<string>(START).includes(path)

function Group({ name, children }: { name: string; children: React.ReactNode }) {
  const id = useId()
  return (
    <div>
      <p id={id} className="mb-1 px-2 text-xs font-medium text-soft">
        {name}
      </p>
      <ul aria-labelledby={id} className="space-y-0.5">
        {children}
      </ul>
    </div>
  )
}
