/** The organization whose figures, people, keys or changes a page shows. */
import { useQuery } from '@tanstack/react-query'
import { useMatches, useNavigate } from '@tanstack/react-router'
import { createContext, use, useEffect } from 'react'
import type { Permission } from '../src/accounts/permission.ts'
import { useAddress } from './address.ts'
import { api, type Merchant, type Publisher } from './api.ts'
import { hasPage, type Membership, nameOf } from './membership.ts'
import { type PageEntry, pageAt, START } from './navigation.ts'
import { PATHS } from './paths.ts'
import { useMe } from './session.ts'

/** The entry of the present page; undefined for an unknown path. */
export function usePage(): PageEntry | undefined {
  // The last match is the page, the others its parents. An ID is the path of its route.
  const routeId = useMatches({ select: (matches) => matches.at(-1)?.routeId ?? '' })
  return pageAt(routeId)
}

/**
 * The present organization: the one in the URL, or the first that has the page. Null if the URL
 * names one that the user may not see, or if there is none; undefined while its name loads.
 */
export function useChosen(): Membership | null | undefined {
  const { data: me } = useMe()
  const [{ org }] = useAddress()
  const page = usePage()
  const memberships = me?.memberships ?? []
  const own = memberships.find(({ organization }) => nameOf(organization) === org)
  const visited = useVisited(own === undefined ? org : undefined, memberships)
  if (org !== undefined) return own ?? visited
  const first = memberships.find((one) => page !== undefined && hasPage(one, page))
  return first ?? memberships[0] ?? null
}

/** A role in the network counts in every organization, so its people may look into each. */
function useVisited(
  org: string | undefined,
  memberships: readonly Membership[],
): Membership | null | undefined {
  const network = memberships.find(({ organization }) => organization.kind === 'network')
  const [kind, id] = org?.split('-') ?? []
  const isVisit = network !== undefined && (kind === 'publisher' || kind === 'merchant')
  const { data: name, isError } = useQuery({
    queryKey: ['organization name', org],
    queryFn: () => api.organizationName(kind === 'merchant' ? 'merchant' : 'publisher', Number(id)),
    enabled: isVisit,
    staleTime: Infinity,
  })
  if (!isVisit || isError) return null
  if (name === undefined) return undefined
  return { ...network, organization: { kind, id: Number(id) }, name }
}

/** The organization of the page that renders this. */
export const OrganizationContext = createContext<Membership | null>(null)

/** The organization of the page; null on a page of the person, for somebody without any. */
export const useOrganizationIfAny = (): Membership | null => use(OrganizationContext)

export function useOrganization(): Membership {
  const membership = useOrganizationIfAny()
  if (membership === null) throw new Error('shown outside of an organization')
  return membership
}

/** Whether the user may do this in the organization of the page. */
export const useCan = (permission: Permission): boolean =>
  useOrganizationIfAny()?.permissions.includes(permission) ?? false

/** The publisher of the page; null on pages of other organizations. */
export function usePublisherIfAny(): Publisher | null {
  const at = useOrganizationIfAny()
  return at?.organization.kind === 'publisher' && at.organization.id !== null
    ? { pub_id: at.organization.id, name: at.name }
    : null
}

/** The publisher of the page, for pages that need one. */
export function usePublisher(): Publisher {
  const publisher = usePublisherIfAny()
  if (publisher === null) throw new Error('shown outside of a publisher')
  return publisher
}

/** The merchant of the page, for pages that need one. */
export function useMerchant(): Merchant {
  const { organization, name } = useOrganization()
  if (organization.kind !== 'merchant' || organization.id === null) {
    throw new Error('shown outside of a merchant')
  }
  return { merch_id: organization.id, name }
}

/**
 * Switches to another organization: stays on the page if it has the page, and otherwise goes to its
 * first one. A page about one record, such as a receipt, belongs to one organization.
 */
export function useSwitch(): (to: Membership) => void {
  const navigate = useNavigate()
  const page = usePage()
  return (to) => {
    const isSamePage = page !== undefined && page.isDetail !== true && hasPage(to, page)
    const detail = page?.path === PATHS.receipt && to.organization.kind === 'publisher'
    const path = isSamePage ? '.' : detail ? PATHS.clicks : START[to.organization.kind]
    void navigate({ to: path, search: (search) => ({ ...search, org: nameOf(to.organization) }) })
  }
}

/** Switches to `owner`, the publisher of the page's content. Returns false until that is done. */
export function useOwner(owner: number | undefined): boolean {
  const { pub_id: chosen } = usePublisher()
  const { data: me } = useMe()
  const [, change] = useAddress()
  const org = `publisher-${owner}`
  const isOwn = me?.memberships.some(({ organization }) => nameOf(organization) === org) ?? false
  const isElsewhere = isOwn && owner !== chosen
  // biome-ignore lint/correctness/useExhaustiveDependencies: `change` is new in every rendering.
  useEffect(() => {
    if (isElsewhere) change({ org }, { replace: true })
  }, [isElsewhere, org])
  return !isElsewhere
}

/** The settings of the page's publisher. */
export function usePublisherSettings() {
  const { pub_id: pubId } = usePublisher()
  return useQuery({
    queryKey: ['settings', pubId],
    queryFn: () => api.publisherSettings(pubId),
    staleTime: Infinity, // A form must not change while somebody types.
  })
}
