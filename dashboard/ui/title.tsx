/** The heading of a page, also used for the tab and the browser's history. */
import { useEffect } from 'react'

export interface Heading {
  /** A name before the heading. Its writing direction does not affect the rest, such as a price. */
  readonly name?: string
  readonly children?: string
}

export function Title({ name = '', children = '' }: Heading) {
  useTitle(name + children)
  return (
    <h1>
      <bdi>{name}</bdi>
      {children}
    </h1>
  )
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Souk`
  }, [title])
}
