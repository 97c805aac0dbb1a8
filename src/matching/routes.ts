/**
 * Product matching: a product's identifiers in, monetized links of the merchants that sell it out.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { authorize } from '../accounts/caller.ts'
import { findPublisherBySlug, type Publisher } from '../accounts/publisher-store.ts'
import { declarePermission, type KeyGuard, type KeyHolder } from '../accounts/require-key.ts'
import type { LeaseBook } from '../budgets/lease.ts'
import { ApiError, notFound } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import type { ClickEstimates } from '../prediction/click-estimates.ts'
import { type Match, matchProducts } from './match.ts'
import { isVariantB, matchFaults } from './match-query.ts'
import { MatchQuery, MatchResponse } from './schema.ts'
import { findListings, type IsOwnPage, listPayingCampaigns } from './store.ts'

/** Keeps a log line readable; nobody shows more links for one product. */
const PREDICTIONS_LOGGED_MAX = 50

export interface MatchDeps {
  readonly db: Db
  readonly keys: KeyGuard
  readonly linkUrl: string
  readonly estimates: Pick<ClickEstimates, 'of'>
  readonly book: Pick<LeaseBook, 'fundedShare'>
  readonly isOwnPage: IsOwnPage
  readonly now: () => Date
}

export const matchRoutes =
  ({ db, keys, linkUrl, estimates, book, isOwnPage, now }: MatchDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    declarePermission(app, 'figures.read')
    app.get(
      '/api/v1/product_match/clickmate/exclusive_links/',
      {
        config: { rules: (request) => matchFaults(request.query as object) },
        onRequest: [keys.accept, keys.admit],
        schema: {
          operationId: 'matchProduct',
          summary: 'Match a product to monetized links',
          security: [{}, { apiKey: [] }],
          querystring: MatchQuery,
          response: { 200: MatchResponse },
        },
        serializerCompiler: () => withFloats,
      },
      async (request) => {
        const { query, keyHolder: holder = null } = request
        const publisher = await requireMatcher(db, { query, holder })
        const at = now()
        const { pub_id: pubId, is_partner: isMember } = publisher
        const listings = await findListings(db, { query, isMember, now: at, isOwnPage })
        const merchIds = listings.map(({ merch_id }) => merch_id)
        const campaigns =
          merchIds.length === 0 ? [] : await listPayingCampaigns(db, { pubId, merchIds, now: at })
        const sources = { estimates, book, linkUrl }
        const input = { publisher, query, listings, campaigns, ...sources }
        const matches = matchProducts(input)
        request.log.info({ pub_id: pubId, predictions: toLog(matches) }, 'best_effort_cpc')
        return { data: matches.map(({ entry }) => entry) }
      },
    )
  }

/**
 * Writes floats with a decimal point, because strictly typed clients read a bare 0 as an integer.
 */
function withFloats(answer: unknown): string {
  return JSON.stringify(answer).replace(/("best_effort_cpc":\d+)(?=[,}])/g, '$1.0')
}

/** The answer has the mean; the log also has the 80 % interval. */
function toLog(matches: readonly Match[]) {
  return matches.slice(0, PREDICTIONS_LOGGED_MAX).map(({ merchId, best }) => ({
    merch_id: merchId,
    campaign_id: best?.campaignId ?? null,
    mean_micros: Math.round(best?.meanMicros ?? 0),
    low_micros: Math.round(best?.lowMicros ?? 0),
    high_micros: Math.round(best?.highMicros ?? 0),
  }))
}

/** The account of a request; throws 404 or 403, in this order. */
async function requireMatcher(
  db: Db,
  { query, holder }: { query: MatchQuery; holder: KeyHolder | null },
): Promise<Publisher> {
  const { publisher_slug: slug } = query
  const publisher = await findPublisherBySlug(db, slug)
  if (publisher === null) throw notFound(`No publisher ${slug}`)
  if (holder !== null) {
    authorize(holder, { kind: 'publisher', id: publisher.pub_id }, 'figures.read')
  }
  if (!isVariantB(query) && !publisher.is_partner) throw new ApiError('notPartner')
  return publisher
}
