/**
 * A publisher's figures as the dashboard shows them: overview, clicks with reasons, orders,
 * returns, and the receipt of any auction.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ownIds, permissionsIn } from '../accounts/caller.ts'
import { requireOwnPublisher } from '../accounts/own-publisher.ts'
import type { Organization } from '../accounts/permission.ts'
import { holderOf, type KeyGuard, NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { readResultNumber } from '../auction/seal.ts'
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

interface FiguresDeps {
  readonly db: Db
  readonly keys: KeyGuard
  readonly now: () => Date
}

export const figuresRoutes =
  ({ db, keys, now }: FiguresDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys, permission: 'figures.read', hidesIds: true })
    app.get(
      '/api/v1/publishers/:pub_id/overview/',
      {
        config,
        schema: {
          operationId: 'readOverview',
          summary: 'What a publisher earned in a range of days, by day, article and merchant',
          security: NEEDS_KEY,
          params: PublisherParams,
          querystring: RangeQuery,
          response: { 200: envelope(Overview) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnPublisher(db, request, request.params.pub_id)
        return ok(200, await readOverview(db, readDayRange(pubId, request.query)))
      },
    )

    app.get(
      '/api/v1/publishers/:pub_id/clicks/',
      {
        config,
        schema: {
          operationId: 'listClicks',
          summary: 'Clicks, newest first, with the reason for each unpaid one',
          security: NEEDS_KEY,
          params: PublisherParams,
          querystring: ClicksQuery,
          response: { 200: envelope(ClickPage) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnPublisher(db, request, request.params.pub_id)
        const { outcome = null, cursor = null } = request.query
        const range = readDayRange(pubId, request.query)
        return ok(200, await readClickPage(db, { ...range, outcome, cursor }))
      },
    )
    await app.register(ordersRoutes({ db, now }))
    await app.register(receiptRoute({ db }))
  }

const ordersRoutes =
  ({ db, now }: Omit<FiguresDeps, 'keys'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/publishers/:pub_id/orders/',
      {
        config,
        schema: {
          operationId: 'listOrders',
          summary: 'Orders, newest first, with their state and earnings',
          security: NEEDS_KEY,
          params: PublisherParams,
          querystring: OrdersQuery,
          response: { 200: envelope(OrderPage) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnPublisher(db, request, request.params.pub_id)
        const { cursor = null } = request.query
        const range = readDayRange(pubId, request.query)
        return ok(200, await readOrderPage(db, { ...range, cursor, now: now() }))
      },
    )

    app.get(
      '/api/v1/publishers/:pub_id/returns/',
      {
        config,
        schema: {
          operationId: 'listReturns',
          summary: 'Returned goods, newest first',
          security: NEEDS_KEY,
          params: PublisherParams,
          querystring: OrdersQuery,
          response: { 200: envelope(ReturnPage) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnPublisher(db, request, request.params.pub_id)
        const { cursor = null } = request.query
        return ok(200, await readReturnPage(db, { ...readDayRange(pubId, request.query), cursor }))
      },
    )
  }

const receiptRoute =
  ({ db }: { db: Db }): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/receipts/:auction_result/',
      {
        config: { permission: null },
        schema: {
          operationId: 'readReceipt',
          summary:
            'The receipt of an auction: candidates, price and click, as its publisher may see them',
          security: NEEDS_KEY,
          params: Type.Object({ auction_result: Type.String({ maxLength: RESULT_LENGTH_MAX }) }),
          response: { 200: envelope(Receipt) },
        },
      },
      async (request) => {
        const holder = holderOf(request)
        const resultNumber = readResult(request.params.auction_result)
        const result = await findResult(db, resultNumber)
        const reads = (organization: Organization) =>
          permissionsIn(holder, organization)?.has('figures.read') === true
        // One answer for both cases, so that nobody learns whether another publisher has such a
        // result.
        if (result === null || !reads({ kind: 'publisher', id: result.pub_id })) {
          throw notFound(NO_RESULT)
        }
        const merchIds = new Set(ownIds(holder, 'merchant'))
        return ok(200, await readReceipt(db, { result, resultNumber, merchIds }))
      },
    )
  }

const NO_RESULT =
  'No receipt and no click of this result: unclicked ones are stored for a few days, and a fresh one takes a second'

function readResult(text: string): Buffer {
  const number = readResultNumber(text)
  if (number !== null) return number
  const rule = 'must be an auction_result.id, or a result number of 32 hexadecimal digits'
  throw badRequest([{ field: 'auction_result', rule }])
}
