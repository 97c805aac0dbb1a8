/** A publisher's links and articles: their figures, whether they earn, and changes of links. */
import Type, { type Static } from 'typebox'
import { requireMatch } from '../accounts/etag.ts'
import { action, list, type Operation } from '../accounts/operation.ts'
import { findPublisher, type Publisher } from '../accounts/publisher-store.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { ownLinkFaults } from '../links/create-link.ts'
import {
  type ChangedLink,
  findChangedLink,
  lockLink,
  updateLink,
} from '../links/link-change-store.ts'
import { type OwnBases, smartLinkUrl } from '../links/link-url.ts'
import { ApiError, badRequest, notFound } from '../platform/errors/api-errors.ts'
import { idText, orNull, smallId, Time, TimeOrNull, webUrl } from '../platform/http/field-types.ts'
import { formatCents } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import {
  DAY_MS,
  formatTimestamp,
  formatTimestampOrNull,
  utcDay,
} from '../platform/time/timestamp.ts'
import { earningsPerClick } from './earnings-per-click.ts'
import { HEALTHS, healthOf } from './link-health.ts'
import {
  type FiguredRow,
  type ListedLink,
  type ListWanted,
  listArticles,
  listDailyEarnings,
  listLinksWithFigures,
} from './link-list-store.ts'
import { type LinkMarket, readLinkMarket } from './link-market-store.ts'

/** A month of figures says what a link or an article is worth today. */
const DAYS = 30
/** Two weeks show the rhythm of weekdays twice. */
const TREND_DAYS = 14
/** A URL is the longest text that somebody searches for. */
const SEARCH_LENGTH_MAX = 2048
const PATH = '/api/v1/publishers/:pub_id'

export interface LinkDeps {
  readonly bases: OwnBases
  /** Called after a change, because this node redirects readers by its cached links. */
  readonly onChanged: (link: { auction_id: string; pub_id: number; url: string }) => void
}

const dollars = (description: string) => Type.String({ description: `${description}, US dollars` })
const FIGURES = {
  earnings: dollars('Earned by the publisher'),
  clicks: Type.Integer({ description: 'Valid clicks' }),
  invalid_clicks: Type.Integer(),
  earnings_per_click: orNull(Type.String(), 'US dollars; null without valid clicks'),
  orders: Type.Integer(),
  revenue: dollars('Revenue of merchants'),
}
const RISK = dollars('Earned a day over the 14 days before it stopped earning; 0 while it earns')

export const LinkRecord = Type.Object({
  smart_link_id: Type.Integer(),
  auction_id: Type.String(),
  smart_link_url: Type.String(),
  url: Type.String({ description: 'Empty when none was given' }),
  exclusive_match_requested: Type.Boolean(),
  state: Type.Enum(['active', 'disabled']),
  health: Type.Enum([...HEALTHS], {
    description:
      '`no_bid`: no merchant that sells it runs a campaign that bids over the day; ' +
      '`out_of_stock`: no merchant has it; `dead`: its page is gone; `new`: can earn, and nobody has clicked it yet',
  }),
  money_at_risk: RISK,
  product: orNull(
    Type.Object({
      product_id: Type.String(),
      name: Type.String(),
      merch_id: Type.Integer(),
      merchant_name: Type.String(),
      price: Type.String({ description: 'US dollars' }),
      in_stock: Type.Boolean({ description: 'At the merchant of the link' }),
      image_url: orNull(Type.String()),
    }),
    'At the URL of the link; null: no feed has it',
  ),
  article_id: Type.Integer(),
  article_name: Type.String(),
  article_url: Type.String(),
  ...FIGURES,
  impressions: Type.Integer({ description: 'How often the link was loaded on a page' }),
  earnings_by_day: Type.Array(Type.String(), {
    description: `US dollars of the last ${TREND_DAYS} UTC days, today last`,
  }),
  datetime_created: Time,
  datetime_updated: Time,
})

export const ArticleRecord = Type.Object({
  article_id: Type.Integer(),
  name: Type.String(),
  url: Type.String(),
  publication_date: TimeOrNull,
  links: Type.Integer(),
  links_in_trouble: Type.Integer({ description: 'Links that earned and no longer do' }),
  money_at_risk: RISK,
  ...FIGURES,
  page_views: Type.Integer(),
  datetime_created: Time,
  datetime_updated: Time,
})

const linkList = ({ bases }: LinkDeps) =>
  list({
    id: 'listLinks',
    tag: 'publishers',
    path: `${PATH}/links/`,
    summary: "List a publisher's links with their health",
    description:
      `Links that lose most come first. Figures are those of the last ${DAYS} UTC days. ` +
      '`health` in an entry is that of this moment; the filter and `money_at_risk` are those of ' +
      'the last hourly check.',
    permission: 'figures.read',
    params: PublisherParams,
    query: Type.Object({
      article: Type.Optional(smallId),
      health: Type.Optional(Type.Enum([...HEALTHS])),
      link: Type.Optional(idText('One link, by `smart_link_id` or `auction_id`')),
      search: Type.Optional(
        Type.String({
          maxLength: SEARCH_LENGTH_MAX,
          description: 'Part of the URL, or of the name or URL of the article',
        }),
      ),
    }),
    entry: LinkRecord,
    run: async ({ db, now, params: { pub_id: pubId }, query }) => {
      const publisher = await requirePublisher(db, pubId)
      const { article: articleId = null, health = null, link = null, search = '', ...page } = query
      const wanted = readPage({ pubId, now, ...page })
      const filter = { articleId, health, link, search: search.trim().toLowerCase() }
      const rows = await listLinksWithFigures(db, { ...wanted, ...filter })
      const shown = rows.slice(0, page.limit)
      const marketOf = await readLinkMarket(db, publisher, { links: shown, now })
      const trendOf = await readTrends(db, { pubId, links: shown, now })
      return {
        rows: shown.map((row) =>
          toLink(row, { market: marketOf(row), trend: trendOf(row), now, bases }),
        ),
        nextCursor: nextOf(rows, wanted),
      }
    },
  })

const articleList = list({
  id: 'listArticles',
  tag: 'publishers',
  path: `${PATH}/articles/`,
  summary: "List a publisher's articles",
  description: `Articles that lose most come first. Figures are those of the last ${DAYS} UTC days.`,
  permission: 'figures.read',
  params: PublisherParams,
  entry: ArticleRecord,
  run: async ({ db, now, params: { pub_id: pubId }, query }) => {
    await requirePublisher(db, pubId)
    const wanted = readPage({ pubId, now, ...query })
    const rows = await listArticles(db, wanted)
    return {
      rows: rows.slice(0, query.limit).map((row) => ({
        ...toFigures(row),
        article_id: row.article_id,
        name: row.name,
        url: row.url,
        publication_date: formatTimestampOrNull(row.publication_date),
        links: row.links,
        links_in_trouble: row.links_in_trouble,
        money_at_risk: formatCents(row.risk_micros),
        page_views: Number(row.page_views),
        datetime_created: formatTimestamp(row.datetime_created),
        datetime_updated: formatTimestamp(row.datetime_updated),
      })),
      nextCursor: nextOf(rows, wanted),
    }
  },
})

const LinkChange = Type.Object({
  url: Type.Optional(webUrl('Product page')),
  exclusive_match_requested: Type.Optional(Type.Boolean()),
  state: Type.Optional(
    Type.Enum(['active', 'disabled'], {
      description: '`disabled`: leads readers to its URL without an auction, and earns nothing',
    }),
  ),
})

/** Without figures, which change with every click: the etag is that of the settings. */
export const LinkSettings = Type.Object({
  smart_link_id: Type.Integer(),
  auction_id: Type.String(),
  smart_link_url: Type.String(),
  url: Type.String({ description: 'Empty when none was given' }),
  exclusive_match_requested: Type.Boolean(),
  state: Type.Enum(['active', 'disabled']),
  disabled_by: orNull(Type.Enum(['publisher', 'operator'])),
  article_id: Type.Integer(),
  article_name: Type.String(),
  article_url: Type.String(),
  datetime_created: Time,
  datetime_updated: Time,
})

const LINK = {
  path: `${PATH}/smart_links/:link_id/`,
  params: Type.Object({
    ...PublisherParams.properties,
    link_id: idText('`smart_link_id` or `auction_id`'),
  }),
  entry: LinkSettings,
  hasEtag: true,
  tag: 'publishers',
} as const

const linkRead = ({ bases }: LinkDeps) =>
  action({
    ...LINK,
    id: 'readLinkSettings',
    method: 'GET',
    summary: 'Read a smart link',
    permission: 'figures.read',
    run: async ({ db, params: { pub_id: pubId, link_id: id } }) => [
      toSettings(await findChangedLink(db, { pubId, id }), bases),
    ],
  })

const linkChange = ({ bases, onChanged }: LinkDeps) =>
  action({
    ...LINK,
    id: 'updateLinkSettings',
    method: 'PATCH',
    summary: 'Change or disable a smart link',
    description:
      'Readers are led to the new URL within seconds. A link that the operator disabled cannot be ' +
      'enabled again: 409.',
    permission: 'links.write',
    body: LinkChange,
    run: async (call) => {
      const { db, body, params, ifMatch } = call
      const name = { pubId: params.pub_id, id: params.link_id }
      const before = await lockLink(db, name)
      requireMatch(ifMatch, toSettings(before, bases))
      const faults = ownLinkFaults(body.url, bases)
      if (faults.length > 0) throw badRequest(faults)
      const state = body.state ?? before.state
      if (state === 'active' && before.disabled_by === 'operator') {
        throw new ApiError('wrongState', { message: 'The operator disabled this link' })
      }
      await updateLink(db, {
        ...before,
        url: body.url ?? before.url,
        is_exclusive: body.exclusive_match_requested ?? before.is_exclusive,
        state,
        disabled_by: state === 'disabled' ? (before.disabled_by ?? 'publisher') : null,
      })
      const after = await findChangedLink(db, name)
      const { auction_id, pub_id, url, article_url } = after
      await call.audit({
        action: 'smart_link.update',
        target: `smart_link:${auction_id}`,
        before: toSettings(before, bases),
        after: toSettings(after, bases),
      })
      onChanged({ auction_id, pub_id, url: url ?? article_url })
      return [toSettings(after, bases)]
    },
  })

export const linkOperations = (deps: LinkDeps): readonly Operation[] => [
  linkList(deps),
  articleList,
  linkRead(deps),
  linkChange(deps),
]

async function requirePublisher(db: Db, pubId: number): Promise<Publisher> {
  const publisher = await findPublisher(db, pubId)
  if (publisher === null) throw notFound(`No publisher ${pubId}`)
  return publisher
}

function toSettings(row: ChangedLink, { linkUrl }: OwnBases): Static<typeof LinkSettings> {
  return {
    smart_link_id: row.smart_link_id,
    auction_id: row.auction_id,
    smart_link_url: smartLinkUrl(linkUrl, row.auction_id),
    url: row.url ?? '',
    exclusive_match_requested: row.is_exclusive,
    state: row.state,
    disabled_by: row.disabled_by,
    article_id: row.article_id,
    article_name: row.article_name,
    article_url: row.article_url,
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: formatTimestamp(row.datetime_updated),
  }
}

/** One row more than the page, to see whether there is another page. */
function readPage(page: {
  readonly pubId: number
  readonly now: Date
  readonly limit: number
  readonly cursor: string | null
}): ListWanted {
  const { pubId, now, limit, cursor } = page
  if (cursor !== null && !/^\d{1,9}$/.test(cursor)) {
    throw badRequest([{ field: 'cursor', rule: 'must be the next_cursor of a page' }])
  }
  const dayFrom = utcDay(now.getTime() - (DAYS - 1) * DAY_MS)
  return { pubId, dayFrom, limitRows: limit + 1, skipRows: Number(cursor ?? 0) }
}

function nextOf(rows: readonly unknown[], { limitRows, skipRows }: ListWanted): string | null {
  return rows.length < limitRows ? null : String(skipRows + limitRows - 1)
}

function toLink(
  row: ListedLink,
  of: { market: LinkMarket; trend: readonly string[]; now: Date; bases: OwnBases },
): Static<typeof LinkRecord> {
  const { market, trend, now, bases } = of
  const { product } = market
  const health = healthOf(
    {
      isDisabled: row.state === 'disabled',
      isDead: row.is_dead,
      createdAt: row.datetime_created,
      hasClicks: row.clicks !== '0',
      ...market,
    },
    now,
  )
  return {
    smart_link_id: row.smart_link_id,
    auction_id: row.auction_id,
    smart_link_url: smartLinkUrl(bases.linkUrl, row.auction_id),
    url: row.url ?? '',
    exclusive_match_requested: row.is_exclusive,
    state: row.state,
    health,
    money_at_risk: formatCents(row.risk_micros),
    product:
      product === null
        ? null
        : {
            product_id: product.product_id,
            name: product.title,
            merch_id: product.merch_id,
            merchant_name: product.merchant_name,
            price: formatCents(product.price_micros),
            in_stock: product.is_in_stock,
            image_url: product.image_url,
          },
    article_id: row.article_id,
    article_name: row.article_name,
    article_url: row.article_url,
    ...toFigures(row),
    impressions: Number(row.impressions),
    earnings_by_day: [...trend],
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: formatTimestamp(row.datetime_updated),
  }
}

/** What each link earned on each of the last days. */
async function readTrends(
  db: Db,
  of: { readonly pubId: number; readonly links: readonly ListedLink[]; readonly now: Date },
): Promise<(link: ListedLink) => readonly string[]> {
  const { pubId, links, now } = of
  const days = Array.from({ length: TREND_DAYS }, (_, at) =>
    utcDay(now.getTime() - (TREND_DAYS - 1 - at) * DAY_MS),
  )
  const auctionIds = links.map(({ auction_id }) => auction_id)
  const rows = await listDailyEarnings(db, { pubId, dayFrom: days[0] as string, auctionIds })
  const earned = new Map(rows.map((row) => [`${row.auction_id} ${row.day}`, row.earnings_micros]))
  return ({ auction_id: id }) => days.map((day) => formatCents(earned.get(`${id} ${day}`) ?? '0'))
}

function toFigures(row: FiguredRow) {
  return {
    earnings: formatCents(row.earnings_micros),
    clicks: Number(row.clicks),
    invalid_clicks: Number(row.invalid_clicks),
    earnings_per_click: earningsPerClick(row),
    orders: Number(row.orders),
    revenue: formatCents(row.revenue_micros),
  }
}
