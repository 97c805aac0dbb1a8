/** A test order that a merchant sends from its shop, and its arrival, live. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { merchantApi } from '../merchant-api.ts'
import { Choice } from '../ui/choice.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Progress } from '../ui/notice.tsx'

const POLL_MS = 2_000

const WAYS = [
  { value: 'browser', label: 'From the shop’s page' },
  { value: 'server', label: 'From your server' },
] as const
type Way = (typeof WAYS)[number]['value']

export function TestOrder({ merchId, domain }: { merchId: number; domain: string | null }) {
  const [id, setId] = useState<string | null>(null)
  const [way, setWay] = useState<Way>('browser')
  return (
    <section aria-labelledby="test" className="panel space-y-4 p-4">
      <h2 id="test">Test it</h2>
      <p className="text-sm">
        Add <code>?souk-test</code> to the URL of a page of your shop
        {domain !== null && (
          <>
            , such as{' '}
            <a
              href={`https://${domain}/?souk-test`}
              target="_blank"
              rel="noreferrer"
              className="link wrap-anywhere"
            >
              https://{domain}/?souk-test
            </a>
          </>
        )}
        . The page then shows the message that the tag would send, and sends nothing.
      </p>
      <p className="text-sm">
        Or send a real report of an order that nobody placed. It is stored as a test and never paid.
      </p>
      <div>
        <Choice
          label="Where the test order comes from"
          options={WAYS}
          value={way}
          onChange={setWay}
        />
      </div>
      {id === null ? (
        <button
          type="button"
          className="button"
          onClick={() => setId(`TEST-${Date.now().toString(36).toUpperCase()}`)}
        >
          Start a test order
        </button>
      ) : (
        <Running merchId={merchId} id={id} way={way} />
      )}
    </section>
  )
}

function Running({ merchId, id, way }: { merchId: number; id: string; way: Way }) {
  const code = way === 'browser' ? browserCode(merchId, id) : serverCode(merchId, id)
  const orders = useQuery({
    queryKey: ['test order', merchId, id],
    queryFn: () => merchantApi.orders(merchId, { limit: '20' }),
    refetchInterval: ({ state: { data } }) =>
      data?.rows.some(({ checkout_id }) => checkout_id === id) === true ? false : POLL_MS,
  })
  const found = orders.data?.rows.find(({ checkout_id }) => checkout_id === id)
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-sm">
          {way === 'browser'
            ? 'Open a page of your shop, open the browser’s console (F12), paste this and press Enter:'
            : 'Run this where your postback secret is in the variable SECRET:'}
        </p>
        <CopyButton text={code} label="Copy" of="the test order" />
      </div>
      <CodeBlock label="Test order" text={code} />
      {orders.failureReason !== null && <Progress query={orders} />}
      <p
        role="status"
        className={`rounded-lg px-4 py-3 ${found === undefined ? 'bg-sunk text-soft' : 'bg-tint text-accent'}`}
      >
        {found === undefined
          ? `Waiting for order ${id} … A refused report appears below with its reason.`
          : `Order ${id} arrived. Your shop can report orders.`}
      </p>
    </div>
  )
}

function browserCode(merchId: number, id: string): string {
  const body = {
    organization_type: 'merchant',
    organization_id: merchId,
    user: { source_url: 'PAGE' },
    events: [{ order: { id, value: '1.00', currency: 'USD', test: true }, products: [] }],
  }
  const text = JSON.stringify(body, null, 2).replace('"PAGE"', 'location.href')
  return `fetch('${location.origin}/api/v1/events/conversions/checkout/', {
  method: 'POST',
  body: JSON.stringify(${text})
})`
}

function serverCode(merchId: number, id: string): string {
  const order = { order: { id, value: '1.00', currency: 'USD', test: true }, products: [] }
  return `BODY='${JSON.stringify({ orders: [order] })}'
TIME=$(date +%s)
SIGNATURE=$(printf '%s' "$TIME.$BODY" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/.* //')
curl '${location.origin}/api/v1/merchants/${merchId}/orders/' \\
  -H 'content-type: application/json' \\
  -H "x-souk-timestamp: $TIME" -H "x-souk-signature: $SIGNATURE" -d "$BODY"`
}
