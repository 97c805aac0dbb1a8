/** The links of a pasted article with what each would earn; then the article with smart links. */
import { useMemo, useState } from 'react'
import { count, shortUrl } from '../format.ts'
import type { Found } from '../publisher-api.ts'
import { type Change, replaceLinks } from '../replace-links.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure } from '../ui/notice.tsx'
import { Switch } from '../ui/switch.tsx'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'
import type { Draft } from './draft.ts'

const COLUMNS: readonly Column<Found>[] = [
  {
    ...{ id: 'url', head: 'Link', value: ({ url }) => url },
    cell: ({ url }) => <bdi title={url}>{shortUrl(url)}</bdi>,
  },
  {
    ...{ id: 'verdict', head: 'Result', value: verdictOf },
    cell: (link) => (
      <span
        className={`chip gap-1 ${link.can_earn ? 'bg-tint text-accent' : 'bg-second-tint text-second'}`}
      >
        <Icon name={link.can_earn ? 'check' : 'alert'} size={12} />
        {verdictOf(link)}
      </span>
    ),
  },
  {
    ...{ id: 'cpc', head: 'Expected a click', kind: 'money' },
    value: ({ can_earn, best_effort_cpc: cpc }) => (can_earn && cpc > 0 ? String(cpc) : null),
  },
  { id: 'product', head: 'Product', value: (link) => link.product_name },
  { id: 'shop', head: 'Shop', value: (link) => link.merchant_name },
]

function verdictOf({ can_earn, product_name: product }: Found): string {
  if (can_earn) return 'Earns'
  return product === null ? 'Nobody sells this here' : 'No merchant pays now'
}

export function FoundLinks(props: {
  draft: Draft
  found: readonly Found[]
  created: readonly Found[] | null
  error: Error | null
  isPending: boolean
  onCreate: (links: readonly Found[]) => Promise<unknown>
}) {
  const { draft, found, created, error, isPending } = props
  const [isAll, setAll] = useState(false)
  const create = useOneAtATime(props.onCreate)
  const wanted = found.filter((link) => isAll || link.can_earn)
  if (found.length === 0) {
    return (
      <EmptyState title="No links to shops found">
        Links to your own pages and existing smart links are left out. If you pasted the article as
        its readers see it, choose “HTML” and paste its source.
      </EmptyState>
    )
  }
  const earning = found.filter((link) => link.can_earn).length
  return (
    <>
      <DataTable
        id="found-links"
        label={`${count(earning)} of ${count(found.length)} links can earn`}
        rows={found}
        keyOf={({ url }) => url}
        columns={COLUMNS}
        sort={{ by: 'cpc' }}
      />
      <div className="panel space-y-3 p-4">
        <Switch
          label="Also replace links that earn nothing now"
          note="They earn as soon as a merchant pays for their product."
          isOn={isAll}
          onChange={setAll}
        />
        {error !== null && <Failure error={error} />}
        <button
          type="button"
          className="button button-main"
          aria-busy={isPending}
          aria-disabled={wanted.length === 0}
          onClick={() => wanted.length > 0 && void create(wanted)}
        >
          {wanted.length === 0
            ? 'No link to replace'
            : `Create ${count(wanted.length)} smart ${wanted.length === 1 ? 'link' : 'links'}`}
        </button>
      </div>
      {created !== null && <Result draft={draft} created={created} />}
    </>
  )
}

/** The article with smart links. A list of URLs becomes a list of smart links. */
function Result({ draft, created }: { draft: Draft; created: readonly Found[] }) {
  const { text, changes } = useMemo(() => {
    const replacements = created.flatMap(({ url, smart_link: smart }) =>
      smart === null ? [] : [{ url, smartLink: smart.smart_link_url }],
    )
    return replaceLinks(draft.text, replacements, { isHtml: draft.kind === 'html' })
  }, [draft, created])
  return (
    <section aria-labelledby="result" className="panel space-y-4 p-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="result">
          {count(changes.length)} {changes.length === 1 ? 'link' : 'links'} replaced
        </h2>
        <CopyButton text={text} label="Copy the article" />
      </div>
      <ol className="divide-y divide-line rounded-lg border border-line">
        {changes.map((change, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes.
          <ChangeLine key={at} change={change} />
        ))}
      </ol>
      <label htmlFor="result-text" className="label">
        The article with smart links
      </label>
      <textarea
        id="result-text"
        readOnly
        rows={10}
        spellCheck={false}
        className="field h-auto py-2 font-mono text-[0.8125rem]"
        value={text}
      />
    </section>
  )
}

function ChangeLine({ change }: { change: Change }) {
  const { before, after, url, smartLink } = change
  return (
    <li className="px-3 py-2 font-mono text-[0.8125rem] wrap-anywhere">
      <span className="text-soft">…{before}</span>
      <del className="bg-bad-tint text-bad">{url}</del>{' '}
      <ins className="bg-tint text-accent">{smartLink}</ins>
      <span className="text-soft">{after}…</span>
    </li>
  )
}
