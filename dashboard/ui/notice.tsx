/** What a page says when it waits, fails, or has nothing to show. */
import type { ReactNode } from 'react'
import { faultsOf } from '../api.ts'
import { Title } from './title.tsx'

/** Nothing to show: why, and what to do next. It may be all there is of a page. */
export function EmptyState(props: { title: string; isPage?: boolean; children: ReactNode }) {
  const { title, isPage = false, children } = props
  return (
    <div className="panel px-6 py-12 text-center">
      {isPage ? <Title>{title}</Title> : <h2>{title}</h2>}
      <div className="mx-auto mt-2 max-w-prose text-soft">{children}</div>
    </div>
  )
}

export function Failure({ error, isGoingOn = false }: { error: unknown; isGoingOn?: boolean }) {
  // The fields of calls have names that no page has.
  const rules = faultsOf(error).map(({ rule }) => rule)
  const message = error instanceof Error ? error.message : String(error)
  const words = rules.length > 0 ? rules.join('; ') : message
  return (
    <p role="alert" className="rounded-lg bg-bad-tint px-4 py-3 text-bad first-letter:uppercase">
      {isGoingOn ? `${words.replace(/\.?$/, '.')} Trying again …` : words}
    </p>
  )
}

/** What a query that has no answer yet, or no new one, has to say. */
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

/** Holds its place; most answers arrive before it is seen. */
function Waiting() {
  return (
    <p role="status" className="waiting py-16 text-center text-sm text-soft">
      Loading …
    </p>
  )
}

/** Mostly of a tab that stood open while the service was renewed, and reads its answers no more. */
export function BrokenPage() {
  return (
    <EmptyState title="This page could not be drawn" isPage>
      <p>It may be older than the service: what it shows is not lost.</p>
      <button type="button" className="button mt-4" onClick={() => location.reload()}>
        Load it again
      </button>
    </EmptyState>
  )
}

export function NothingHere() {
  return (
    <EmptyState title="No such page" isPage>
      The menu above has all there are.
    </EmptyState>
  )
}
