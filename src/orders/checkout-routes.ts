/**
 * The checkout call of the merchant tag, by which readers' browsers report orders.
 *
 * Browsers are the least trusted source. An order far above the merchant's usual values is held
 * until a person or the merchant's server confirms it. A merchant may also require confirmation of
 * all orders.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { findMerchant, type Merchant } from '../catalog/merchant-store.ts'
import { chargeCall } from '../events/call-cost.ts'
import { ApiError, type Fault } from '../platform/errors/api-errors.ts'
import { parseNoting } from '../platform/http/json-body.ts'
import { knownFields } from '../platform/http/known-fields.ts'
import { compileCheck } from '../platform/http/validation.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { acceptOrders, type IntakeDeps, intakeLimiter, noteWarnings } from './intake.ts'
import { checked, orderFaults } from './intake-faults.ts'
import {
  orderWarnings,
  unknownFieldWarnings,
  type Warning,
  warningFaults,
} from './intake-warnings.ts'
import { addRawBodies, rawBody } from './raw-body.ts'
import { type HoldOf, readOrder } from './read-order.ts'
import { CheckoutBody, Stored } from './schema.ts'
import { type IntakeQuotas, type SentReport, storeRefusal } from './store-refusal.ts'
import { type TagDeps, tagMerchant } from './tag-merchant.ts'
import type { UsualValues } from './usual-value.ts'

const EVENTS = {
  schema: compileCheck(CheckoutBody),
  listName: 'events',
  entryFaults: orderFaults,
} as const

/** The size of an order's rows in the log and in the figures, without its texts. */
const ORDER_ROWS_BYTES = 1_500

interface CheckoutDeps extends IntakeDeps, TagDeps {
  readonly quotas: IntakeQuotas
  readonly usualValues: UsualValues
}

export const checkoutRoutes =
  (deps: CheckoutDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const limiter = intakeLimiter()
    addRawBodies(app)
    app.post(
      '/api/v1/events/conversions/checkout/',
      {
        config: { cors: 'open' },
        schema: {
          operationId: 'reportCheckout',
          summary: 'Report orders from the reader’s browser',
          body: CheckoutBody,
          response: { 201: Stored },
        },
      },
      async (request, reply) => {
        await limiter.run(() => receive(deps, request))
        return reply.status(201).send()
      },
    )
  }

async function receive(deps: CheckoutDeps, request: FastifyRequest): Promise<void> {
  const [sent, nowMs] = [rawBody(request), deps.now()]
  const charge = chargeCall(deps.limits, { address: request.clientAddress, body: sent, nowMs })
  let received: unknown = null
  try {
    // Fields that only a merchant's server may send (a status, times) are ignored here.
    const { value, unknown } = await parseNoting(sent, CheckoutBody)
    received = knownFields(CheckoutBody, value)
    const body = checked(received, { ...EVENTS, nowMs })
    charge(body.organization_id)
    const merchant = await tagMerchant(deps, request, body)
    deps.quotas.require('orders', {
      address: request.clientAddress,
      organizationId: merchant.merch_id,
      rows: body.events.length,
      bytes: body.events.length * ORDER_ROWS_BYTES + sent.length,
    })
    const warnings = [...unknownFieldWarnings(unknown), ...(await accept(deps, merchant, body))]
    deps.onReport?.(merchant.merch_id, 'tag_checkout')
    if (warnings.length > 0) await storeWarnings(deps, request, { merchant, warnings })
  } catch (cause) {
    await storeRefused(deps, request, { received, cause })
    throw cause
  }
}

/** Accepts the orders and returns their warnings. */
async function accept(
  deps: CheckoutDeps,
  merchant: Merchant,
  body: CheckoutBody,
): Promise<Warning[]> {
  const nowMs = deps.now()
  const orders = body.events.map((event) => readOrder(event, { source: 'pixel', nowMs }))
  const limitMicros = await deps.usualValues.limitOf(merchant.merch_id, new Date(nowMs))
  const holdOf: HoldOf = (valueMicros) =>
    merchant.is_confirming || (valueMicros ?? 0) > limitMicros ? 'review' : null
  const listName = 'events'
  await acceptOrders(deps, merchant, { orders, listName, holdOf })
  const received = { listName, entries: body.events, read: orders } as const
  return orderWarnings(deps.db, merchant.merch_id, received)
}

/** A browser's response has no body. The merchant finds the warnings among the refused reports. */
async function storeWarnings(
  deps: CheckoutDeps,
  request: FastifyRequest,
  { merchant, warnings }: { readonly merchant: Merchant; readonly warnings: readonly Warning[] },
): Promise<void> {
  await noteWarnings(deps, merchant.merch_id, warnings)
  const kept = {
    ...callFields(deps, request),
    merchId: merchant.merch_id,
    reason: 'Accepted with warnings',
    faults: warningFaults(warnings),
    isAccepted: true,
  }
  await storeRefusal(deps, kept, sentReport(request))
}

/** The stored fields of any call. */
function callFields({ now }: CheckoutDeps, request: FastifyRequest) {
  return {
    at: new Date(now()),
    endpoint: 'checkout',
    origin: request.headers.origin ?? null,
    isProven: false,
  }
}

/**
 * A web URL, also with JSON-escaped slashes, up to its query. Queries are not stored, because that
 * of a thank-you page may name the buyer. The end is optional, so that the pattern scans text only
 * once.
 */
const WEB_ADDRESS = /(https?:\\?\/\\?\/[^\s"?#]*)(?:[?#][^\s"]*)?/gi

function sentReport(request: FastifyRequest): SentReport {
  return {
    address: request.clientAddress,
    body: rawBody(request),
    toText: (body) => body.toString().replace(WEB_ADDRESS, '$1'),
  }
}

async function storeRefused(
  deps: CheckoutDeps,
  request: FastifyRequest,
  { received, cause }: { readonly received: unknown; readonly cause: unknown },
): Promise<void> {
  if (!(cause instanceof ApiError) || cause.status >= 500 || cause.status === 429) return
  const refusal = {
    ...callFields(deps, request),
    merchId: await namedMerchant(deps.db, received),
    reason: cause.message,
    faults: (cause.data ?? []) as Fault[],
  }
  await storeRefusal(deps, refusal, sentReport(request))
}

/**
 * The merchant that a call names, even if the call is otherwise invalid, so that the merchant can
 * see it.
 */
async function namedMerchant(db: Db, received: unknown): Promise<number | null> {
  const { organization_id: merchId } = (received ?? {}) as { organization_id?: unknown }
  if (typeof merchId !== 'number' || !Number.isInteger(merchId)) return null
  return (await findMerchant(db, merchId))?.merch_id ?? null
}
