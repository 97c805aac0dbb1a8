/** Who is logged in, and whose figures are shown. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { createContext, use } from 'react'
import { api, type Publisher } from './api.ts'

export const useMe = () =>
  useQuery({ queryKey: ['me'], queryFn: api.me, retry: false, staleTime: Infinity })

export const usePublishers = () =>
  useQuery({ queryKey: ['publishers'], queryFn: api.publishers, staleTime: 60_000 })

/** Ends the session; nothing of it stays in the page. */
export function useLogOut(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await api.logOut()
    client.clear()
    location.assign('/dashboard/')
  }
}

/** The publisher that the address names, or the first one. */
export function useChosenPublisher(publishers: readonly Publisher[]) {
  const { pub } = useSearch({ from: '__root__' })
  const navigate = useNavigate()
  const chosen = publishers.find(({ pub_id }) => pub_id === pub) ?? publishers[0] ?? null
  const choose = (pubId: number) =>
    void navigate({ to: '.', search: (search) => ({ ...search, pub: pubId }) })
  return [chosen, choose] as const
}

export const PublisherContext = createContext<Publisher | null>(null)

/** The chosen publisher; null for an account that has none, such as a merchant's. */
export const usePublisherIfAny = (): Publisher | null => use(PublisherContext)

/** The chosen publisher, on pages that are shown only when there is one. */
export function usePublisher(): Publisher {
  const publisher = usePublisherIfAny()
  if (publisher === null) throw new Error('shown outside of a publisher')
  return publisher
}
