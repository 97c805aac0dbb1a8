/** Webhooks: where the service sends events, whether they arrived, and a test of the receiver. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { nameOf, organizationOf } from '../membership.ts'
import { useOrganization } from '../organization.ts'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { webhooks } from '../webhook-api.ts'
import { NewWebhookForm } from './new-webhook-form.tsx'
import { WebhookExamples } from './webhook-examples.tsx'
import { WebhookItem } from './webhook-item.tsx'

export function WebhooksPage() {
  const membership = useOrganization()
  const at = organizationOf(membership)
  const list = useQuery({
    queryKey: ['webhooks', nameOf(at)],
    queryFn: () => webhooks.list(at),
  })
  const [isNew, setNew] = useState(false)
  return (
    <div className="space-y-4">
      <PageHead
        title="Webhooks"
        purpose="Your server receives a signed message as soon as an order, return or payout changes."
      >
        <button type="button" className="button button-main" onClick={() => setNew(true)}>
          Create webhook
        </button>
      </PageHead>
      <Progress query={list} />
      {list.data?.length === 0 && (
        <EmptyState title="No webhook yet">
          Create one with the URL of your server. A test event shows whether it arrives.
        </EmptyState>
      )}
      {list.data !== undefined && list.data.length > 0 && (
        <ul className="space-y-3">
          {list.data.map((webhook) => (
            <WebhookItem key={webhook.webhook_id} at={at} webhook={webhook} />
          ))}
        </ul>
      )}
      <WebhookExamples kind={at.kind} />
      {isNew && <NewWebhookForm at={at} onClose={() => setNew(false)} />}
    </div>
  )
}
