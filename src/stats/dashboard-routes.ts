/**
 * The dashboard's endpoints for figures: a publisher's overview, clicks with reasons, orders, and
 * the receipt of any auction. Registered inside the log-in (accounts/dashboard-routes.ts).
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { findPublisher } from '../accounts/publisher-store.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { requireOwnedPublisher, sessionUserOf } from '../accounts/session.ts'
import { readResultNumber } from '../auction/seal.ts'
import { listMerchantIdsOf } from '../catalog/merchant-store.ts'
import { badRequest, notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { readClickPage } from './click-page-store.ts'
import {
  ClickPage,
  ClicksQuery,
  OrderPage,
  OrdersQuery,
  Overview,
  PAGE_DAYS_MAX,
  RangeQuery,
  Receipt,
  ReturnPage,
} from './dashboard-schema.ts'
import { rangeFaults, readDayRange } from './day-range.ts'
import { readOrderPage } from './order-page-store.ts'
import { readOverview } from './overview-store.ts'
import { findResult, readReceipt } from './receipt-view-store.ts'
import { readReturnPage } from './return-page-store.ts'

const config = {
  rules: ({ query }: FastifyRequest) => rangeFaults(query as object, PAGE_DAYS_MAX),
}
const RESULT_LENGTH_MAX = 200 // An auction_result.id has 124 characters.

interface DashboardStatsDeps {
  readonly db: Db
  readonly now: () => Date
}

export const dashboardStatsRoutes =
  ({ db, now }: DashboardStatsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/api/publishers/:pub_id/overview/',
      {
        config,
        schema: {
          operationId: 'readOverview',
          params: PublisherParams,
          querystring: RangeQuery,
          response: { 200: envelope(Overview) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnedPublisher(db, request)
        return ok(200, await readOverview(db, readDayRange(pubId, request.query)))
      },
    )

    app.get(
      '/dashboard/api/publishers/:pub_id/clicks/',
      {
        config,
        schema: {
          operationId: 'listMyClicks',
          params: PublisherParams,
          querystring: ClicksQuery,
          response: { 200: envelope(ClickPage) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnedPublisher(db, request)
        const { outcome = null, cursor = null } = request.query
        const range = readDayRange(pubId, request.query)
        return ok(200, await readClickPage(db, { ...range, outcome, cursor }))
      },
    )
    await app.register(ordersRoutes({ db, now }))
    await app.register(receiptRoute({ db }))
  }

const ordersRoutes =
  ({ db, now }: DashboardStatsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/api/publishers/:pub_id/orders/',
      {
        config,
        schema: {
          operationId: 'listMyOrders',
          params: PublisherParams,
          querystring: OrdersQuery,
          response: { 200: envelope(OrderPage) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnedPublisher(db, request)
        const { cursor = null } = request.query
        const range = readDayRange(pubId, request.query)
        return ok(200, await readOrderPage(db, { ...range, cursor, now: now() }))
      },
    )

    app.get(
      '/dashboard/api/publishers/:pub_id/returns/',
      {
        config,
        schema: {
          operationId: 'listMyReturns',
          params: PublisherParams,
          querystring: OrdersQuery,
          response: { 200: envelope(ReturnPage) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnedPublisher(db, request)
        const { cursor = null } = request.query
        return ok(200, await readReturnPage(db, { ...readDayRange(pubId, request.query), cursor }))
      },
    )
  }

const receiptRoute =
  ({ db }: { db: Db }): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/api/receipts/:auction_result/',
      {
        schema: {
          operationId: 'readReceipt',
          params: Type.Object({ auction_result: Type.String({ maxLength: RESULT_LENGTH_MAX }) }),
          response: { 200: envelope(Receipt) },
        },
      },
      async (request) => {
        const { uid, memberships } = sessionUserOf(request)
        const resultNumber = readResult(request.params.auction_result)
        const result = await findResult(db, resultNumber)
        const publisher = result === null ? null : await findPublisher(db, result.pub_id)
        // One answer for both cases, so that nobody learns whether another publisher has such a
        // result.
        const isMine = memberships.some(({ pub_id }) => pub_id === publisher?.pub_id)
        if (result === null || publisher === null || !isMine) throw notFound(NO_RESULT)
        const merchIds = new Set(await listMerchantIdsOf(db, uid))
        return ok(200, await readReceipt(db, { result, resultNumber, merchIds }))
      },
    )
  }

const NO_RESULT =
  'No receipt and no click of this result: unclicked ones are kept for a few days, and a fresh one takes a second'

function readResult(text: string): Buffer {
  const number = readResultNumber(text)
  if (number !== null) return number
  const rule = 'must be an auction_result.id, or a result number of 32 hexadecimal digits'
  throw badRequest([{ field: 'auction_result', rule }])
}
