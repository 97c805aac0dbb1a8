/**
 * Why an auction ended as it did, what other settings would have earned, and why links went
 * unfilled: computed from stored receipts.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  CATEGORY_FLOOR_RULE,
  type CategoryFloor,
  categoryFloorFaults,
  parseCategoryFloor,
} from '../accounts/category-floor.ts'
import { requireExistingOwnPublisher } from '../accounts/own-publisher.ts'
import { FLOOR_MAX, LIST_LENGTH_MAX } from '../accounts/publisher.ts'
import { holderOf, type KeyGuard, type KeyHolder, NEEDS_KEY } from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { listMerchantIdsOf } from '../catalog/merchant-store.ts'
import { envelope, ok } from '../platform/envelope.ts'
import { type Fault, notFound } from '../platform/errors.ts'
import { micros, PPM, parseDollars } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import { listOf } from '../platform/validation.ts'
import { awaitReceipt } from './await-receipt.ts'
import { DayRuns, dayFaults } from './day-runs.ts'
import { explainAuction, explainWithoutReceipt } from './explain.ts'
import { ExplainedResult, RECEIPT_TOLD, type ResultClick } from './explanation-schema.ts'
import { NoFillRun } from './no-fill.ts'
import { unpackReceipt } from './receipt.ts'
import { NoFillQuery, NoFillReason, ResultParams, WhatIf, WhatIfBody } from './result-schema.ts'
import { readResultNumber } from './seal.ts'
import { type WhatIfChange, WhatIfRun } from './what-if.ts'

export interface ResultDeps {
  readonly db: Db
  readonly keys: KeyGuard
  /** The clicks on a result, as the fold judged them. */
  readonly clicksOf: (db: Db, resultNumber: Buffer) => Promise<readonly ResultClick[]>
  /** The result of a click by its id, which is all that a shop's own log contains. */
  readonly resultOfClick: (db: Db, clickId: string) => Promise<Buffer | null>
}

export const resultRoutes =
  ({ db, keys, clicksOf, resultOfClick }: ResultDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.addHook('onRequest', keys.require)
    const days = new DayRuns(db)

    app.get(
      '/api/v1/auction_results/:id/',
      {
        schema: {
          operationId: 'explainAuctionResult',
          summary: 'Why an auction ended as it did',
          description: RECEIPT_TOLD,
          security: NEEDS_KEY,
          params: ResultParams,
          response: { 200: envelope(ExplainedResult) },
        },
      },
      async (request) => {
        const { id } = request.params
        const resultNumber = (await resultOfClick(db, id)) ?? namedResult(id)
        const packed = await awaitReceipt(db, resultNumber)
        const clicks = await clicksOf(db, resultNumber)
        const auction = packed === null ? null : unpackReceipt(packed)
        const merchIds = await audienceOf(db, holderOf(request), {
          pubId: auction?.request.publisher.pubId ?? clicks[0]?.pub_id,
          merchIds: auction?.set.merchId ?? clicks.map(({ merch_id }) => merch_id),
        })
        const explanation =
          auction === null ? explainWithoutReceipt(resultNumber) : explainAuction(auction, merchIds)
        return ok(200, { ...explanation, clicks: clicksFor(merchIds, clicks) })
      },
    )

    app.post(
      '/api/v1/what_if/',
      {
        config: { rules: ({ body }) => changeFaults(body as object) },
        schema: {
          operationId: 'askWhatIf',
          summary: 'A day’s auctions under other settings',
          security: NEEDS_KEY,
          body: WhatIfBody,
          response: { 200: envelope(WhatIf) },
        },
      },
      async (request) => {
        const { pub_id: pubId, date } = request.body
        await requireExistingOwnPublisher(db, holderOf(request), pubId)
        const change = readChange(request.body)
        const run = await days.run({ pubId, day: date }, new WhatIfRun(change))
        return ok(200, run.report())
      },
    )
    await app.register(noFillRoute({ db, days }))
  }

const noFillRoute =
  ({ db, days }: { db: Db; days: DayRuns }): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/publishers/:pub_id/no_fill/',
      {
        config: { rules: ({ query }) => dayFaults(query as { date?: unknown }) },
        schema: {
          operationId: 'rankNoFill',
          summary: 'Why links went unfilled, by money missed',
          security: NEEDS_KEY,
          params: PublisherParams,
          querystring: NoFillQuery,
          response: { 200: envelope(NoFillReason) },
        },
      },
      async (request) => {
        const pubId = request.params.pub_id
        await requireExistingOwnPublisher(db, holderOf(request), pubId)
        const run = await days.run({ pubId, day: request.query.date }, new NoFillRun())
        return ok(200, ...run.report())
      },
    )
  }

const isText = (value: unknown): value is string => typeof value === 'string'

const unheardOf = () => notFound('No receipt and no click of it')

function namedResult(id: string): Buffer {
  const resultNumber = readResultNumber(id)
  if (resultNumber === null) throw unheardOf()
  return resultNumber
}

/**
 * Null for the publisher, who sees every candidate; for a merchant, its ids: it sees only its own
 * candidates. Everybody else gets a 404, because even the existence of a result is not theirs.
 */
async function audienceOf(
  db: Db,
  holder: KeyHolder,
  { pubId, merchIds }: { pubId: number | undefined; merchIds: Iterable<number> },
): Promise<ReadonlySet<number> | null> {
  if (pubId !== undefined && holder.pubIds.includes(pubId)) return null
  const concerned = new Set(merchIds)
  const own = (await listMerchantIdsOf(db, holder.uid)).filter((id) => concerned.has(id))
  if (own.length === 0) throw unheardOf()
  return new Set(own)
}

/** A merchant sees the clicks that led to it, without the publisher's part of the price. */
function clicksFor(
  merchIds: ReadonlySet<number> | null,
  clicks: readonly ResultClick[],
): ResultClick[] {
  if (merchIds === null) return [...clicks]
  return clicks
    .filter(({ merch_id }) => merchIds.has(merch_id))
    .map(({ publisher_earns: _, ...click }) => click)
}

/**
 * Faults that the schema cannot express. Values of a wrong type are left to the schema, because not
 * every value has a text form.
 */
function changeFaults(body: Partial<Record<keyof WhatIfBody, unknown>> | null): Fault[] {
  const {
    date,
    floor,
    category_floors,
    allow_merchants: allowed,
    block_merchants: blocked,
  } = body ?? {}
  const list = (value: unknown) => listOf(value, LIST_LENGTH_MAX)
  const texts = list(category_floors).filter(isText)
  const faults = categoryFaults(
    texts,
    texts.flatMap((text) => parseCategoryFloor(text) ?? []),
  )
  faults.push(...dayFaults({ date }))
  const floorMicros = isText(floor) ? parseDollars(floor) : micros(0)
  if (floorMicros === null) {
    faults.push({ field: 'floor', rule: 'must be US dollars, such as "0.05"' })
  } else if (floorMicros > FLOOR_MAX) {
    faults.push({ field: 'floor', rule: 'must be from $0 to $9000 a click' })
  }
  const both = list(allowed).filter((id) => Number.isInteger(id) && list(blocked).includes(id))
  if (both.length > 0) {
    faults.push({ field: 'block_merchants', rule: `also allowed: merchant ${both.join(', ')}` })
  }
  return faults
}

/** The change of a valid body. */
function readChange(body: WhatIfBody): WhatIfChange {
  const floorMicros = parseDollars(body.floor ?? '')
  const { tolerance, beta, require_price, pricing, allow_merchants, block_merchants } = body
  const categoryFloors = body.category_floors?.flatMap((text) => parseCategoryFloor(text) ?? [])
  return {
    ...(floorMicros === null ? {} : { floorMicros }),
    ...(categoryFloors === undefined ? {} : { categoryFloors }),
    ...(tolerance === undefined ? {} : { tolerancePpm: Math.round(tolerance * PPM) }),
    ...(beta === undefined ? {} : { beta }),
    ...(require_price === undefined ? {} : { isPriceRequired: require_price }),
    ...(pricing === undefined ? {} : { isFirstPrice: pricing === 'first_price' }),
    ...(allow_merchants === undefined ? {} : { allowMerchants: allow_merchants }),
    ...(block_merchants === undefined ? {} : { blockMerchants: block_merchants }),
  }
}

/** As for a publisher's own floors, under the body's field name. */
function categoryFaults(texts: readonly string[], floors: readonly CategoryFloor[]): Fault[] {
  const field = 'category_floors'
  const isRead = floors.length === texts.length
  const rules = categoryFloorFaults(floors, { floorMax: FLOOR_MAX, lengthMax: LIST_LENGTH_MAX })
  return [...(isRead ? [] : [{ field, rule: CATEGORY_FLOOR_RULE }]), ...rules].map(({ rule }) => ({
    field,
    rule,
  }))
}
