/**
 * The hot endpoints in the API's description. They are served before Fastify sees a request
 * (platform/hot-http.ts), so what stands here only describes them.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import Type from 'typebox'
import { AuctionEntry, AuctionQuery } from './auction/schema.ts'
import { LinkImpressions, PageImpressions } from './events/schema.ts'
import { ErrorEnvelope, envelope } from './platform/envelope.ts'

const Found = Type.Null({ description: 'Location: the destination' })
const Page = Type.String({ description: 'A page for the reader' })
const Wrapper = Type.Object({
  url: Type.String(),
  publisher_slug: Type.Optional(Type.String()),
  exclusive: Type.Optional(Type.Literal('1')),
  article_url: Type.Optional(Type.String()),
  article_name: Type.Optional(Type.String()),
})
const Redirect = Type.Object({
  a: Type.String(),
  uid_service: Type.String(),
  ar: Type.String(),
  url: Type.String(),
  uuid: Type.String(),
})

export const edgeDocs =
  ({ brand }: { brand: string }): FastifyPluginAsync =>
  async (app) => {
    const describe = (method: 'GET' | 'POST', url: string, schema: FastifySchema): void => {
      const config = { cors: 'none' } as const
      const here = { onRequest: noSuchPath, handler: noSuchPath } // Before any schema is asked.
      app.route({ method, url, schema, config, exposeHeadRoute: false, ...here })
    }
    const created = {
      201: Type.Null({ description: 'Counted, durably' }),
      '4xx': ErrorEnvelope,
      503: ErrorEnvelope,
    }
    describe('GET', '/api/v1/auction/', {
      operationId: 'runAuction',
      summary: 'Run an auction',
      querystring: AuctionQuery,
      response: { 200: envelope(AuctionEntry), '4xx': ErrorEnvelope },
    })
    describe('POST', '/api/v1/events/impressions/page_impression/', {
      operationId: 'reportPageImpression',
      summary: 'Report the beginning of a page session',
      body: PageImpressions,
      response: created,
    })
    for (const [name, summary] of [
      ['link_impression', 'Report smart links that have loaded'],
      ['link_viewable_impression', 'Report smart links that were seen'],
    ] as const) {
      describe('POST', `/api/v1/events/impressions/${brand}_${name}/`, {
        operationId: `report_${name}`,
        summary,
        body: LinkImpressions,
        response: created,
      })
    }
    describe('GET', '/api/v1/redirect/', {
      operationId: 'followRedirect',
      summary: 'Follow the redirect of an auction result',
      querystring: Redirect,
      response: { 302: Found, 404: Page },
    })
    describe('GET', '/api/v1/pixel/', {
      operationId: 'recordPlacement',
      summary: 'Fire the pixel of an auction result',
      querystring: Redirect,
      response: { 200: Type.String({ description: 'A 1×1 GIF' }) },
    })
    describe('GET', '/link/', {
      operationId: 'followWrapper',
      summary: 'Follow a wrapper link',
      querystring: Wrapper,
      response: { 302: Found, 400: Page },
    })
  }

/** What gets past the hot server only resembles one of its paths, such as `/lin%6B/`. */
async function noSuchPath(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  return reply.callNotFound()
}
