/**
 * The merchant tag's call for pages of the shop, viewed by readers who came through a smart link.
 *
 * Nobody is paid for page views. They show a merchant that its tag works and that clicks arrive. So
 * only the site is stored, and for a landing page its click. The reader's other pages are the
 * shop's business, and nobody consented to our recording them.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { chargeCall } from '../events/call-cost.ts'
import { BEACON_TIMEOUT_MS } from '../events/durable-append.ts'
import { EVENT_TYPE, type LogEvent, newEvent, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { EVENTS_BODY_BYTES_MAX } from '../events/schema.ts'
import { storedSize } from '../events/stored-size.ts'
import { readUserAgent } from '../events/user-agent.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import { parseBody } from '../platform/http/json-body.ts'
import { compileCheck } from '../platform/http/validation.ts'
import { parseWebUrl } from '../platform/net/url.ts'
import type { IntakeDeps } from './intake.ts'
import { addRawBodies, rawBody } from './raw-body.ts'
import { ShopViewBody, Stored } from './schema.ts'
import type { IntakeQuotas } from './store-refusal.ts'
import { type TagDeps, tagMerchant } from './tag-merchant.ts'

const VIEWS = compileCheck(ShopViewBody)

type ShopViewDeps = IntakeDeps & TagDeps & { readonly quotas: IntakeQuotas }

export const shopViewRoutes =
  (deps: ShopViewDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    addRawBodies(app)
    app.post(
      '/api/v1/events/conversions/page_view/',
      {
        config: { cors: 'open' },
        bodyLimit: EVENTS_BODY_BYTES_MAX,
        schema: {
          operationId: 'reportShopView',
          summary: 'Report pages of a shop seen after a click',
          body: ShopViewBody,
          response: { 201: Stored },
        },
      },
      async (request, reply) => {
        const [sent, nowMs] = [rawBody(request), deps.now()]
        const call = { address: request.clientAddress, body: sent, nowMs }
        const charge = chargeCall(deps.limits, call)
        const body = await readViews(sent)
        charge(body.organization_id)
        await tagMerchant(deps, request, body)
        const events = toEvents(deps, { body, userAgent: request.headers['user-agent'] })
        deps.quotas.require('shop_views', {
          address: request.clientAddress,
          organizationId: body.organization_id,
          rows: events.length,
          bytes: storedSize(events),
        })
        await deps.append(events, { timeoutMs: BEACON_TIMEOUT_MS })
        deps.onReport?.(body.organization_id, 'tag_page')
        return reply.status(201).send()
      },
    )
  }

async function readViews(raw: Buffer): Promise<ShopViewBody> {
  const body = await parseBody(raw, ShopViewBody)
  if (VIEWS.isGood(body)) return body
  throw badRequest(VIEWS.faults(body))
}

function toEvents(
  deps: ShopViewDeps,
  { body, userAgent }: { body: ShopViewBody; userAgent: string | undefined },
): LogEvent[] {
  const agent = readUserAgent(userAgent)
  const merchId = body.organization_id
  return body.events.map(({ click_ids, is_landing = false }) =>
    newEvent({
      id: deps.nextId(),
      atMs: deps.now(),
      lane: viewLane(merchId),
      type: EVENT_TYPE.shopView,
      reason: agent.isRobot ? REASON.robot : REASON.ok,
      merchId,
      device: agent.device,
      uaFamily: agent.family,
      url: parseWebUrl(body.user.source_url)?.origin ?? null,
      // Newest first. The others are of earlier days, and perhaps of other publishers.
      body: JSON.stringify({ click_ids: is_landing ? click_ids.slice(0, 1) : [], is_landing }),
    }),
  )
}
