/** What a check of a page found: findings with their fix, the picture, and each link. */
import { cents, date, time } from '../format.ts'
import type { TagCheck } from '../publisher-api.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { Icon } from '../ui/icon.tsx'

type Result = NonNullable<TagCheck['result']>
type Finding = Result['findings'][number]
type Link = Result['links'][number]

export function TagCheckResult({ check, result }: { check: TagCheck; result: Result }) {
  const { findings, links, total_links: total, page_errors: errors } = result
  const { screenshot_url: picture, datetime_updated: at } = check
  return (
    <>
      <p className="text-sm text-soft">
        Checked on {date(at)}, {time(at)} UTC.
      </p>
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <ul className="space-y-3">
          {findings.map((finding) => (
            <FindingItem key={finding.text} finding={finding} />
          ))}
        </ul>
        {picture !== null && <Picture url={picture} page={check.url} />}
      </div>
      {links.length > 0 && (
        <DataTable
          id="tag-check-links"
          label="Links of the page"
          rows={links.map((link, at) => ({ ...link, at }))}
          keyOf={({ at }) => String(at)}
          columns={LINKS}
          note={
            total > links.length
              ? `The first ${links.length} of ${total} links.`
              : 'What a reader’s click on each link would do now.'
          }
        />
      )}
      {errors.length > 0 && (
        <details className="text-sm">
          <summary className="cursor-pointer">Errors of the page’s scripts</summary>
          <ul className="mt-2 list-disc space-y-1 pl-5 font-mono text-[0.8125rem] wrap-anywhere">
            {[...new Set(errors)].map((error) => (
              <li key={error}>
                <bdi>{error}</bdi>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

const LOOKS: Readonly<Record<Finding['level'], { look: string; said: string }>> = {
  good: { look: 'text-accent', said: 'Good' },
  note: { look: 'text-soft', said: 'Note' },
  problem: { look: 'text-second', said: 'Problem' },
}

function FindingItem({ finding: { level, text, fix } }: { finding: Finding }) {
  const { look, said } = LOOKS[level]
  return (
    <li className="flex gap-3">
      <span className={`grid size-6 shrink-0 place-items-center ${look}`}>
        {level === 'note' ? (
          <span className="size-1.5 rounded-full bg-current" />
        ) : (
          <Icon name={level === 'good' ? 'check' : 'alert'} />
        )}
      </span>
      <div className="min-w-0 wrap-anywhere">
        <p className={level === 'problem' ? 'font-medium' : ''}>
          <span className="sr-only">{said}: </span>
          <bdi>{text}</bdi>
        </p>
        {fix !== null && <p className="text-sm text-soft">{fix}</p>}
      </div>
    </li>
  )
}

/** Its top, because a page is long; the whole one opens in another tab, where it zooms. */
function Picture({ url, page }: { url: string; page: string }) {
  return (
    <figure>
      <a href={url} target="_blank" rel="noreferrer" className="block">
        <img
          src={url}
          alt={`Screenshot of ${page}, with its links outlined`}
          className="max-h-72 w-full rounded-lg border border-line object-cover object-top"
        />
        <span className="link mt-1 inline-block text-sm">View the whole screenshot</span>
      </a>
      <figcaption className="mt-1 text-xs text-soft">
        Links outlined in green were auctioned, in amber got no answer, in grey stay as they are.
      </figcaption>
    </figure>
  )
}

const OUTCOMES: Readonly<Record<Link['status'], string>> = {
  auctioned: 'Auctioned',
  waiting: 'No answer yet',
  left: 'Left as it is',
}

const outcome = ({ status, has_winner: hasWinner }: Link): string => {
  if (hasWinner === true) return 'Earns'
  return hasWinner === false ? 'Nobody bid' : OUTCOMES[status]
}

const LINKS: readonly Column<Link & { readonly at: number }>[] = [
  {
    ...{ id: 'link', head: 'Link', value: ({ text, url }) => text || url },
    cell: ({ text, url }) => (
      <span className="block max-w-72 truncate" title={url}>
        <bdi>{text || url}</bdi>
      </span>
    ),
  },
  { id: 'outcome', head: 'Outcome', value: outcome },
  { id: 'merchant', head: 'Merchant', value: ({ merchant }) => merchant },
  {
    ...{ id: 'earns', head: 'Earns a click', kind: 'money', value: ({ earns }) => earns },
    cell: ({ earns }) => (earns === null ? '–' : cents(earns)),
  },
  { id: 'why', head: 'Why', value: ({ why }) => why },
]
