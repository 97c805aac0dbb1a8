/** Product feeds for publishers: the list of merchants with a feed, and each feed as a CSV file. */
import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { requireExistingOwnPublisher } from '../accounts/own-publisher.ts'
import type { Publisher } from '../accounts/publisher-store.ts'
import { type KeyGuard, NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { listMerchants } from '../catalog/merchant-store.ts'
import {
  CLIENT_TIMEOUT_MS,
  FairLimiter,
  unlessStarted,
} from '../platform/concurrency/concurrency-limiter.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { startedStream } from '../platform/http/started-stream.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { csvFileHeaders } from '../platform/text/csv.ts'
import { acceptsMerchant } from './match.ts'
import { FEED_HEADER, type FeedReader, feedLine } from './product-feed.ts'
import { type FeedMerchant, FeedParams, ProductFeed, toProductFeed } from './schema.ts'
import { type FeedOfferRow, type IsOwnPage, listFeedOffers } from './store.ts'

/** For all concurrent feeds, because the pool's connections and this thread are shared. */
const PAGES_AT_ONCE = 2

export interface FeedDeps {
  readonly db: Db
  readonly keys: KeyGuard
  readonly baseUrl: string
  readonly linkUrl: string
  readonly isOwnPage: IsOwnPage
}

export const feedRoutes =
  ({ db, keys, baseUrl, linkUrl, isOwnPage }: FeedDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const limiter = new FairLimiter(PAGES_AT_ONCE, { timeoutMs: CLIENT_TIMEOUT_MS })
    needPermission(app, { keys, permission: 'figures.read' })

    app.get(
      '/api/v1/publishers/:pub_id/product_feeds/',
      {
        schema: {
          security: NEEDS_KEY,
          operationId: 'listProductFeeds',
          summary: 'The merchants whose products may be read as a feed',
          params: PublisherParams,
          response: { 200: envelope(ProductFeed) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = request.params
        const publisher = await requireExistingOwnPublisher(db, request, pubId)
        const merchants = await listFeedMerchants(db, publisher)
        return ok(200, ...merchants.map((merchant) => toProductFeed(merchant, publisher, baseUrl)))
      },
    )

    app.get(
      '/api/v1/publishers/:pub_id/product_feeds/:merch_id/',
      {
        schema: {
          security: NEEDS_KEY,
          operationId: 'readProductFeed',
          summary: 'A merchant’s products in stock, as CSV with monetized links',
          params: FeedParams,
          response: {
            200: { description: 'Every product in stock', content: { 'text/csv': CSV } },
          },
        },
      },
      async (request, reply) => {
        const { pub_id: pubId, merch_id: merchId } = request.params
        const publisher = await requireExistingOwnPublisher(db, request, pubId)
        const merchants = await listFeedMerchants(db, publisher)
        if (!merchants.some(({ merch_id }) => merch_id === merchId)) {
          throw notFound(`No product feed of merchant ${merchId}`)
        }
        const reader = { linkUrl, publisherSlug: publisher.slug }
        const readPage = (after: string) =>
          limiter.run(
            pubId,
            () => listFeedOffers(db, { merchId, after }),
            unlessStarted(after !== ''),
          )
        const isOwn = ({ url }: FeedOfferRow) => isOwnPage({ merch_id: merchId, url })
        const file = await startedStream(feedLines(readPage, isOwn, reader))
        return reply.headers(csvFileHeaders(`souk_products_${merchId}.csv`)).send(file)
      },
    )
  }

const CSV = { schema: Type.Unsafe<Readable>({ type: 'string' }) }

/** The merchants with a feed whose links the publisher accepts. */
async function listFeedMerchants(db: Db, publisher: Publisher): Promise<FeedMerchant[]> {
  const merchants = await listMerchants(db)
  return merchants.filter(
    (merchant): merchant is FeedMerchant =>
      merchant.feed_imported_at !== null && acceptsMerchant(publisher, merchant.merch_id),
  )
}

/** One page at a time, so a million products are never in memory. */
async function* feedLines(
  readPage: (after: string) => Promise<FeedOfferRow[]>,
  isOwn: (offer: FeedOfferRow) => boolean,
  reader: FeedReader,
): AsyncGenerator<string> {
  let head = FEED_HEADER
  for (let after = ''; ; ) {
    const page = await readPage(after)
    yield head +
      page
        .filter(isOwn)
        .map((offer) => feedLine(offer, reader))
        .join('')
    head = ''
    const last = page.at(-1)
    if (last === undefined) return
    after = last.sku
  }
}
