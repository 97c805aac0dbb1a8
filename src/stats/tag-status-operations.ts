/** Whether a publisher's page tag works: what it reported lately, and which links earn nothing. */
import Type from 'typebox'
import { action, type Operation } from '../accounts/operation.ts'
import { findPublisher } from '../accounts/publisher-store.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { Time, TimeOrNull } from '../platform/http/field-types.ts'
import { parseWebUrl, siteHost } from '../platform/net/url.ts'
import {
  DAY_MS,
  formatTimestamp,
  formatTimestampOrNull,
  utcDay,
} from '../platform/time/timestamp.ts'
import { pageOfLink, readLinkMarket } from './link-market-store.ts'
import { findLastReport, listSeenLinks, listTagRows } from './tag-status-store.ts'

const DAYS = 7
const HOSTS_SHOWN = 100
/** As in events. */
const CONSENT_WORDS = ['unknown', 'full', 'contextual'] as const

export const TagStatus = Type.Object({
  pub_id: Type.Integer(),
  datetime_last_page_view: TimeOrNull,
  hosts: Type.Array(
    Type.Object({
      host: Type.String({ description: 'Empty: hosts beyond the first hundred of a day' }),
      datetime_last_page_view: Time,
      page_views: Type.Integer(),
    }),
    { description: `Where the tag reported from in the last ${DAYS} UTC days, the latest first` },
  ),
  consent: Type.Array(
    Type.Object({
      consent: Type.Enum([...CONSENT_WORDS]),
      page_views: Type.Integer(),
      datetime_last_page_view: Time,
    }),
  ),
  links_not_monetised: Type.Array(
    Type.Object({
      host: Type.String(),
      reason: Type.Enum(['no_merchant', 'no_bid', 'out_of_stock'], {
        description: '`no_merchant`: no merchant of the network sells at this host',
      }),
      links: Type.Integer(),
      impressions: Type.Integer({ description: `Loaded on pages in the last ${DAYS} UTC days` }),
    }),
    { description: 'Of the 2,000 newest links, those that nobody pays for, by host' },
  ),
  datetime_created: Type.String({ format: 'date-time', description: 'Of the publisher' }),
  datetime_updated: Type.String({ format: 'date-time', description: 'The latest of the times' }),
})

export const tagStatusOperations: readonly Operation[] = [
  action({
    id: 'readTagStatus',
    tag: 'publishers',
    method: 'GET',
    path: '/api/v1/publishers/:pub_id/tag_status/',
    summary: 'Read what the page tag reported lately',
    permission: 'figures.read',
    params: PublisherParams,
    entry: TagStatus,
    run: async ({ db, now, params: { pub_id: pubId } }) => {
      const publisher = await findPublisher(db, pubId)
      if (publisher === null) throw notFound(`No publisher ${pubId}`)
      const range = { pubId, dayFrom: utcDay(now.getTime() - (DAYS - 1) * DAY_MS) }
      const rows = await listTagRows(db, range)
      const links = await listSeenLinks(db, range)
      const marketOf = await readLinkMarket(db, publisher, { links, now })
      const unsold = links.flatMap((link) => {
        const { sellers, bidders } = marketOf(link)
        const inStock = sellers.filter(({ isInStock }) => isInStock)
        if (inStock.some(({ merchId }) => bidders.has(merchId))) return []
        const isListed = sellers.length > 0
        const reason = isListed ? (inStock.length > 0 ? 'no_bid' : 'out_of_stock') : 'no_merchant'
        const page = parseWebUrl(pageOfLink(link) ?? '')
        const host = page === null ? '' : siteHost(page)
        return [{ host, reason, impressions: Number(link.impressions) } as const]
      })
      const lastAt = await findLastReport(db, pubId)
      const { datetime_created: createdAt } = publisher
      return [
        {
          pub_id: pubId,
          datetime_last_page_view: formatTimestampOrNull(lastAt),
          hosts: totals(rows, ({ host }) => host).map(({ key, ...total }) => ({
            host: key,
            ...total,
          })),
          consent: totals(rows, ({ consent }) => CONSENT_WORDS[consent] ?? 'unknown').map(
            ({ key, ...total }) => ({ consent: key, ...total }),
          ),
          links_not_monetised: [
            ...Map.groupBy(unsold, (link) => `${link.host} ${link.reason}`).values(),
          ]
            .flatMap((same) => {
              const [first] = same
              if (first === undefined) return []
              const impressions = same.reduce((sum, link) => sum + link.impressions, 0)
              return [{ host: first.host, reason: first.reason, links: same.length, impressions }]
            })
            .toSorted(
              (one, other) => other.impressions - one.impressions || other.links - one.links,
            )
            .slice(0, HOSTS_SHOWN),
          datetime_created: formatTimestamp(createdAt),
          datetime_updated: formatTimestamp(
            lastAt === null || lastAt < createdAt ? createdAt : lastAt,
          ),
        },
      ]
    },
  }),
]

function totals<Key extends string>(
  rows: Awaited<ReturnType<typeof listTagRows>>,
  keyOf: (row: (typeof rows)[number]) => Key,
) {
  return [...Map.groupBy(rows, keyOf)].map(([key, same]) => ({
    key,
    page_views: same.reduce((sum, row) => sum + Number(row.page_views), 0),
    datetime_last_page_view: formatTimestamp(
      new Date(Math.max(...same.map(({ last_at }) => last_at.getTime()))),
    ),
  }))
}
