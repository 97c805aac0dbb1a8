/** Developer options: API keys, an example call, and the page tag. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { Organization } from '../../src/accounts/permission.ts'
import type { User } from '../api.ts'
import { nameOf, organizationOf } from '../membership.ts'
import { usePublisherIfAny, usePublisherSettings } from '../organization.ts'
import { people, type WantedKey } from '../people-api.ts'
import { useMe } from '../session.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Failure, Progress } from '../ui/notice.tsx'
import { OfOrganization } from '../ui/of-organization.tsx'
import { Title } from '../ui/title.tsx'
import { KeyList } from './key-list.tsx'
import { NewKeyForm } from './new-key-form.tsx'

export function DeveloperPage() {
  const [fresh, setFresh] = useState<string | null>(null)
  const publisher = usePublisherIfAny()
  const { data: me } = useMe()
  return (
    <div className="space-y-8">
      <Title>Developer options</Title>
      <OfOrganization
        title="API keys"
        isPage={false}
        permission="keys.write"
        who="owners and managers"
      >
        {(membership) => <Keys at={organizationOf(membership)} fresh={fresh} onFresh={setFresh} />}
      </OfOrganization>
      {me !== undefined && <Trial apiKey={fresh} me={me} />}
      {me !== undefined && publisher !== null && <Tag me={me} />}
    </div>
  )
}

function Keys(props: {
  at: Organization
  fresh: string | null
  onFresh: (key: string | null) => void
}) {
  const { at, fresh, onFresh } = props
  const client = useQueryClient()
  const section = useRef<HTMLElement>(null)
  const queryKey = ['keys', nameOf(at)]
  const keys = useQuery({ queryKey, queryFn: () => people.keys(at) })
  const again = () => client.invalidateQueries({ queryKey: ['keys'] })
  const make = useMutation({
    mutationFn: (body: WantedKey) => people.createKey(at, body),
    onSuccess: ({ key }) => {
      onFresh(key)
      return again()
    },
  })
  const disable = useMutation({
    mutationFn: (tokenId: number) => people.disableKey(at, tokenId),
    onSuccess: (_, tokenId) => {
      if (tokenId === make.data?.token_id) onFresh(null) // The key is disabled, so hide it.
      return again()
    },
  })
  return (
    <section ref={section} tabIndex={-1} aria-label="Keys" className="space-y-3">
      <p className="text-sm text-soft">
        A program with a key acts as you. Keep it secret, and give it no more rights than it needs.
      </p>
      {fresh !== null && (
        <FreshKey
          apiKey={fresh}
          onSeen={() => {
            section.current?.focus() // The button disappears, so move the focus here.
            onFresh(null)
          }}
        />
      )}
      <NewKeyForm error={make.error} isPending={make.isPending} onMake={make.mutateAsync} />
      <Progress query={keys} />
      {disable.error !== null && <Failure error={disable.error} />}
      {keys.data !== undefined && <KeyList keys={keys.data} onDisable={disable.mutate} />}
    </section>
  )
}

/** A key is shown once. The service stores only its hash. */
function FreshKey({ apiKey, onSeen }: { apiKey: string; onSeen: () => void }) {
  return (
    <div role="status" className="rounded-xl border border-accent bg-tint p-4">
      <p className="text-sm font-medium">Your new key. Copy it now. It will not be shown again.</p>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <code id="new-key" className="min-w-0 grow font-mono text-[0.8125rem] break-all">
          {apiKey}
        </code>
        <CopyButton text={apiKey} label="Copy key" />
        <button type="button" className="button button-small" onClick={onSeen}>
          Done
        </button>
      </div>
    </div>
  )
}

/** Uses BASE_URL, because the page may have been opened under another host name. */
function Trial({ apiKey, me }: { apiKey: string | null; me: User }) {
  const scheme = `${me.brand.toUpperCase()}-API-KEY`
  const line = `curl -H 'Authorization: ${scheme} ${apiKey ?? '<your key>'}' \\
  ${me.base_url}/api/v1/tokeninfo/`
  return (
    <Snippet title="Try it" text={line} copyLabel="Copy command">
      Returns the record of the key. The{' '}
      <a href="/docs/" className="link">
        documentation
      </a>{' '}
      has guides and all endpoints.
    </Snippet>
  )
}

function Tag({ me }: { me: User }) {
  const { data: publisher } = usePublisherSettings()
  if (publisher === undefined) return null
  const { slug, pub_id, name } = publisher
  const text = `<script async src="${me.base_url}/tag/souk.js" data-publisher="${slug}"></script>`
  return (
    <Snippet title="Page tag" text={text} copyLabel="Copy tag">
      One line in the head of every page of <bdi>{name}</bdi>. It runs the auctions and counts
      views. If anything fails, the page stays as it was. Your publisher id is {pub_id}, your slug{' '}
      {slug}.
    </Snippet>
  )
}

function Snippet(props: {
  title: string
  text: string
  copyLabel: string
  children: React.ReactNode
}) {
  return (
    <section aria-label={props.title} className="space-y-2">
      <h2>{props.title}</h2>
      <p className="max-w-prose text-sm text-soft">{props.children}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it. */}
      <code tabIndex={0} className="code">
        {props.text}
      </code>
      <CopyButton text={props.text} label={props.copyLabel} />
    </section>
  )
}
