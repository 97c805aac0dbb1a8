/** Smart link endpoints: create, LinkMate, and the page tag's configuration. */
import { hash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { authorize, callerName } from '../accounts/caller.ts'
import { once } from '../accounts/idempotency-store.ts'
import { findPublisherBySlug, type Publisher } from '../accounts/publisher-store.ts'
import {
  declarePermission,
  holderOf,
  type KeyGuard,
  NEEDS_KEY,
  needPermission,
} from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import {
  CLIENT_TIMEOUT_MS,
  ConcurrencyLimiter,
} from '../platform/concurrency/concurrency-limiter.ts'
import { SingleFlight } from '../platform/concurrency/single-flight.ts'
import { type Fault, notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { idempotencyKeyFaults, readIdempotencyKey } from '../platform/http/idempotency-key.ts'
import type { TokenBuckets } from '../platform/limits/token-bucket.ts'
import { addressUnit } from '../platform/net/client-address.ts'
import { ownLinkFaults, pubIdFaults, readLinkRequest } from './create-link.ts'
import type { OwnBases } from './link-url.ts'
import { type LinkMateCall, type LinkMateDeps, retrieveLinks } from './retrieve-links.ts'
import {
  CreateHeaders,
  CreateSmartLinkBody,
  LinkMateBody,
  PageTagConfig,
  RetrievedLink,
  SmartLinkRecord,
  toRetrievedLink,
  toSmartLinkRecord,
} from './schema.ts'
import { insertSmartLink } from './store.ts'

/** Concurrent LinkMate calls in the database. All routes share ten connections. */
const CALLS_AT_ONCE = 16

/** A call with a larger body counts as several (docs/spec/limits.md#calls). */
const BYTES_PER_CALL = 65_536

export interface PageLinkDeps extends LinkMateDeps {
  readonly keys: KeyGuard
  readonly brand: string
  /** LinkMate calls by origin and publisher; null for no limit. */
  readonly limits: TokenBuckets | null
  /**
   * By lower-case slug, from this node's memory: every page view needs it, also during an outage.
   */
  readonly heldPublisher: (
    slug: string,
  ) => Pick<Publisher, 'pub_id' | 'is_partner' | 'domains'> | undefined
  /** Changes when merchants join or leave. */
  readonly merchantsVersion: () => string
}

export interface CreateLinkDeps
  extends Pick<PageLinkDeps, 'db' | 'keys' | 'bases' | 'nextId' | 'now'> {
  readonly onLink: (link: SmartLinkRecord) => void
}

/** The endpoints for readers' pages: LinkMate, and the page tag's configuration. */
export const pageLinkRoutes =
  (deps: PageLinkDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    await app.register(linkMateRoute(deps))
    await app.register(pageTagRoute(deps))
  }

export const createLinkRoute =
  ({ db, keys, bases, nextId, now, onLink }: CreateLinkDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys, permission: 'links.write' })
    app.post(
      '/api/v1/smart_links/',
      {
        config: { rules: (request) => createFaults(request, bases) },
        schema: {
          operationId: 'createSmartLink',
          summary: 'Create a smart link',
          security: NEEDS_KEY,
          headers: CreateHeaders,
          body: CreateSmartLinkBody,
          response: { 201: envelope(SmartLinkRecord) },
        },
      },
      async (request, reply) => {
        const { body } = request
        const holder = holderOf(request)
        const key = readIdempotencyKey(request.headers['idempotency-key'])
        const wanted = readLinkRequest(body, { holder, at: now() })
        authorize(holder, { kind: 'publisher', id: wanted.article.pubId }, 'links.write')
        const call = { caller: callerName(holder), key, body, status: 201 }
        const record = await once(db, call, async (tx) => {
          const created = await insertSmartLink(tx, { ...wanted, auctionId: nextId() })
          return toSmartLinkRecord(created, bases.linkUrl)
        })
        onLink(record)
        return reply.status(201).send(ok(201, record))
      },
    )
  }

function createFaults(request: FastifyRequest, bases: OwnBases): Fault[] {
  const body = request.body as { readonly pub_id?: unknown; readonly url?: unknown } | null
  return [
    ...pubIdFaults(body?.pub_id, holderOf(request)),
    ...ownLinkFaults(body?.url, bases),
    ...idempotencyKeyFaults(request.headers['idempotency-key']),
  ]
}

const linkMateRoute =
  (deps: PageLinkDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { keys, limits, now } = deps
    declarePermission(app, 'links.write')
    const retrieve = makeRetrieve(deps)
    const charge = ({ clientAddress, params }: FastifyRequest, bodyBytes: number) => {
      const pubId = Number((params as { readonly pub_id: string }).pub_id) // Not validated yet.
      const cost = Math.ceil(bodyBytes / BYTES_PER_CALL)
      limits?.spend(`${addressUnit(clientAddress)} ${pubId}`, now().getTime(), cost)
    }
    app.post(
      '/api/v1/publishers/:pub_id/linkmate/smart_links/',
      {
        config: { cors: 'open', charge },
        onRequest: [keys.accept, keys.admit],
        schema: {
          operationId: 'retrieveSmartLinks',
          summary: 'Retrieve smart links for raw URLs (partner program)',
          security: [{}, { apiKey: [] }],
          params: PublisherParams,
          body: LinkMateBody,
          response: {
            200: envelope(Type.Object({ smart_links: Type.Array(RetrievedLink) })),
          },
        },
      },
      async (request) => {
        const { body, keyHolder: holder = null } = request
        const pubId = request.params.pub_id
        const links = await retrieve({ pubId, holder, body, address: request.clientAddress })
        return ok(200, { smart_links: links.map(toRetrievedLink) })
      },
    )
  }

/** Readers of a new article request the same links. Their calls share one answer. */
function makeRetrieve(deps: PageLinkDeps): typeof limited {
  const limiter = new ConcurrencyLimiter(CALLS_AT_ONCE, { timeoutMs: CLIENT_TIMEOUT_MS })
  const asked = new SingleFlight<Awaited<ReturnType<typeof limited>>>()
  const limited = (call: LinkMateCall) => limiter.run(() => retrieveLinks(deps, call))
  return (call) => {
    if (call.holder !== null) return limited(call)
    return asked.run(hash('sha256', JSON.stringify([call.pubId, call.body])), () => limited(call))
  }
}

const pageTagRoute =
  ({
    db,
    bases,
    brand,
    heldPublisher,
    merchantsVersion,
  }: PageLinkDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v0/publishers/:slug/amp_config/',
      {
        config: { cors: 'open' },
        schema: {
          operationId: 'readPageTagConfig',
          summary: 'Read the page tag’s configuration (AMP pages)',
          params: Type.Object({ slug: Type.String() }),
          querystring: Type.Object({ page_tag: Type.Optional(Type.String()) }),
          response: { 200: envelope(PageTagConfig) },
        },
      },
      async (request) => {
        const { slug } = request.params
        const publisher = heldPublisher(slug.toLowerCase()) ?? (await findPublisherBySlug(db, slug))
        if (publisher === null) throw notFound(`No publisher ${slug}`)
        const { is_partner: linkmate_enabled, pub_id: publisher_id } = publisher
        const amp_config = { linkmate_enabled, publisher_id }
        // Callers that did not ask for more get the documented response only.
        if (request.query.page_tag === undefined) return ok(200, { amp_config })
        const { auctionUrl: auction_url, linkUrl: link_url } = bases
        const { domains } = publisher
        const merchants_version = merchantsVersion()
        const page_tag = { auction_url, link_url, brand, domains, merchants_version }
        return ok(200, { amp_config, page_tag })
      },
    )
  }
