/** Clicks on wrapper links that earn nothing, because the links do not name the publisher. */
import type { LinkPage } from '../api.ts'
import { count } from '../format.ts'
import { usePublisherSettings } from '../organization.ts'
import { unicodeHost } from '../unicode-host.ts'

type Unattributed = LinkPage['unattributed'][number]

/** The largest counts show the mistake; the API lists all of them. */
const ROWS_SHOWN = 10

export function UnattributedRedirects({ rows }: { rows: readonly Unattributed[] }) {
  const { data: settings } = usePublisherSettings()
  if (rows.length === 0) return null
  const total = rows.reduce((sum, { redirects }) => sum + redirects, 0)
  const more = rows.length - ROWS_SHOWN
  return (
    <details className="panel">
      <summary className="px-4 py-3 text-base font-semibold">
        {clicks(total)} on wrapper links earned you nothing
      </summary>
      <p className="px-4 pb-3 text-sm text-soft">
        In the last 30 days, these links did not name you. Write{' '}
        <code className="wrap-anywhere text-ink">publisher_slug={settings?.slug ?? '…'}</code> in
        their URLs.
      </p>
      <ul className="divide-y divide-line border-t border-line text-sm">
        {rows.slice(0, ROWS_SHOWN).map((row) => (
          <Redirects key={`${row.host} ${row.slug} ${row.target_host}`} row={row} />
        ))}
      </ul>
      {more > 0 && (
        <p className="border-t border-line px-4 py-3 text-sm text-soft">
          {count(more)} more. The API’s <code>unattributed_redirects/</code> lists all of them.
        </p>
      )}
    </details>
  )
}

function Redirects({ row }: { row: Unattributed }) {
  const { slug, host, target_host: target, redirects } = row
  const from = host === '' ? 'From an unknown page' : `From ${unicodeHost(host)}`
  return (
    <li className="flex items-baseline justify-between gap-4 px-4 py-3">
      <div className="min-w-0 wrap-anywhere">
        <p>{slug === '' ? 'No publisher_slug' : <bdi>publisher_slug={slug}</bdi>}</p>
        <p className="text-soft">
          {from} to {unicodeHost(target)}
        </p>
      </div>
      <p className="number shrink-0">{clicks(redirects)}</p>
    </li>
  )
}

const clicks = (many: number) => `${count(many)} ${many === 1 ? 'click' : 'clicks'}`
