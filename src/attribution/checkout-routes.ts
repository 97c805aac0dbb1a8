/**
 * Where readers' browsers report orders: the merchant tag's checkout call.
 *
 * The least trusted source: an order far off the merchant's usual values is held until a person or
 * the merchant's server confirms it, and every order of a merchant that confirms them all.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { findMerchant, type Merchant } from '../catalog/merchant-store.ts'
import { chargeCall } from '../events/call-cost.ts'
import { ApiError, type Fault } from '../platform/errors.ts'
import { parseNoting } from '../platform/json-body.ts'
import { knownFields } from '../platform/known-fields.ts'
import type { Db } from '../platform/postgres.ts'
import { compileCheck } from '../platform/validation.ts'
import { acceptOrders, type IntakeDeps, intakeTurns, noteWarnings } from './intake.ts'
import { checked, orderFaults } from './intake-faults.ts'
import {
  orderWarnings,
  unknownFieldWarnings,
  type Warning,
  warningFaults,
} from './intake-warnings.ts'
import { type IntakeQuotas, keepRefusal } from './keep-refusal.ts'
import { keepRawBodies, rawBody } from './raw-body.ts'
import { type HoldOf, readOrder } from './read-order.ts'
import { CheckoutBody, Stored } from './schema.ts'
import { type TagDeps, tagMerchant } from './tag-merchant.ts'
import type { UsualValues } from './usual-value.ts'

const EVENTS = {
  schema: compileCheck(CheckoutBody),
  listName: 'events',
  entryFaults: orderFaults,
} as const

/** An order's rows in the log and in the figures, without its texts. */
const ORDER_ROWS_BYTES = 1_500

interface CheckoutDeps extends IntakeDeps, TagDeps {
  readonly quotas: IntakeQuotas
  readonly usualValues: UsualValues
}

export const checkoutRoutes =
  (deps: CheckoutDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const turns = intakeTurns()
    keepRawBodies(app)
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
        await turns.run(() => receive(deps, request))
        return reply.status(201).send()
      },
    )
  }

async function receive(deps: CheckoutDeps, request: FastifyRequest): Promise<void> {
  const [sent, nowMs] = [rawBody(request), deps.now()]
  const charge = chargeCall(deps.limits, { address: request.clientAddress, body: sent, nowMs })
  let told: unknown = null
  try {
    // Of what only a merchant's own server may say (a status, times), nothing counts here.
    const { value, unknown } = await parseNoting(sent, CheckoutBody)
    told = knownFields(CheckoutBody, value)
    const body = checked(told, { ...EVENTS, nowMs })
    charge(body.organization_id)
    const merchant = await tagMerchant(deps, request, body)
    deps.quotas.require('orders', {
      address: request.clientAddress,
      organizationId: merchant.merch_id,
      rows: body.events.length,
      bytes: body.events.length * ORDER_ROWS_BYTES + sent.length,
    })
    const warnings = [...unknownFieldWarnings(unknown), ...(await accept(deps, merchant, body))]
    if (warnings.length > 0) await keepWarnings(deps, request, { merchant, warnings })
  } catch (cause) {
    await keepRefused(deps, request, { told, cause })
    throw cause
  }
}

/** Accepts the orders; what may be wrong with them all the same. */
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
  const told = { listName, entries: body.events, read: orders } as const
  return orderWarnings(deps.db, merchant.merch_id, told)
}

/** The answer to a browser has no body: its merchant finds the warnings beside the refusals. */
async function keepWarnings(
  deps: CheckoutDeps,
  request: FastifyRequest,
  { merchant, warnings }: { readonly merchant: Merchant; readonly warnings: readonly Warning[] },
): Promise<void> {
  await noteWarnings(deps, merchant.merch_id, warnings)
  const kept = {
    ...toldCall(deps, request),
    merchId: merchant.merch_id,
    reason: 'Accepted with warnings',
    faults: warningFaults(warnings),
    isAccepted: true,
  }
  await keepRefusal(deps, kept, request.clientAddress)
}

/** What is kept of any call. */
function toldCall({ now }: CheckoutDeps, request: FastifyRequest) {
  return {
    at: new Date(now()),
    endpoint: 'checkout',
    body: rawBody(request).toString().replace(WEB_ADDRESS, '$1'),
    origin: request.headers.origin ?? null,
    isProven: false,
  }
}

/**
 * A web address, also with the escaped slashes of JSON: kept without its query, which on a page of
 * thanks may name the buyer. Its end may be missing, so that no text is looked through twice.
 */
const WEB_ADDRESS = /(https?:\\?\/\\?\/[^\s"?#]*)(?:[?#][^\s"]*)?/gi

async function keepRefused(
  deps: CheckoutDeps,
  request: FastifyRequest,
  { told, cause }: { readonly told: unknown; readonly cause: unknown },
): Promise<void> {
  if (!(cause instanceof ApiError) || cause.status >= 500 || cause.status === 429) return
  const refusal = {
    ...toldCall(deps, request),
    merchId: await namedMerchant(deps.db, told),
    reason: cause.message,
    faults: (cause.data ?? []) as Fault[],
  }
  await keepRefusal(deps, refusal, request.clientAddress)
}

/** Whom a call names, whatever else is wrong with it: that merchant can look at what it sent. */
async function namedMerchant(db: Db, told: unknown): Promise<number | null> {
  const { organization_id: merchId } = (told ?? {}) as { organization_id?: unknown }
  if (typeof merchId !== 'number' || !Number.isInteger(merchId)) return null
  return (await findMerchant(db, merchId))?.merch_id ?? null
}
