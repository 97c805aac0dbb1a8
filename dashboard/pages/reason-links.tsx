/** The links whose auctions a reason left without a winner, the most costly first. */
import { useQuery } from '@tanstack/react-query'
import { Link as RouteLink } from '@tanstack/react-router'
import type { NoFill } from '../api.ts'
import { count } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { publisherApi } from '../publisher-api.ts'
import { linkName } from '../publisher-health.ts'

type Concerned = NoFill['reasons'][number]['links']

export function ReasonLinks({ links }: { links: Concerned }) {
  const { pub_id: pubId } = usePublisher()
  // One call names nearly every link; the page of a link names the others.
  const listed = useQuery({
    queryKey: ['links', pubId, 'names'],
    queryFn: () => publisherApi.links(pubId, { search: null, health: null, cursor: null }),
    staleTime: 60_000,
  })
  if (links.length === 0) return null
  const names = new Map(listed.data?.rows.map((link) => [link.auction_id, linkName(link)]))
  return (
    <details className="mt-1 text-sm">
      <summary className="link w-fit">
        {links.length === 1 ? 'The link concerned' : `The ${links.length} links most concerned`}
      </summary>
      <ul className="mt-1 space-y-1">
        {links.map(({ auction_id: id, auctions }) => (
          <li key={id} className="flex flex-wrap gap-x-3">
            <RouteLink to={PATHS.link} params={{ id }} className="link min-w-0 truncate">
              <bdi>{names.get(id) ?? `Link ${id}`}</bdi>
            </RouteLink>
            <span className="number text-soft">
              {count(auctions)} {auctions === 1 ? 'auction' : 'auctions'}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
