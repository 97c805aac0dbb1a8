/** A page of a publisher's own; a merchant's account has one of its own, and no other. */
import { Link, Navigate } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import { PATHS } from '../paths.ts'
import { useMe, useMerchants, usePublisherIfAny } from '../session.ts'
import { CopyButton } from './copy-button.tsx'
import { EmptyState } from './notice.tsx'

export function OfPublisher({ children }: { children: ReactNode }) {
  const publisher = usePublisherIfAny()
  const { data: merchants = [] } = useMerchants()
  if (publisher === null) {
    return merchants.length > 0 ? <Navigate to={PATHS.merchant} replace /> : <NoPublisher />
  }
  // Drawn anew for another: what a form holds, or has just made, is of one publisher.
  return <Fragment key={publisher.pub_id}>{children}</Fragment>
}

function NoPublisher() {
  const { data: me } = useMe()
  const command = `npx souk publisher create --name "Your magazine" --slug your-magazine --user ${me?.email}`
  return (
    <EmptyState title="Your account has no publisher yet" isPage>
      <p>The operator of this service makes one with:</p>
      <code className="code my-3 text-left wrap-anywhere whitespace-pre-wrap">{command}</code>
      <CopyButton text={command} label="Copy command" />
      <p className="mt-4">
        A merchant’s account needs none: its own page is here once the operator has given it its
        merchant, with <code>souk merchant update --user</code>. API keys are made on the{' '}
        <Link to={PATHS.developer} className="link">
          developer options page
        </Link>
        .
      </p>
    </EmptyState>
  )
}
