/** Who is logged in, and whose figures are shown. */
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMatch, useNavigate, useSearch } from '@tanstack/react-router'
import { createContext, use, useEffect } from 'react'
import { useAddress } from './address.ts'
import { api, isNotLoggedIn, type Publisher, type User } from './api.ts'
import { PATHS } from './paths.ts'

const ME = ['me']

export const useMe = () => useQuery({ queryKey: ME, queryFn: api.me, staleTime: Infinity })

export const usePublishers = () =>
  useQuery({
    queryKey: ['publishers'],
    queryFn: api.publishers,
    staleTime: 60_000,
    gcTime: Infinity, // The page behind the login is drawn with them, however long that stands.
  })

export const useMerchants = () =>
  useQuery({
    queryKey: ['merchants'],
    queryFn: api.merchants,
    staleTime: 60_000,
    gcTime: Infinity, // As the publishers.
  })

/** A session that has ended meanwhile: whatever call notices brings the login. */
export function noticeEnd(client: QueryClient, error: unknown): void {
  const me = client.getQueryState(ME)
  const isInside = me?.data !== undefined && !isNotLoggedIn(me.error)
  if (isInside && isNotLoggedIn(error)) void client.invalidateQueries({ queryKey: ME })
}

/** The same account finds its page as it was; of another's, nothing is left. */
function enter(client: QueryClient, user: User | null): Promise<void> {
  const before = client.getQueryData<User>(ME)
  if (user === null || user.uid !== before?.uid) return client.resetQueries()
  client.setQueryData(ME, user)
  return client.invalidateQueries()
}

/** Tells the browser's other tabs that their session is another one now: they share its cookie. */
const tabs = new BroadcastChannel('souk session')

/** What one account was shown is not for the next, in this tab and in every other. */
export function watchOtherTabs(client: QueryClient): void {
  tabs.onmessage = ({ data }: MessageEvent<User | null>) => void enter(client, data)
}

/** Begins a session, or another one after the first has ended. */
export function useLogIn() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: api.logIn,
    onSuccess: (user) => {
      tabs.postMessage(user)
      return enter(client, user)
    },
  })
}

/**
 * Ends the session; nothing of it stays in the page. It is taken out of this page: one left by its
 * address would stand in the browser's cache, and who presses "back" would see it all again.
 */
export function useLogOut() {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: api.logOut,
    onSuccess: () => {
      tabs.postMessage(null)
      void enter(client, null)
      const search = { pub: undefined, merch: undefined, from: undefined, to: undefined }
      return navigate({ to: PATHS.overview, search })
    },
  })
}

/** The publisher that the address names, or the first one: the address then names that. */
export function useChosenPublisher(publishers: readonly Publisher[]) {
  const { pub } = useSearch({ from: '__root__' })
  const navigate = useNavigate()
  // A receipt is one publisher's: another has no such page.
  const isReceipt = useMatch({ from: PATHS.receipt, shouldThrow: false }) !== undefined
  const chosen = publishers.find(({ pub_id }) => pub_id === pub) ?? publishers[0] ?? null
  const choose = (pubId: number) =>
    void navigate({
      to: isReceipt ? PATHS.clicks : '.',
      search: (search) => ({ ...search, pub: pubId }),
    })
  const known = chosen?.pub_id
  useEffect(() => {
    if (pub === undefined || known === undefined || pub === known) return
    void navigate({ to: '.', search: (search) => ({ ...search, pub: known }), replace: true })
  }, [pub, known, navigate])
  return [chosen, choose] as const
}

/** The merchant that the address names, or the first one; null for an account without any. */
export function useChosenMerchant() {
  const { data: merchants = [] } = useMerchants()
  const [{ merch }, change] = useAddress()
  const chosen = merchants.find(({ merch_id }) => merch_id === merch) ?? merchants[0] ?? null
  return [chosen, (merchId: number) => change({ merch: merchId })] as const
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

/** Goes on under the name of `owner`, whose things a page shows; false until it is there. */
export function useOwner(owner: number | undefined): boolean {
  const chosen = usePublisher().pub_id
  const { data: publishers = [] } = usePublishers()
  const navigate = useNavigate()
  const isElsewhere = owner !== chosen && publishers.some(({ pub_id }) => pub_id === owner)
  useEffect(() => {
    if (!isElsewhere) return
    void navigate({ to: '.', search: (search) => ({ ...search, pub: owner }), replace: true })
  }, [isElsewhere, owner, navigate])
  return !isElsewhere
}
