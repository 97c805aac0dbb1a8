/** The heading of a page. Its tab and its entry in the history carry it too. */
import { useEffect } from 'react'

export interface Heading {
  /** Whose words it begins with: what turns them round turns nothing of ours, such as a price. */
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
