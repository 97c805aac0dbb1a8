/**
 * The endpoints for merchants' servers to report orders and returns, in signed requests
 * (signed-request.ts).
 *
 * A refused request is stored unchanged with its reason, so that nothing is lost while a mistake is
 * fixed.
 */
import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { type Merchant, requireMerchant, signingSecrets } from '../catalog/merchant-store.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { ApiError, ERRORS, type Fault } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import {
  IdempotencyKey,
  idempotencyKeyFaults,
  readIdempotencyKey,
} from '../platform/http/idempotency-key.ts'
import { parseNoting } from '../platform/http/json-body.ts'
import type { PartSchema } from '../platform/http/known-fields.ts'
import { compileCheck } from '../platform/http/validation.ts'
import {
  type AcceptedOrder,
  acceptOrders,
  acceptReturns,
  type IntakeDeps,
  intakeLimiter,
  noteWarnings,
  returnLimiter,
} from './intake.ts'
import { checked, orderFaults, returnFaults } from './intake-faults.ts'
import { IntakeRequests } from './intake-requests.ts'
import { listRefusals, REFUSAL_KEPT, type SignedRequest } from './intake-store.ts'
import {
  orderWarnings,
  returnWarnings,
  unknownFieldWarnings,
  type Warning,
  warningRecords,
} from './intake-warnings.ts'
import { addRawBodies, rawBody } from './raw-body.ts'
import { readOrder, readReturn } from './read-order.ts'
import {
  AcceptedOrderRecord,
  OrdersBody,
  RefusalRecord,
  ReturnsBody,
  toRefusalRecord,
  Warnings,
} from './schema.ts'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER, verifySignature } from './signed-request.ts'
import { type IntakeQuotas, storeRefusal } from './store-refusal.ts'

/** Of each kind, signed and unsigned. */
const REFUSALS_SHOWN_MAX = 500

type Call = FastifyRequest<{ Params: { merch_id: number } }>

const SIGNATURE = {
  // Optional only for validation: a request without them is not invalid, but unsigned (401).
  [TIMESTAMP_HEADER]: Type.Optional(
    Type.String({ description: 'Unix time, whole seconds; without it the answer is 401' }),
  ),
  [SIGNATURE_HEADER]: Type.Optional(
    Type.String({
      description:
        'Lower-case hex of HMAC-SHA256 over timestamp, a dot and the bytes of the body (empty ' +
        'for a GET), keyed with the text of the postback secret (`POST …/secrets/postback/` makes ' +
        'a new one); it works once, and for five minutes',
    }),
  ),
}
const SignatureHeaders = Type.Object(SIGNATURE)
const ReportHeaders = Type.Object({ ...SIGNATURE, 'idempotency-key': IdempotencyKey })

const signedReport = <T extends object>(schema: T) => ({
  config: {
    rules: ({ headers }: FastifyRequest) => idempotencyKeyFaults(headers['idempotency-key']),
  },
  schema: { params: MerchantParams, headers: ReportHeaders, ...schema },
})

export const intakeRoutes =
  (intake: IntakeDeps & { readonly quotas: IntakeQuotas }): FastifyPluginAsyncTypebox =>
  async (app) => {
    const deps = { ...intake, requests: new IntakeRequests(intake.db) }
    const limiter = intakeLimiter()
    const forReturns = returnLimiter()
    addRawBodies(app) // The signature covers the bytes, which are parsed only if it is valid.

    app.post(
      '/api/v1/merchants/:merch_id/orders/',
      signedReport({
        operationId: 'reportOrders',
        summary: 'Report orders, server to server',
        body: OrdersBody,
        response: { 201: warned(AcceptedOrderRecord) },
      }),
      async (request, reply) => {
        reply.status(201)
        const call = { request: request as Call, endpoint: 'orders', schema: OrdersBody }
        const take = (merchant: Merchant, body: unknown) => takeOrders(deps, merchant, body)
        return limiter.run(() => receive(deps, call, take))
      },
    )

    app.post(
      '/api/v1/merchants/:merch_id/returns/',
      signedReport({
        operationId: 'reportReturns',
        summary: 'Report returned goods, server to server',
        body: ReturnsBody,
        response: { 201: warned(Type.Object({ id: Type.String() })) },
      }),
      async (request, reply) => {
        reply.status(201)
        const call = { request: request as Call, endpoint: 'returns', schema: ReturnsBody }
        const take = (merchant: Merchant, body: unknown) => takeReturns(deps, merchant, body)
        return forReturns.run(() => receive(deps, call, take))
      },
    )

    app.get(
      '/api/v1/merchants/:merch_id/refused/',
      {
        schema: {
          operationId: 'listRefused',
          summary: 'What was refused of this merchant, newest first, with the reasons',
          description: `At most ${REFUSALS_SHOWN_MAX}, of the last ${REFUSAL_KEPT}.`,
          params: MerchantParams,
          headers: SignatureHeaders,
          response: { 200: envelope(RefusalRecord) },
        },
      },
      async (request) => {
        const merchant = await requireMerchant(deps.db, request.params.merch_id)
        verified(deps, request, { merchant, body: Buffer.alloc(0) })
        const limit = REFUSALS_SHOWN_MAX
        const rows = await listRefusals(deps.db, { merchId: merchant.merch_id, limit })
        return ok(200, ...rows.map(toRefusalRecord))
      },
    )
  }

const ORDERS = {
  schema: compileCheck(OrdersBody),
  listName: 'orders',
  entryFaults: orderFaults,
} as const
const RETURNS = {
  schema: compileCheck(ReturnsBody),
  listName: 'returns',
  entryFaults: returnFaults,
} as const

/** What was accepted, with warnings. */
interface Taken<T> {
  readonly data: readonly T[]
  readonly warnings: readonly Warning[]
}

async function takeOrders(
  deps: IntakeDeps,
  merchant: Merchant,
  body: unknown,
): Promise<Taken<AcceptedOrder>> {
  const nowMs = deps.now()
  const { orders: entries } = checked(body, { ...ORDERS, nowMs })
  const read = entries.map((order) => readOrder(order, { source: 's2s', nowMs }))
  const listName = 'orders'
  const data = await acceptOrders(deps, merchant, { orders: read, listName })
  const received = { listName, entries, read } as const
  return { data, warnings: await orderWarnings(deps.db, merchant.merch_id, received) }
}

async function takeReturns(
  deps: IntakeDeps,
  merchant: Merchant,
  body: unknown,
): Promise<Taken<{ id: string }>> {
  const nowMs = deps.now()
  const { returns } = checked(body, { ...RETURNS, nowMs })
  const read = returns.map((entry) => readReturn(entry, nowMs))
  await acceptReturns(deps, merchant, read)
  const data = read.map(({ return_id }) => ({ id: return_id }))
  return { data, warnings: returnWarnings(returns) }
}

/** The response to a signed call, the same for the first call and its retries. */
type Answer<T> = ReturnType<typeof ok<T>> & { readonly warnings: ReturnType<typeof warningRecords> }

function warned<T extends TSchema>(entry: T) {
  return Type.Object({ ...envelope(entry).properties, warnings: Warnings })
}

interface ReceiveDeps extends IntakeDeps {
  readonly quotas: IntakeQuotas
  readonly requests: IntakeRequests
}

interface SignedCall {
  readonly request: Call
  readonly endpoint: string
  readonly schema: PartSchema
}

/** Verifies, claims, accepts, and stores the response; stores refused requests as well. */
async function receive<T>(
  deps: ReceiveDeps,
  { request, endpoint, schema }: SignedCall,
  accept: (merchant: Merchant, body: unknown) => Promise<Taken<T>>,
): Promise<Answer<T>> {
  const merchant = await requireMerchant(deps.db, request.params.merch_id)
  const body = rawBody(request)
  try {
    const signed = signedRequest(deps, request, { merchant, body })
    const known = await knownAnswer(deps, signed)
    if (known !== null) return JSON.parse(known)
    try {
      const { value, unknown } = await parseNoting(body, schema)
      const { data, warnings: found } = await accept(merchant, value)
      const warnings = [...unknownFieldWarnings(unknown), ...found]
      const answer = { ...ok(201, ...data), warnings: warningRecords(warnings) }
      await noteWarnings(deps, merchant.merch_id, warnings)
      deps.onReport?.(merchant.merch_id, endpoint === 'returns' ? 'server_return' : 'server_order')
      await deps.requests.finish({ request: signed, response: JSON.stringify(answer) })
      return answer
    } catch (cause) {
      await deps.requests.drop(signed)
      throw cause
    }
  } catch (cause) {
    if (cause instanceof ApiError && cause.status < 500) {
      const refusal = {
        at: new Date(deps.now()),
        merchId: merchant.merch_id,
        endpoint,
        reason: cause.message,
        faults: (cause.data ?? []) as Fault[],
        // Identifies the server. A browser is identified by its page, never by its reader's
        // address.
        origin: request.headers.origin ?? request.clientAddress,
        isProven: cause.code !== ERRORS.badSignature.code,
      }
      const toText = (sent: Buffer) => sent.toString()
      await storeRefusal(deps, refusal, { address: request.clientAddress, body, toText })
    }
    throw cause
  }
}

function signedRequest(
  deps: IntakeDeps,
  request: Call,
  { merchant, body }: { readonly merchant: Merchant; readonly body: Buffer },
): SignedRequest {
  return {
    merchId: merchant.merch_id,
    signature: verified(deps, request, { merchant, body }),
    idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']),
    bodyHash: createHash('sha256')
      .update(`${pathOf(request)}\n`)
      .update(body)
      .digest(),
    at: new Date(deps.now()),
  }
}

/** The response to a retry; null if the request is new. Throws if it is neither. */
async function knownAnswer(
  { requests }: ReceiveDeps,
  request: SignedRequest,
): Promise<string | null> {
  const claim = await requests.claim(request)
  switch (claim.kind) {
    case 'claimed':
      return null
    case 'answered':
      return claim.response
    case 'replayed':
      throw new ApiError('replayed')
    case 'other_body':
      throw new ApiError('idempotencyConflict')
    case 'working':
      throw new ApiError('stillAtWork', { headers: { 'retry-after': '1' } })
  }
}

/** Without a query and with the optional final slash, so that both forms are the same retry. */
function pathOf({ url }: Call): string {
  return url.replace(/\/?(\?.*)?$/, '/')
}

function verified(
  deps: IntakeDeps,
  request: Call,
  { merchant, body }: { readonly merchant: Merchant; readonly body: Buffer },
): Buffer {
  const header = (name: string) => {
    const value = request.headers[name]
    return typeof value === 'string' ? value : undefined
  }
  const nowMs = deps.now()
  const result = verifySignature(
    { timestamp: header(TIMESTAMP_HEADER), signature: header(SIGNATURE_HEADER), body },
    { secrets: signingSecrets(merchant, nowMs), nowMs },
  )
  if ('reason' in result) throw new ApiError('badSignature', { message: result.reason })
  return result.signature
}
