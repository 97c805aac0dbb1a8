/** The lists of all organizations, and the names behind their IDs. */
import { useQuery } from '@tanstack/react-query'
import { network } from '../network-api.ts'

export const PUBLISHERS = ['network', 'publishers']
export const MERCHANTS = ['network', 'merchants']
export const USERS = ['network', 'users']

/** Names change rarely; figures of these lists need not be newer. */
const STALE_MS = 30_000

export const usePublishers = () =>
  useQuery({ queryKey: PUBLISHERS, queryFn: network.publishers, staleTime: STALE_MS })
export const useMerchants = () =>
  useQuery({ queryKey: MERCHANTS, queryFn: network.merchants, staleTime: STALE_MS })
export const useUsers = () =>
  useQuery({ queryKey: USERS, queryFn: network.users, staleTime: STALE_MS })

export function useMerchantNames(): (id: number) => string {
  const { data } = useMerchants()
  return (id) => data?.find(({ merch_id }) => merch_id === id)?.name ?? `Merchant ${id}`
}

export function usePublisherNames(): (id: number) => string {
  const { data } = usePublishers()
  return (id) => data?.find(({ pub_id }) => pub_id === id)?.name ?? `Publisher ${id}`
}
