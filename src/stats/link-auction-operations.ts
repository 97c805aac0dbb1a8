/** A link's auctions: who won them at which price, and why nobody won the others. */
import Type, { type Static } from 'typebox'
import { action, list, type Operation } from '../accounts/operation.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { discloseToPublisher } from '../auction/disclose.ts'
import { earningsPerClick } from '../auction/expected-earnings.ts'
import { lossReason } from '../auction/loss-reason.ts'
import { NoFillRun } from '../auction/no-fill.ts'
import { type StoredAuction, unpackReceipt } from '../auction/receipt.ts'
import { NoFillReason } from '../auction/result-schema.ts'
import { listMerchantNames } from '../catalog/merchant-store.ts'
import { modelWord } from '../events/event.ts'
import { findChangedLink } from '../links/link-change-store.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import { idText, orNull, TextOrNull, Time } from '../platform/http/field-types.ts'
import { formatExact, micros } from '../platform/money/money.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { type AuctionPlace, type LinkAuctionRow, listAuctionsOfLink } from './link-auction-store.ts'

/** Auctions that are run again to see what each reason cost: about 20 ms of work. */
const EXPLAINED_MAX = 200

const DollarsOrNull = (description: string) => orNull(Type.String(), `${description}, US dollars`)

export const LinkAuction = Type.Object({
  auction_result_number: Type.String({ description: 'Names the receipt' }),
  at: Time,
  won: Type.Boolean(),
  merch_id: orNull(Type.Integer(), 'The winner'),
  merchant_name: TextOrNull,
  model: orNull(Type.String(), 'cpc, cpa, epp'),
  price: DollarsOrNull('Of a click; 0 where the winner pays on the order'),
  earnings_per_click: DollarsOrNull(
    'The publisher’s part of the price. Where the winner pays on the order: expected of a click',
  ),
  reader_price: DollarsOrNull('Price of the product at the winner'),
  competitors: Type.Integer({ description: 'Offers that passed all checks' }),
  clicks: Type.Integer({ description: 'Valid clicks on this result' }),
  reason: orNull(
    Type.Object({ word: Type.String(), name: Type.String(), sentence: Type.String() }),
    'Why nobody won',
  ),
})

export const LinkExplanation = Type.Object({
  auctions: Type.Integer({ description: `The newest ${EXPLAINED_MAX} that are stored, at most` }),
  unfilled: Type.Integer({ description: 'Of these, those without a winner' }),
  unfilled_clicks: Type.Integer({ description: 'Unpaid clicks on these' }),
  reasons: Type.Array(NoFillReason, { description: 'The most costly first' }),
})

const LINK = {
  tag: 'publishers',
  permission: 'figures.read',
  params: Type.Object({
    ...PublisherParams.properties,
    link_id: idText('`smart_link_id` or `auction_id`'),
  }),
} as const
const PATH = '/api/v1/publishers/:pub_id/smart_links/:link_id'

const auctionList = list({
  ...LINK,
  id: 'listLinkAuctions',
  path: `${PATH}/auctions/`,
  summary: 'List the auctions of a smart link',
  description:
    'The newest first. Auctions without a click are stored for RECEIPT_HOURS (48). Amounts that ' +
    'depend on a hidden bid are estimates, as in receipts.',
  entry: LinkAuction,
  run: async ({ db, params: { pub_id: pubId, link_id: id }, query: { limit, cursor } }) => {
    const { auction_id: auctionId } = await findChangedLink(db, { pubId, id })
    const after = readPlace(cursor)
    const rows = await listAuctionsOfLink(db, { auctionId, after, limitRows: limit + 1 })
    const shown = rows.slice(0, limit).map((row) => ({ row, auction: unpackReceipt(row.packed) }))
    const winners = shown.flatMap(({ auction }) => winnerOf(auction) ?? [])
    const names = await listMerchantNames(db, new Set(winners))
    const last = shown.at(-1)?.row
    return {
      rows: shown.map(({ row, auction }) => toEntry(row, auction, names)),
      nextCursor:
        rows.length > limit && last !== undefined
          ? Buffer.from(`${last.at_text} ${last.result_number}`).toString('base64url')
          : null,
    }
  },
})

const linkExplanation = action({
  ...LINK,
  id: 'explainLink',
  method: 'GET',
  path: `${PATH}/explanation/`,
  summary: 'Explain why auctions of a smart link had no winner',
  description:
    `From its newest ${EXPLAINED_MAX} auctions. The amount of a reason is what the publisher would ` +
    'have earned without that one check: an estimate, as in `no_fill/`.',
  entry: LinkExplanation,
  run: async ({ db, params: { pub_id: pubId, link_id: id } }) => {
    const { auction_id: auctionId } = await findChangedLink(db, { pubId, id })
    const rows = await listAuctionsOfLink(db, { auctionId, after: null, limitRows: EXPLAINED_MAX })
    const run = new NoFillRun()
    for (const { packed, clicks } of rows) {
      // Figures for a publisher must not reveal the bids that its receipts hide.
      const { auction } = discloseToPublisher(unpackReceipt(packed))
      run.add({ auction, auctionId, clicks })
    }
    return [{ ...run.totals(), reasons: run.report() }]
  },
})

export const linkAuctionOperations: readonly Operation[] = [auctionList, linkExplanation]

const PLACE = /^(\d{4}-\d\d-\d\d [\d:.]+\+\d\d) ([0-9a-f]{32})$/

function readPlace(cursor: string | null): AuctionPlace | null {
  if (cursor === null) return null
  const [, at, resultNumber] = PLACE.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (at === undefined || resultNumber === undefined) {
    throw badRequest([{ field: 'cursor', rule: 'must be the next_cursor of a page' }])
  }
  return { at, resultNumber }
}

function winnerOf({ set, outcome: { winner } }: StoredAuction): number | null {
  return winner < 0 ? null : (set.merchId[winner] as number)
}

function toEntry(
  row: LinkAuctionRow,
  auction: StoredAuction,
  names: ReadonlyMap<number, string>,
): Static<typeof LinkAuction> {
  const { set, request, outcome } = auction
  const { winner } = outcome
  const merchId = winnerOf(auction)
  const entry = {
    auction_result_number: row.result_number,
    at: formatTimestamp(new Date(request.nowMs)),
    won: merchId !== null,
    merch_id: merchId,
    merchant_name: merchId === null ? null : (names.get(merchId) ?? null),
    competitors: outcome.eligible,
    clicks: row.clicks,
  }
  if (merchId === null) {
    const { word, name, publisher: sentence } = lossReason(outcome.reason)
    const none = { model: null, price: null, earnings_per_click: null, reader_price: null }
    return { ...entry, ...none, competitors: 0, reason: { word, name, sentence } }
  }
  // A commission's expected value may be hidden; then it is the middle of the disclosed range.
  const shown = outcome.priceMicros > 0 ? set : discloseToPublisher(auction).auction.set
  const price = set.price[winner] as number
  return {
    ...entry,
    model: modelWord(set.model[winner] as number),
    price: formatExact(micros(outcome.priceMicros)),
    earnings_per_click: formatExact(Math.round(earningsPerClick(shown, request, outcome))),
    reader_price: price === 0 ? null : formatExact(price),
    reason: null,
  }
}
