/**
 * The dashboard's list of smart links: the newest, search results, and creation of a link.
 * Registered inside the log-in (accounts/dashboard-routes.ts).
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { PublisherParams } from '../accounts/schema.ts'
import { requireOwnedPublisher, sessionUserOf } from '../accounts/session.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { cutPage, PAGE_ROWS_READ } from '../platform/http/page.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { ownLinkFaults, readLinkWish } from './create-link.ts'
import { LinkPage, LinkQuery } from './dashboard-schema.ts'
import { findAuctionId, type OwnBases, smartLinkUrl } from './link-url.ts'
import { CreateSmartLinkBody, SmartLinkRecord, toSmartLinkRecord } from './schema.ts'
import {
  insertSmartLink,
  type LinkSearch,
  type ListedLinkRow,
  listLinksOfPublisher,
} from './store.ts'
import { listUnattributedOf, toUnattributed } from './unattributed-store.ts'

export interface DashboardLinkDeps {
  readonly db: Db
  readonly bases: OwnBases
  readonly nextId: () => string
  readonly now: () => Date
  readonly onLink: (link: SmartLinkRecord) => void
}

export const dashboardLinkRoutes =
  ({ db, bases, nextId, now, onLink }: DashboardLinkDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { linkUrl } = bases
    app.get(
      '/dashboard/api/publishers/:pub_id/links/',
      {
        schema: {
          operationId: 'listMyLinks',
          params: PublisherParams,
          querystring: LinkQuery,
          response: { 200: envelope(LinkPage) },
        },
      },
      async (request) => {
        const publisher = await requireOwnedPublisher(db, request)
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

    app.post(
      '/dashboard/api/publishers/:pub_id/links/',
      {
        config: {
          rules: ({ body }) => ownLinkFaults((body as { url?: unknown } | null)?.url, bases),
        },
        schema: {
          operationId: 'createMyLink',
          params: PublisherParams,
          body: CreateSmartLinkBody,
          response: { 201: envelope(SmartLinkRecord) },
        },
      },
      async (request, reply) => {
        const { pub_id: pubId } = await requireOwnedPublisher(db, request)
        const body = { ...request.body, pub_id: pubId }
        const wish = readLinkWish(body, {
          holder: { uid: sessionUserOf(request).uid, pubIds: [pubId] },
          at: now(),
        })
        const created = await insertSmartLink(db, { ...wish, auctionId: nextId() })
        const record = toSmartLinkRecord(created, linkUrl)
        onLink(record)
        return reply.status(201).send(ok(201, record))
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
