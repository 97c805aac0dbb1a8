/** The message of each event, and how a receiver checks its signature. */
import { useState } from 'react'
import type { Organization } from '../../src/accounts/permission.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { eventsOf } from './webhook-events.ts'

export function WebhookExamples({ kind }: { kind: Organization['kind'] }) {
  const all = eventsOf(kind)
  const [event, setEvent] = useState(all[0]?.event ?? '')
  const data = all.find((one) => one.event === event)?.data ?? {}
  const message = {
    ...{ event, delivery_id: '1788080001000001', created_at: '2026-03-02T10:00:00Z' },
    data,
  }
  const text = JSON.stringify(message, null, 2)
  return (
    <details className="panel px-4 py-3 text-sm print:hidden">
      <summary className="cursor-pointer font-medium">Messages and their signature</summary>
      <div className="mt-3 space-y-3">
        <p className="max-w-prose text-soft">
          Each message is a POST of JSON. Compute HMAC-SHA256, keyed with the secret, over the value
          of X-Souk-Timestamp, a dot and the body. Compare its hexadecimal digits with
          X-Souk-Signature. Answer with a status from 200 to 299 within ten seconds. Anything else
          is tried again for 32 hours, with the same delivery_id.
        </p>
        <div className="flex flex-wrap items-center gap-2">
          <select
            aria-label="Event of the example"
            className="h-8 max-w-full rounded-lg border border-edge bg-panel px-2"
            value={event}
            onChange={({ target }) => setEvent(target.value)}
          >
            {all.map((one) => (
              <option key={one.event} value={one.event}>
                {one.event}
              </option>
            ))}
          </select>
          <CopyButton text={text} label="Copy example" />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it. */}
        <code tabIndex={0} className="code">
          {text}
        </code>
      </div>
    </details>
  )
}
