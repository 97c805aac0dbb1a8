/** What a page says when it waits, fails, or has nothing to show. */
import type { ReactNode } from 'react'
import { Title } from './title.tsx'

/** Nothing to show: why, and what to do next. */
export function EmptyState({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="panel px-6 py-12 text-center">
      <h2>{title}</h2>
      <div className="mx-auto mt-2 max-w-prose text-soft">{children}</div>
    </div>
  )
}

export function Failure({ error }: { error: unknown }) {
  return (
    <p role="alert" className="rounded-lg bg-bad-tint px-4 py-3 text-bad">
      {error instanceof Error ? error.message : String(error)}
    </p>
  )
}

/** Holds its place quietly; most answers arrive before anybody reads it. */
export function Waiting() {
  return (
    <p role="status" className="py-16 text-center text-sm text-soft">
      Loading …
    </p>
  )
}

export function NothingHere() {
  return (
    <div className="panel space-y-2 px-6 py-12 text-center">
      <Title>No such page</Title>
      <p className="text-soft">The menu above has all there are.</p>
    </div>
  )
}
