/** What the page tag reported in the last seven days: hosts, consent, and links nobody pays for. */
import type { TagStatus } from '../publisher-api.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { unicodeHost } from '../unicode-host.ts'

type Host = TagStatus['hosts'][number]
type Consent = TagStatus['consent'][number]
type Lost = TagStatus['links_not_monetised'][number]

const HOSTS: readonly Column<Host>[] = [
  { id: 'host', head: 'Host', value: ({ host }) => (host === '' ? 'others' : unicodeHost(host)) },
  {
    ...{ id: 'views', head: 'Page views', kind: 'count', isSum: true },
    value: (one) => one.page_views,
  },
  { id: 'at', head: 'Last seen', kind: 'day', value: (one) => one.datetime_last_page_view },
]

const CONSENT_WORDS: Readonly<Record<Consent['consent'], string>> = {
  full: 'Given',
  contextual: 'Refused: without cookies, nothing is recognized again',
  unknown: 'No consent tool found: your default applies',
}

const CONSENTS: readonly Column<Consent>[] = [
  { id: 'consent', head: 'Consent', value: ({ consent }) => CONSENT_WORDS[consent] },
  {
    ...{ id: 'views', head: 'Page views', kind: 'count', isSum: true },
    value: (one) => one.page_views,
  },
  { id: 'at', head: 'Last seen', kind: 'day', value: (one) => one.datetime_last_page_view },
]

const REASONS: Readonly<Record<Lost['reason'], string>> = {
  no_merchant: 'Nobody sells this here',
  no_bid: 'No merchant pays now',
  out_of_stock: 'Out of stock',
}

const LOST: readonly Column<Lost>[] = [
  { id: 'host', head: 'Shop', value: ({ host }) => (host === '' ? 'unknown' : unicodeHost(host)) },
  { id: 'reason', head: 'Why it earns nothing', value: ({ reason }) => REASONS[reason] },
  { id: 'links', head: 'Links', kind: 'count', isSum: true, value: ({ links }) => links },
  {
    ...{ id: 'views', head: 'Times loaded', kind: 'count', isSum: true },
    value: ({ impressions }) => impressions,
  },
]

export function TagSeen({ status }: { status: TagStatus }) {
  const { hosts, consent, links_not_monetised: lost } = status
  return (
    <>
      {hosts.length > 0 && (
        <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
          <DataTable
            id="tag-hosts"
            label="Pages seen"
            rows={hosts}
            keyOf={({ host }) => host}
            columns={HOSTS}
            sort={{ by: 'views' }}
            note="In the last seven days. Anybody can put your tag into a page; a host that is not yours costs you nothing."
          />
          <DataTable
            id="tag-consent"
            label="Consent seen"
            rows={consent}
            keyOf={(one) => one.consent}
            columns={CONSENTS}
            sort={{ by: 'views' }}
          />
        </div>
      )}
      {lost.length > 0 && (
        <DataTable
          id="tag-lost"
          label="Links that nobody pays for"
          rows={lost}
          keyOf={({ host, reason }) => `${host} ${reason}`}
          columns={LOST}
          sort={{ by: 'views' }}
          note="Readers go to these shops without an auction. Link to a product that a merchant of the network sells instead."
        />
      )}
    </>
  )
}
