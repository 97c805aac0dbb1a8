/** Finds of the command palette that the service knows: links, orders, organizations. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, isRefusal } from './api.ts'
import type { Find, FindGroup } from './finds.ts'
import { type Membership, nameOf } from './membership.ts'
import { START } from './navigation.ts'
import { network } from './network-api.ts'
import { useChosen } from './organization.ts'
import { PATHS } from './paths.ts'
import { useMe } from './session.ts'

/** Waits until somebody stops typing, so that not every letter is a call. */
const TYPING_MS = 250
const TEXT_MIN = 2
const FOUND_MAX = 6

export function useRecordFinds(text: string) {
  const debounced = useDebounced(text)
  const chosen = useChosen() ?? null
  const { data: me } = useMe()
  const isOperator =
    me?.memberships.some(({ permissions }) => permissions.includes('network.read')) ?? false
  const isAsked = debounced.length >= TEXT_MIN
  const found = useQuery({
    queryKey: ['find', chosen && nameOf(chosen.organization), isOperator, debounced],
    queryFn: () => findRecords(debounced, chosen, isOperator),
    enabled: isAsked,
    placeholderData: (before) => (isAsked ? before : undefined),
  })
  const isSearching =
    text.length >= TEXT_MIN && (debounced !== text || found.isFetching) && found.error === null
  return { groups: isAsked ? (found.data ?? []) : [], isSearching, error: found.error }
}

function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return debounced
}

async function findRecords(
  text: string,
  at: Membership | null,
  isOperator: boolean,
): Promise<FindGroup[]> {
  const { kind, id } = at?.organization ?? { kind: null, id: null }
  const org = at === null ? '' : nameOf(at.organization)
  const [links, orders, organizations] = await Promise.all([
    kind === 'publisher' && id !== null ? findLinks(id, org, text) : [],
    id !== null && (kind === 'publisher' || kind === 'merchant')
      ? findOrder({ kind, id }, org, text)
      : [],
    isOperator ? findOrganizations(text) : [],
  ])
  return [
    { value: 'Links', items: links },
    { value: 'Orders', items: orders },
    { value: 'Organizations of the network', items: organizations },
  ].filter(({ items }) => items.length > 0)
}

async function findLinks(pubId: number, org: string, search: string): Promise<Find[]> {
  const { links } = await api.links(pubId, { search, cursor: null })
  return links.slice(0, FOUND_MAX).map((link) => ({
    key: `link ${link.auction_id}`,
    label: link.url ?? link.smart_link_url,
    note: link.article_name,
    to: PATHS.link,
    params: { id: link.auction_id },
    search: { org },
  }))
}

/** An order by its whole ID. */
async function findOrder(
  of: { kind: 'publisher' | 'merchant'; id: number },
  org: string,
  orderId: string,
): Promise<Find[]> {
  // Publishers know an order by our number, merchants by their own.
  if (!(of.kind === 'publisher' ? /^\d+$/ : /^\S*\d\S*$/).test(orderId)) return []
  try {
    const { ordered_at: orderedAt } = await api.order(of, orderId)
    const day = orderedAt.slice(0, 'YYYY-MM-DD'.length)
    const found = { key: `order ${orderId}`, label: `Order ${orderId}`, note: day }
    return of.kind === 'publisher'
      ? [{ ...found, to: PATHS.order, params: { id: orderId }, search: { org } }]
      : [{ ...found, to: PATHS.merchantOrder, params: { order: orderId }, search: { org } }]
  } catch (error) {
    if (isRefusal(error)) return [] // No such order.
    throw error
  }
}

async function findOrganizations(text: string): Promise<Find[]> {
  const [publishers, merchants] = await Promise.all([network.publishers(), network.merchants()])
  const wanted = text.toLowerCase()
  const all = [
    ...publishers.map(({ pub_id: id, name }) => ({ kind: 'publisher' as const, id, name })),
    ...merchants.map(({ merch_id: id, name }) => ({ kind: 'merchant' as const, id, name })),
  ]
  return all
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .slice(0, FOUND_MAX)
    .map(({ kind, id, name }) => ({
      key: `network ${kind} ${id}`,
      label: name,
      note: `${kind} ${id}`,
      to: START[kind],
      search: { org: `${kind}-${id}` },
    }))
}
