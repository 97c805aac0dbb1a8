/** The heading of a page. Its tab and its entry in the history carry it too. */
import { useEffect } from 'react'

export function Title({ children }: { children: string }) {
  useTitle(children)
  return <h1>{children}</h1>
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Souk`
  }, [title])
}
