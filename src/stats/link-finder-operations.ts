/** Which links of a text the network can earn on, before it is published. */
import Type, { type Static } from 'typebox'
import { action, type Operation } from '../accounts/operation.ts'
import { findPublisher, type Publisher } from '../accounts/publisher-store.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { urlsInHtml, urlsInText } from '../links/find-urls.ts'
import { type OwnBases, smartLinkUrl } from '../links/link-url.ts'
import { linkKey, type WantedLink, wantedLinks } from '../links/linkmate.ts'
import { ARTICLE_NAME_LENGTH_MAX } from '../links/schema.ts'
import { type FoundLinkRow, findOrCreateLinks } from '../links/store.ts'
import { type MatchInput, matchProducts } from '../matching/match.ts'
import { listOffers } from '../matching/product-search-store.ts'
import { type IsOwnPage, listPayingCampaigns } from '../matching/store.ts'
import { badRequest, type Fault, notFound } from '../platform/errors/api-errors.ts'
import { orNull, TextOrNull, webUrl } from '../platform/http/field-types.ts'
import { readArticleUrl } from '../platform/net/article-url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type LinkMarket, readLinkMarket } from './link-market-store.ts'

/** The longest articles of shops have about 300 links. */
const LINKS_MAX = 500
/** A long article with its markup. */
const TEXT_LENGTH_MAX = 900_000
const URL_TEXT_MAX = 2048

export interface LinkFinderDeps {
  readonly bases: OwnBases
  readonly nextId: () => string
  readonly estimates: MatchInput['estimates']
  readonly book: MatchInput['book']
  readonly isOwnPage: IsOwnPage
  readonly onLinks: (links: readonly FoundLinkRow[]) => void
}

const Text = Type.Optional(Type.String({ maxLength: TEXT_LENGTH_MAX }))
const FinderBody = Type.Object({
  text: Text,
  html: Text,
  urls: Type.Optional(
    Type.Array(Type.String({ maxLength: URL_TEXT_MAX }), { maxItems: LINKS_MAX }),
  ),
  article: Type.Object({
    url: webUrl(),
    name: Type.Optional(orNull(Type.String({ maxLength: ARTICLE_NAME_LENGTH_MAX }))),
  }),
  create: Type.Optional(
    Type.Boolean({ default: false, description: 'Also create the smart links, or find them' }),
  ),
})

export const FoundLink = Type.Object({
  url: Type.String({ description: 'As it was written' }),
  can_earn: Type.Boolean({ description: 'Whether a merchant that sells it pays for clicks now' }),
  best_effort_cpc: Type.Number({
    description:
      'The highest predicted earnings of a click at any merchant, US dollars; 0: unknown',
  }),
  product_name: TextOrNull,
  merchant_name: orNull(Type.String(), 'Of the link’s own shop'),
  smart_link: orNull(
    Type.Object({
      smart_link_id: Type.Integer(),
      auction_id: Type.String(),
      smart_link_url: Type.String(),
    }),
    'With `create`',
  ),
})

export const linkFinderOperations = (deps: LinkFinderDeps): readonly Operation[] => [
  action({
    id: 'findLinks',
    tag: 'publishers',
    method: 'POST',
    path: '/api/v1/publishers/:pub_id/link_finder/',
    summary: 'Find the links of a text that can earn',
    description:
      'Takes one of `text`, `html` and `urls`, and the article. Answers each link once, in its ' +
      `order, at most ${LINKS_MAX}; links to the publisher’s own pages and smart links are left out.`,
    permission: 'links.write',
    params: PublisherParams,
    query: Type.Object({ create: Type.Optional(Type.Boolean({ description: 'As in the body' })) }),
    body: FinderBody,
    entry: FoundLink,
    run: async (call) => {
      const { db, body, now, params } = call
      const publisher = await findPublisher(db, params.pub_id)
      if (publisher === null) throw notFound(`No publisher ${params.pub_id}`)
      const wanted = readLinks(body, publisher, deps)
      const links = wanted.map((link, at) => ({
        ...{ auction_id: String(at), url: link.url, unwraps: link.unwraps },
        is_exclusive: link.isExclusive,
      }))
      const marketOf = await readLinkMarket(db, publisher, { links, now })
      const markets = links.map((link) => marketOf(link))
      const cpcOf = await predict(db, publisher, { markets, now, deps })
      const isCreating = body.create === true || call.query.create === true
      const created = isCreating
        ? await create(db, { body, publisher, wanted, now, deps })
        : new Map<string, FoundLinkRow>()
      if (created.size > 0) {
        const auctionIds = [...created.values()].map(({ auction_id }) => auction_id)
        const target = `article:${body.article.url}`
        await call.audit({
          action: 'smart_link.create',
          target,
          after: { auction_ids: auctionIds },
        })
        deps.onLinks([...created.values()])
      }
      return wanted.map((link, at) => {
        const { product, sellers, bidders } = markets[at] as LinkMarket
        const made = created.get(linkKey(link.url, link.isExclusive))
        return {
          url: link.url,
          can_earn: sellers.some(({ merchId, isInStock }) => isInStock && bidders.has(merchId)),
          best_effort_cpc: cpcOf.get(product?.product_id ?? '') ?? 0,
          product_name: product?.title ?? null,
          merchant_name: product?.merchant_name ?? null,
          smart_link:
            made === undefined
              ? null
              : {
                  smart_link_id: made.smart_link_id,
                  auction_id: made.auction_id,
                  smart_link_url: smartLinkUrl(deps.bases.linkUrl, made.auction_id),
                },
        }
      })
    },
  }),
]

function readLinks(
  { text, html, urls, article }: Static<typeof FinderBody>,
  publisher: Publisher,
  { bases }: LinkFinderDeps,
): WantedLink[] {
  const given = [text, html, urls].filter((part) => part !== undefined)
  const faults: Fault[] = []
  if (given.length !== 1) faults.push({ field: 'text', rule: 'send one of text, html and urls' })
  const found = urls ?? (html === undefined ? urlsInText(text ?? '') : urlsInHtml(html))
  if (found.length > LINKS_MAX) {
    const field = html === undefined ? 'text' : 'html'
    faults.push({ field, rule: `must have at most ${LINKS_MAX} links` })
  }
  const page = readArticleUrl(article.url)
  if (page === null) faults.push({ field: 'article.url', rule: 'must be an http(s) URL' })
  if (faults.length > 0 || page === null) throw badRequest(faults)
  return wantedLinks(
    found.map((raw_url) => ({ raw_url })),
    { articleUrl: page.url, ownDomains: publisher.domains, bases, unwraps: true },
  )
}

/** The best prediction for each product among all of its merchants. */
async function predict(
  db: Db,
  publisher: Publisher,
  of: {
    readonly markets: readonly LinkMarket[]
    readonly now: Date
    readonly deps: LinkFinderDeps
  },
): Promise<ReadonlyMap<string, number>> {
  const { now, deps } = of
  const products = [...new Set(of.markets.flatMap(({ product }) => product?.product_id ?? []))]
  const offers = await listOffers(db, products, { now, isOwnPage: deps.isOwnPage })
  const merchIds = [...new Set(offers.map(({ merch_id }) => merch_id))]
  const campaigns = await listPayingCampaigns(db, { pubId: publisher.pub_id, merchIds, now })
  const { estimates, book, bases } = deps
  const query = { publisher_slug: publisher.slug }
  const sources = { publisher, query, campaigns, estimates, book, linkUrl: bases.linkUrl }
  return new Map(
    [...Map.groupBy(offers, ({ product_id }) => product_id)].map(([id, listings]) => [
      id,
      matchProducts({ ...sources, listings })[0]?.entry.best_effort_cpc ?? 0,
    ]),
  )
}

async function create(
  db: Db,
  input: {
    readonly body: Static<typeof FinderBody>
    readonly publisher: Publisher
    readonly wanted: readonly WantedLink[]
    readonly now: Date
    readonly deps: LinkFinderDeps
  },
): Promise<Map<string, FoundLinkRow>> {
  const { body, publisher, wanted, now, deps } = input
  const page = readArticleUrl(body.article.url)
  if (page === null || wanted.length === 0) return new Map()
  const { name } = body.article
  const rows = await findOrCreateLinks(db, {
    article: {
      ...{ pubId: publisher.pub_id, uid: publisher.uid, url: page.href, urlKey: page.key },
      ...{ name: name?.trim() ? name : page.href, publicationDate: null, at: now, isTrusted: true },
    },
    links: wanted.map((link) => ({ ...link, auctionId: deps.nextId() })),
    source: 'linkmate',
    isArticleGiven: true,
  })
  return new Map(rows.map((row) => [linkKey(row.url, row.is_exclusive), row]))
}
