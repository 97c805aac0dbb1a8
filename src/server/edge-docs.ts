/**
 * Describes the hot endpoints for openapi.json. They are served before Fastify sees a request
 * (platform/http/hot-http.ts), so these routes are documentation only.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import Type from 'typebox'
import { AuctionEntry, AuctionQuery } from '../auction/schema.ts'
import { LinkImpressions, PageImpressions } from '../events/schema.ts'
import { envelope } from '../platform/http/envelope.ts'
import { serverAt } from '../platform/http/http-server.ts'

const page = (description: string) => ({
  description,
  content: { 'text/html': { schema: Type.String() } },
})
/** Possible responses to a reader who follows a link. */
const LEFT = {
  200: page('A page for the reader that names the host and offers the link'),
  302: Type.Null({
    description: 'On to the destination',
    headers: { Location: Type.String({ description: 'The destination' }) },
  }),
}
const LOST = { 404: page('A page for the reader: the link leads nowhere') }
const RETRIED = { 503: page('A page for the reader that tries again by itself') }

const label = Type.Optional(
  Type.String({ description: 'Kept with the click for reports; never changes the auction.' }),
)
const labels = { u1: label, utm_source: label }
const Result = Type.Object({
  a: Type.String(),
  uid_service: Type.String(),
  ar: Type.String(),
  url: Type.String(),
  uuid: Type.String(),
})
const SmartLink = Type.Object({
  auction_id: Type.String({ description: 'Auction id, or its short form in base 62.' }),
})
const Wrapper = Type.Object({
  url: Type.String(),
  publisher_slug: Type.Optional(Type.String({ examples: ['magazine'] })),
  exclusive: Type.Optional(Type.Union([Type.Literal('1'), Type.Literal('true')])),
  article_url: Type.Optional(Type.String()),
  article_name: Type.Optional(Type.String()),
  ...labels,
})

interface Description extends FastifySchema {
  readonly servers?: ReturnType<typeof serverAt>
}
type Describe = (method: 'GET' | 'POST', url: string, schema: Description) => void

export const edgeDocs =
  ({ brand }: { brand: string }): FastifyPluginAsync =>
  async (app) => {
    const describe: Describe = (method, url, schema) => {
      const config = { cors: 'none' } as const
      const here = { onRequest: noSuchPath, handler: noSuchPath } // Runs before any validation.
      app.route({ method, url, schema, config, exposeHeadRoute: false, ...here })
    }
    const created = {
      201: Type.Null({ description: 'Counted, durably; the body is empty' }),
    }
    describe('GET', '/api/v1/auction/', {
      operationId: 'runAuction',
      summary: 'Run an auction',
      servers: serverAt('auction_url'),
      querystring: AuctionQuery,
      response: { 200: envelope(AuctionEntry) },
    })
    describe('POST', '/api/v1/events/impressions/page_impression/', {
      operationId: 'reportPageImpression',
      summary: 'Report the beginning of a page session',
      body: PageImpressions,
      response: created,
    })
    for (const [name, operationId, summary] of [
      ['link_impression', 'reportLinkImpression', 'Report smart links that have loaded'],
      [
        'link_viewable_impression',
        'reportLinkViewableImpression',
        'Report smart links that were seen',
      ],
    ] as const) {
      describe('POST', `/api/v1/events/impressions/${brand}_${name}/`, {
        operationId,
        summary,
        body: LinkImpressions,
        response: created,
      })
    }
    describe('GET', '/api/v1/pixel/', {
      operationId: 'recordPlacement',
      summary: 'Fire the pixel of an auction result',
      servers: serverAt('auction_url'),
      querystring: Result,
      response: { 200: { description: 'A 1×1 picture', content: { 'image/gif': { schema: {} } } } },
    })
    describeLinks(describe)
  }

/** The endpoints of links. */
function describeLinks(describe: Describe): void {
  describe('GET', '/api/v1/redirect/', {
    operationId: 'followRedirect',
    summary: 'Follow the redirect of an auction result',
    servers: serverAt('auction_url'),
    querystring: Type.Object({ ...Result.properties, ...labels }),
    response: { ...LEFT, ...LOST, ...RETRIED },
  })
  // Only paths with the form of an id, so that any other path stays unknown.
  describe('GET', '/:auction_id(^\\w{10,19}$)', {
    operationId: 'followSmartLink',
    summary: 'Follow a smart link',
    servers: serverAt('link_url'),
    params: SmartLink,
    querystring: Type.Object(labels),
    response: { ...LEFT, ...LOST, ...RETRIED },
  })
  describe('GET', '/link/', {
    operationId: 'followWrapper',
    summary: 'Follow a wrapper link',
    servers: serverAt('link_url'),
    querystring: Wrapper,
    response: {
      ...LEFT,
      400: page('A page for the reader: the address is missing or bad'),
    },
  })
}

/** Requests that the hot server passes on only resemble its paths, such as `/lin%6B/`. */
async function noSuchPath(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  return reply.callNotFound()
}
