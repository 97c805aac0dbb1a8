/** Wraps the pages of a merchant: the chosen one, or why there is none. */
import type { ReactNode } from 'react'
import { useAddress } from '../address.ts'
import type { Merchant } from '../api.ts'
import { useChosenMerchant, useMe, useMerchants } from '../session.ts'
import { NotYours } from './not-yours.tsx'
import { EmptyState } from './notice.tsx'

export function OfMerchant({ children }: { children: (merchant: Merchant) => ReactNode }) {
  const [merchant] = useChosenMerchant()
  const { data: merchants = [] } = useMerchants()
  const { data: me } = useMe()
  const [{ merch }] = useAddress()
  if (merchant !== null) return children(merchant)
  if (merch !== undefined) {
    const own = merchants.map(({ merch_id, name }) => ({ id: merch_id, name }))
    return <NotYours kind="merchant" id={merch} own={own} />
  }
  return (
    <EmptyState title="Your account has no merchant yet" isPage>
      Ask its owner, or the operator of this network, to invite <bdi>{me?.email}</bdi>.
    </EmptyState>
  )
}
