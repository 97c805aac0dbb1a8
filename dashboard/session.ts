/** The user's session. */
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Permission } from '../src/accounts/permission.ts'
import { api, isNotLoggedIn, remember, type User } from './api.ts'
import { PATHS } from './paths.ts'
import { signIn } from './sign-in-api.ts'

const ME = ['me']

export const useMe = () => useQuery({ queryKey: ME, queryFn: api.me, staleTime: Infinity })

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
  client.setQueryData(ME, remember(user)) // Another tab may have logged in.
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
        ...{ org: undefined, from: undefined, to: undefined },
        ...{ compare: undefined, zone: undefined },
      }
      return navigate({ to: PATHS.overview, search })
    },
  })
}
