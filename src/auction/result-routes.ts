/** Why an auction ended as it did, computed from its stored receipt. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { permissionsIn } from '../accounts/caller.ts'
import type { Organization } from '../accounts/permission.ts'
import {
  holderOf,
  type KeyGuard,
  type KeyHolder,
  NEEDS_KEY,
  needPermission,
} from '../accounts/require-key.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { awaitReceipt } from './await-receipt.ts'
import { explainAuction, explainWithoutReceipt, type Reader } from './explain.ts'
import { ExplainedResult, RECEIPT_DESCRIPTION, type ResultClick } from './explanation-schema.ts'
import { unpackReceipt } from './receipt.ts'
import { ResultParams } from './result-schema.ts'
import { readResultNumber } from './seal.ts'

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
    needPermission(app, { keys, permission: null })
    app.get(
      '/api/v1/auction_results/:id/',
      {
        schema: {
          operationId: 'explainAuctionResult',
          summary: 'Why an auction ended as it did',
          description: RECEIPT_DESCRIPTION,
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
        const reader = readerOf(holderOf(request), {
          pubId: auction?.request.publisher.pubId ?? clicks[0]?.pub_id,
          merchIds: auction?.set.merchId ?? clicks.map(({ merch_id }) => merch_id),
        })
        const explanation =
          auction === null ? explainWithoutReceipt(resultNumber) : explainAuction(auction, reader)
        return ok(200, { ...explanation, clicks: clicksFor(reader, clicks) })
      },
    )
  }

const unknownResult = () => notFound('No receipt and no click of it')

function namedResult(id: string): Buffer {
  const resultNumber = readResultNumber(id)
  if (resultNumber === null) throw unknownResult()
  return resultNumber
}

/**
 * The result's publisher sees every candidate, a merchant only its own. Everybody else gets a 404,
 * because even the existence of a result is not theirs.
 */
function readerOf(
  holder: KeyHolder,
  { pubId, merchIds }: { pubId: number | undefined; merchIds: Iterable<number> },
): Exclude<Reader, { kind: 'operator' }> {
  const concerned = new Set(merchIds)
  const reads = (organization: Organization) =>
    permissionsIn(holder, organization)?.has('figures.read') === true
  const own = [...concerned].filter((id) => reads({ kind: 'merchant', id }))
  const isPublisher = pubId !== undefined && reads({ kind: 'publisher', id: pubId })
  if (isPublisher) return { kind: 'publisher', merchIds: new Set(own) }
  if (own.length === 0) throw unknownResult()
  return { kind: 'merchant', merchIds: new Set(own) }
}

/** A merchant sees the clicks that led to it, without the publisher's part of the price. */
function clicksFor(
  { kind, merchIds }: Exclude<Reader, { kind: 'operator' }>,
  clicks: readonly ResultClick[],
): ResultClick[] {
  if (kind === 'publisher') return [...clicks]
  return clicks
    .filter(({ merch_id }) => merchIds.has(merch_id))
    .map(({ publisher_earns: _, ...click }) => click)
}
