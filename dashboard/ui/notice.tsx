/** Loading, error and empty states. */
import type { ReactNode } from 'react'
import { faultsOf } from '../api.ts'
import { Icon, type IconName } from './icon.tsx'
import { Title } from './title.tsx'

/** A page that the user's role in the organization does not include. */
export function NoPermission({ page, role }: { page: string; role: string }) {
  return (
    <EmptyState title={page} isPage icon="lock">
      Your role here is {role}, which does not include this page. Ask an owner for another role.
    </EmptyState>
  )
}

/** Says why there is nothing to show and what to do next. It may fill a whole page. */
export function EmptyState(props: {
  title: string
  isPage?: boolean
  icon?: IconName
  children: ReactNode
}) {
  const { title, isPage = false, icon = 'empty', children } = props
  return (
    <div className="panel px-6 py-10 text-center">
      <p className="mb-3 flex justify-center text-soft">
        <Icon name={icon} size={28} />
      </p>
      {isPage ? <Title>{title}</Title> : <h2>{title}</h2>}
      <div className="mx-auto mt-2 max-w-prose text-soft">{children}</div>
    </div>
  )
}

export function Failure({ error, isGoingOn = false }: { error: unknown; isGoingOn?: boolean }) {
  // Field names of the API differ from the labels, so the rules alone are shown.
  const rules = faultsOf(error).map(({ rule }) => rule)
  const message = error instanceof Error ? error.message : String(error)
  const words = rules.length > 0 ? rules.join('; ') : message
  return (
    <p role="alert" className="rounded-lg bg-bad-tint px-4 py-3 text-bad first-letter:uppercase">
      {isGoingOn ? `${words.replace(/\.?$/, '.')} Trying again …` : words}
    </p>
  )
}

/** Shows that a query is loading or has failed. */
export function Progress({ query }: { query: Asked }) {
  const { failureReason, isPending, isFetching } = query
  if (failureReason !== null) return <Failure error={failureReason} isGoingOn={isFetching} />
  return isPending ? <Waiting /> : null
}

interface Asked {
  readonly failureReason: Error | null
  readonly isPending: boolean
  readonly isFetching: boolean
}

/** Reserves space. Most responses arrive before the text appears. */
function Waiting() {
  return (
    <p role="status" className="waiting py-16 text-center text-sm text-soft">
      Loading …
    </p>
  )
}

/** Usually an open tab whose program is older than the restarted service. */
export function BrokenPage() {
  return (
    <EmptyState title="This page could not be displayed" isPage>
      <p>The page may be older than the service. No data is lost. Reload the page.</p>
      <button type="button" className="button mt-4" onClick={() => location.reload()}>
        Reload
      </button>
    </EmptyState>
  )
}

export function NothingHere() {
  return (
    <EmptyState title="Page not found" isPage>
      Choose a page from the menu.
    </EmptyState>
  )
}
