import type { ReactNode } from 'react'
import { useTitle } from './title.tsx'

/** A page without the menu, for people who are not logged in. */
export function Shell({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title)
  return (
    <main className="mx-auto flex min-h-screen max-w-sm flex-col justify-center gap-4 px-4 py-12">
      <h1 className="wrap-anywhere">{title}</h1>
      {children}
    </main>
  )
}
