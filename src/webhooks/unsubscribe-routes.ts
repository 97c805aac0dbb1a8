/**
 * The page behind the link at the end of each mail. Opening it changes nothing, because programs
 * that check mail open every link; its button does.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Html, html } from '../platform/text/html.ts'
import { unsubscribePath } from './alert.ts'
import { findSubscription, unsubscribe } from './alert-store.ts'

const PATH = unsubscribePath(':token')
const schema = {
  hide: true,
  params: Type.Object({ token: Type.String({ maxLength: 100 }) }),
}

export const unsubscribeRoutes =
  ({ db }: { readonly db: Db }): FastifyPluginAsyncTypebox =>
  async (app) => {
    // The form has no fields; mail programs send one of RFC 8058.
    app.addContentTypeParser('application/x-www-form-urlencoded', (_request, _body, done) =>
      done(null, null),
    )
    app.get(PATH, { schema }, async ({ params }, reply) => {
      const found = await findSubscription(db, params.token)
      if (found === null) return send(reply, 404, GONE)
      const { email, name } = found
      return send(
        reply,
        200,
        html`<h1>No more messages?</h1><p>${email} receives messages about ${name}.</p>
<form method="post"><button>Unsubscribe</button></form>`,
      )
    })
    app.post(PATH, { schema }, async ({ params }, reply) => {
      const isKnown = await unsubscribe(db, params.token)
      return send(reply, isKnown ? 200 : 404, isKnown ? DONE : GONE)
    })
  }

const DONE = html`<h1>Unsubscribed</h1><p>This address receives no more messages.</p>`
const GONE = html`<h1>Nothing to unsubscribe</h1><p>This link is no longer valid: its address
receives no messages any more.</p>`

function send(reply: FastifyReply, status: number, content: Html) {
  const { html: page } = html`<!doctype html><html lang="en"><meta charset="utf-8">
<title>Messages</title><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex"><body><main>${content}</main></body></html>`
  return reply
    .status(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .send(page)
}
