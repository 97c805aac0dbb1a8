/** Reads and changes the query parameters in the page's URL. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Search } from './paths.ts'

export function useAddress() {
  const search = useSearch({ from: '__root__' })
  const navigate = useNavigate()
  const change = (part: Search, how: { replace?: boolean; resetScroll?: boolean } = {}) =>
    void navigate({ ...how, to: '.', search: (before) => ({ ...before, ...part }) })
  return [search, change] as const
}
