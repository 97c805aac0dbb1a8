/** Wraps the pages of a publisher. A merchant's account goes to its merchant page instead. */
import { Navigate } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import { useAddress } from '../address.ts'
import { PATHS } from '../paths.ts'
import { useMe, useMerchants, usePublisherIfAny, usePublishers } from '../session.ts'
import { NotYours } from './not-yours.tsx'
import { EmptyState } from './notice.tsx'

export function OfPublisher({ children }: { children: ReactNode }) {
  const publisher = usePublisherIfAny()
  const { data: merchants = [] } = useMerchants()
  const { data: publishers = [] } = usePublishers()
  const [{ pub }] = useAddress()
  if (publisher === null && pub !== undefined) {
    const own = publishers.map(({ pub_id, name }) => ({ id: pub_id, name }))
    return <NotYours kind="publisher" id={pub} own={own} />
  }
  if (publisher === null) {
    return merchants.length > 0 ? <Navigate to={PATHS.merchant} replace /> : <NoPublisher />
  }
  // Remounts for another publisher, so that form input and new links do not carry over.
  return <Fragment key={publisher.pub_id}>{children}</Fragment>
}

function NoPublisher() {
  const { data: me } = useMe()
  return (
    <EmptyState title="Your account has no publisher yet" isPage>
      <p>
        Ask the operator of this service to add <bdi>{me?.email}</bdi> to your publisher, or to your
        merchant if you run a shop.
      </p>
    </EmptyState>
  )
}
