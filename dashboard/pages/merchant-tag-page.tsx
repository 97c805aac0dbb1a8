/** A merchant's tag: the snippet for its shop system, a live test order, and the secret. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { date, time } from '../format.ts'
import { type MerchantSettings, merchantApi, type TagStatus } from '../merchant-api.ts'
import { type SnippetName, snippetFor } from '../merchant-snippets.ts'
import { useCan, useMerchant } from '../organization.ts'
import { Choice } from '../ui/choice.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Progress } from '../ui/notice.tsx'
import { CardsSkeleton } from '../ui/skeleton.tsx'
import { Sums } from '../ui/sums.tsx'
import { Title } from '../ui/title.tsx'
import { PostbackSecret } from './postback-secret.tsx'
import { RefusedList } from './refused-list.tsx'
import { TestOrder } from './test-order.tsx'

/** An open page shows a report soon after it arrives. */
const REFRESH_MS = 5_000

const SYSTEMS = [
  { value: 'html', label: 'Any shop (HTML)' },
  { value: 'gtm', label: 'Google Tag Manager' },
  { value: 'shopify', label: 'Shopify' },
] as const
type System = (typeof SYSTEMS)[number]['value']

export function MerchantTagPage() {
  const { merch_id: merchId, name } = useMerchant()
  const canRenew = useCan('secrets.write')
  const status = useQuery({
    queryKey: ['tag status', merchId],
    queryFn: () => merchantApi.tagStatus(merchId),
    refetchInterval: REFRESH_MS,
  })
  const settings = useQuery({
    queryKey: ['merchant settings', merchId],
    queryFn: () => merchantApi.settings(merchId),
    staleTime: Infinity,
  })
  return (
    <div className="space-y-6">
      <Title name={name}>{' · Tag'}</Title>
      <p className="max-w-prose text-soft">
        The tag remembers which smart link brought a reader, and reports their order. Your server
        can report orders instead, or as well: an order reported twice counts once.
      </p>
      {status.failureReason !== null && <Progress query={status} />}
      {status.data === undefined ? <CardsSkeleton cards={4} /> : <Reports status={status.data} />}
      {settings.failureReason !== null && <Progress query={settings} />}
      {settings.data !== undefined && (
        <>
          <Snippets merchId={merchId} settings={settings.data} />
          <TestOrder merchId={merchId} domain={settings.data.domain[0] ?? null} />
          <PostbackSecret
            merchId={merchId}
            formerUntil={settings.data.former_secret_until}
            canRenew={canRenew}
          />
        </>
      )}
      <RefusedList merchId={merchId} />
    </div>
  )
}

function Reports({ status }: { status: TagStatus }) {
  const { last_page, last_checkout, last_server_order, last_server_return } = status
  const card = (name: string, at: string | null, note: string) => ({
    name,
    value: at === null ? 'Never' : date(at),
    note: at === null ? note : `${time(at).slice(0, 5)} UTC`,
  })
  return (
    <section aria-label="Last reports" className="space-y-2">
      <Sums
        sums={[
          card('Tag: last page', last_page, 'of a reader who came by a smart link'),
          card('Tag: last order', last_checkout, 'from a browser'),
          card('Server: last order', last_server_order, 'signed by your server'),
          card('Server: last return', last_server_return, 'signed by your server'),
        ]}
      />
      {status.refused_24h > 0 && (
        <p className="text-sm text-bad">
          {status.refused_24h} reports were refused in the last 24 hours. They are listed below.
        </p>
      )}
    </section>
  )
}

function Snippets({ merchId, settings }: { merchId: number; settings: MerchantSettings }) {
  const [system, setSystem] = useState<System>('html')
  const shop = {
    service: location.origin,
    merchId,
    clickParam: settings.click_param,
    windowDays: settings.window_days,
  }
  return (
    <section aria-labelledby="install" className="panel space-y-4 p-4">
      <h2 id="install">Install it</h2>
      <Choice label="Your shop system" options={SYSTEMS} value={system} onChange={setSystem} />
      {STEPS[system].map(({ title, text, name }) => (
        <div key={name} className="space-y-2">
          <div className="flex flex-wrap items-center justify-between gap-2">
            <h3 className="font-medium">{title}</h3>
            <CopyButton text={snippetFor(name, shop)} label="Copy" of={title} />
          </div>
          <p className="text-sm text-soft">{text}</p>
          <CodeBlock label={title} text={snippetFor(name, shop)} />
        </div>
      ))}
    </section>
  )
}

interface Step {
  readonly title: string
  readonly text: string
  readonly name: SnippetName
}

const STEPS: Readonly<Record<System, readonly Step[]>> = {
  html: [
    {
      title: '1. On every page',
      text: 'Anywhere in the page, best in the head. Your merchant number is filled in.',
      name: 'merchant-html',
    },
    {
      title: '2. On the thank-you page, before the tag',
      text: 'Fill in the order: the value after discounts, without shipping and tax.',
      name: 'merchant-order',
    },
  ],
  gtm: [
    {
      title: '1. A custom HTML tag on all pages',
      text: 'Trigger: All Pages.',
      name: 'merchant-gtm',
    },
    {
      title: '2. A custom HTML tag on the purchase event',
      text: 'Trigger: a custom event named “purchase”, as in the usual e-commerce data layer.',
      name: 'merchant-gtm-purchase',
    },
  ],
  shopify: [
    {
      title: 'A custom pixel',
      text: 'In Shopify: Settings, Customer events, Add custom pixel. Paste this and connect it.',
      name: 'shopify',
    },
  ],
}
