/** A publisher's smart links: the newest, or those that a search finds. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { requireOwnPublisher } from '../accounts/own-publisher.ts'
import { type KeyGuard, NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { cutPage, PAGE_ROWS_READ } from '../platform/http/page.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { LinkPage, LinkQuery } from './dashboard-schema.ts'
import { findAuctionId, type OwnBases, smartLinkUrl } from './link-url.ts'
import { type LinkSearch, type ListedLinkRow, listLinksOfPublisher } from './store.ts'
import { listUnattributedOf, toUnattributed } from './unattributed-store.ts'

interface LinkSearchDeps {
  readonly db: Db
  readonly keys: KeyGuard
  readonly bases: OwnBases
  readonly now: () => Date
}

export const linkSearchRoute =
  ({ db, keys, bases, now }: LinkSearchDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys, permission: 'figures.read', hidesIds: true })
    const { linkUrl } = bases
    app.get(
      '/api/v1/publishers/:pub_id/link_search/',
      {
        schema: {
          operationId: 'searchLinks',
          summary: 'Smart links, newest first, by words, address or id',
          security: NEEDS_KEY,
          params: PublisherParams,
          querystring: LinkQuery,
          response: { 200: envelope(LinkPage) },
        },
      },
      async (request) => {
        const publisher = await requireOwnPublisher(db, request, request.params.pub_id)
        const { cursor = null, search } = request.query
        const rows = await listLinksOfPublisher(db, {
          pubId: publisher.pub_id,
          before: cursor,
          search: readSearch(search),
          limitRows: PAGE_ROWS_READ,
        })
        const page = cutPage(rows, (row) => row.auction_id)
        const links = page.rows.map((row) => toListedLink(row, linkUrl))
        const unattributed =
          cursor === null ? await listUnattributedOf(db, { ...publisher, now: now() }) : []
        const lost = unattributed.map(toUnattributed)
        return ok(200, { links, unattributed: lost, next: page.next })
      },
    )
  }

function readSearch(asked: string | undefined): LinkSearch | null {
  const text = asked?.trim() ?? ''
  return text === '' ? null : { text, auctionId: findAuctionId(text) }
}

function toListedLink(row: ListedLinkRow & { article_name: string }, linkUrl: string) {
  return {
    smart_link_id: row.smart_link_id,
    auction_id: row.auction_id,
    smart_link_url: smartLinkUrl(linkUrl, row.auction_id),
    url: row.url,
    article_name: row.article_name,
    article_url: row.article_url,
    exclusive_match_requested: row.is_exclusive,
    source: row.source,
    state: row.state,
    datetime_created: formatTimestamp(row.datetime_created),
  }
}
