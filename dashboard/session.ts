/** The user's session, and the publisher or merchant whose figures are shown. */
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMatch, useNavigate, useSearch } from '@tanstack/react-router'
import { createContext, use, useEffect } from 'react'
import type { Permission } from '../src/accounts/permission.ts'
import { useAddress } from './address.ts'
import { api, isNotLoggedIn, type Publisher, type User } from './api.ts'
import { PATHS } from './paths.ts'
import { signIn } from './sign-in-api.ts'

const ME = ['me']

export const useMe = () => useQuery({ queryKey: ME, queryFn: api.me, staleTime: Infinity })

export const usePublishers = () =>
  useQuery({
    queryKey: ['publishers'],
    queryFn: api.publishers,
    staleTime: 60_000,
    gcTime: Infinity, // The page behind the log-in form needs it, however long the form stays open.
  })

export const useMerchants = () =>
  useQuery({
    queryKey: ['merchants'],
    queryFn: api.merchants,
    staleTime: 60_000,
    gcTime: Infinity, // Same as for publishers.
  })

/** What the signed-in user may do in an organization; nothing before that is known. */
export function useRights(kind: 'publisher' | 'merchant', id: number): readonly Permission[] {
  const memberships = useMe().data?.memberships ?? []
  return memberships
    .filter(
      ({ organization: one }) => one.kind === 'network' || (one.kind === kind && one.id === id),
    )
    .flatMap(({ permissions }) => permissions)
}

/** Shows the log-in form when any call finds that the session has expired. */
export function noticeEnd(client: QueryClient, error: unknown): void {
  const me = client.getQueryState(ME)
  const isInside = me?.data !== undefined && !isNotLoggedIn(me.error)
  if (isInside && isNotLoggedIn(error)) void client.invalidateQueries({ queryKey: ME })
}

/** The same account finds its page as it was. Another account finds nothing. */
function enter(client: QueryClient, user: User | null): Promise<void> {
  const before = client.getQueryData<User>(ME)
  if (user === null || user.uid !== before?.uid) return client.resetQueries()
  client.setQueryData(ME, user)
  return client.invalidateQueries()
}

/** Notifies other tabs of a session change, because tabs share the cookie. */
const tabs = new BroadcastChannel('souk session')

/** Removes the data of one account when another one logs in, in every tab. */
export function watchOtherTabs(client: QueryClient): void {
  tabs.onmessage = ({ data }: MessageEvent<User | null>) => void enter(client, data)
}

/**
 * Logs in, at first or after the session expired. The result may be the second factor that is
 * needed instead of a user.
 */
export function useLogIn() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: signIn.logIn,
    onSuccess: (user) => {
      if ('challenge' in user) return undefined
      tabs.postMessage(user)
      return enter(client, user)
    },
  })
}

/**
 * Logs out and clears the page's state. Reloads the page at the root, because otherwise the back
 * button would show the account from the browser's cache.
 */
export function useLogOut() {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: api.logOut,
    onSuccess: () => {
      tabs.postMessage(null)
      void enter(client, null)
      const search = {
        pub: undefined,
        merch: undefined,
        org: undefined,
        from: undefined,
        to: undefined,
      }
      return navigate({ to: PATHS.overview, search })
    },
  })
}

/** The publisher in the URL, or the first one; null if that of the URL is not the user's. */
export function useChosenPublisher(publishers: readonly Publisher[]) {
  const { pub } = useSearch({ from: '__root__' })
  const navigate = useNavigate()
  // A receipt belongs to one publisher, so switching leaves the page.
  const isReceipt = useMatch({ from: PATHS.receipt, shouldThrow: false }) !== undefined
  const wanted = pub ?? publishers[0]?.pub_id
  const chosen = publishers.find(({ pub_id }) => pub_id === wanted) ?? null
  const choose = (pubId: number) =>
    void navigate({
      to: isReceipt ? PATHS.clicks : '.',
      search: (search) => ({ ...search, pub: pubId }),
    })
  return [chosen, choose] as const
}

/** The merchant in the URL, or the first one; null if that of the URL is not the user's. */
export function useChosenMerchant() {
  const { data: merchants = [] } = useMerchants()
  const [{ merch }, change] = useAddress()
  const wanted = merch ?? merchants[0]?.merch_id
  const chosen = merchants.find(({ merch_id }) => merch_id === wanted) ?? null
  return [chosen, (merchId: number) => change({ merch: merchId })] as const
}

export const PublisherContext = createContext<Publisher | null>(null)

/** The chosen publisher; null for an account without one, such as a merchant's. */
export const usePublisherIfAny = (): Publisher | null => use(PublisherContext)

/** The chosen publisher, for pages that need one. */
export function usePublisher(): Publisher {
  const publisher = usePublisherIfAny()
  if (publisher === null) throw new Error('shown outside of a publisher')
  return publisher
}

/** The settings of the chosen publisher. */
export function usePublisherSettings() {
  const pubId = usePublisher().pub_id
  return useQuery({
    queryKey: ['settings', pubId],
    queryFn: () => api.publisherSettings(pubId),
    staleTime: Infinity, // A form must not change while somebody types.
  })
}

/** Switches to `owner`, the publisher of the page's content. Returns false until that is done. */
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
