/** The page tag: the snippet for each platform, and what the tag reported lately. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import README from '../../tag/README.md?raw'
import { date, time } from '../format.ts'
import { usePublisher, usePublisherSettings } from '../organization.ts'
import { publisherApi, type TagStatus } from '../publisher-api.ts'
import { useMe } from '../session.ts'
import { tagSnippets } from '../tag-snippets.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Progress } from '../ui/notice.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Title } from '../ui/title.tsx'
import { TagCheckPanel } from './tag-check-panel.tsx'
import { TagSeen } from './tag-seen.tsx'

export function TagPage() {
  const { pub_id: pubId } = usePublisher()
  const status = useQuery({
    queryKey: ['tag status', pubId],
    queryFn: () => publisherApi.tagStatus(pubId),
    refetchInterval: 30_000,
  })
  return (
    <div className="space-y-5">
      <Title>Page tag</Title>
      <p className="max-w-prose text-soft">
        The tag is one line in your pages. It runs an auction for each smart link when a reader
        opens the page, and counts views.
      </p>
      {status.data !== undefined && <Standing status={status.data} />}
      <TagCheckPanel />
      <Snippets />
      <Progress query={status} />
      {status.data !== undefined && <TagSeen status={status.data} />}
    </div>
  )
}

function Standing({ status: { datetime_last_page_view: at } }: { status: TagStatus }) {
  return (
    <p
      className={`flex items-center gap-2 rounded-lg px-4 py-3 font-medium ${
        at === null ? 'bg-second-tint text-second' : 'bg-tint text-accent'
      }`}
    >
      <Icon name={at === null ? 'alert' : 'check'} />
      {at === null
        ? 'The tag has not reported a page view yet. Put it into a page and open that page.'
        : `The tag works. It last reported on ${date(at)}, ${time(at)} UTC.`}
    </p>
  )
}

function Snippets() {
  const { pub_id: pubId } = usePublisher()
  const { data: settings } = usePublisherSettings()
  const { data: me } = useMe()
  // A link names the host of all of them.
  const links = useQuery({
    queryKey: ['links', pubId, 'names'],
    queryFn: () => publisherApi.links(pubId, { search: null, health: null, cursor: null }),
    staleTime: 60_000,
  })
  const [link] = links.data?.rows ?? []
  const linkUrl = link?.smart_link_url.replace(`/${link.auction_id}`, '') ?? null
  const slug = settings?.slug
  const serviceUrl = me?.base_url
  const snippets = useMemo(
    () =>
      slug == null || serviceUrl === undefined
        ? []
        : tagSnippets(README, { slug, serviceUrl, linkUrl }),
    [slug, serviceUrl, linkUrl],
  )
  const [chosen, choose] = useState('html')
  const snippet = snippets.find(({ name }) => name === chosen)
  if (snippet === undefined) return null
  return (
    <section aria-labelledby="snippets" className="panel p-4">
      <h2 id="snippets" className="mb-2">
        Add it to your pages
      </h2>
      <Tabs
        label="Platform"
        tabs={snippets.map(({ name, label }) => ({ value: name, label }))}
        value={chosen}
        onChange={choose}
      >
        <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
          <p className="text-sm text-soft">{snippet.note}</p>
          <CopyButton text={snippet.code} label="Copy" of={`the snippet for ${snippet.label}`} />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it. */}
        <section tabIndex={0} aria-label={`Snippet for ${snippet.label}`} className="code">
          {snippet.code}
        </section>
      </Tabs>
      <p className="mt-3 text-sm text-soft">
        Single-page sites need nothing more: the tag notices when the reader goes on to another
        article.
      </p>
    </section>
  )
}
