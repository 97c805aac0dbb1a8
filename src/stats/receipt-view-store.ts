/** What a receipt's numbers stand for, for its page: the link, its article, merchants, offers. */
import { awaitReceipt } from '../auction/await-receipt.ts'
import { explainAuction } from '../auction/explain.ts'
import { unpackReceipt } from '../auction/receipt.ts'
import { listMerchantNames } from '../catalog/merchant-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { listClickEntries } from './click-page-store.ts'
import type { Receipt } from './dashboard-schema.ts'

interface FoundResult {
  readonly pub_id: number
  readonly auction_id: string
  readonly packed: Buffer | null
}

/** The owner of a result, and its receipt if stored; null: unknown. */
export function findResult(db: Db, resultNumber: Buffer): Promise<FoundResult | null> {
  return db.row(sql`
    select pub_id, auction_id, packed from receipt where result_number = ${resultNumber}
    union all (
      select pub_id, auction_id, null from click where result_number = ${resultNumber} limit 1
    )
    limit 1`)
}

/** The receipt of a result as its publisher sees it: every candidate, by name. */
export async function readReceipt(
  db: Db,
  {
    result,
    resultNumber,
    merchIds,
  }: {
    result: FoundResult
    resultNumber: Buffer
    /** The merchants of the publisher's user, whose bids it may see. */
    merchIds: ReadonlySet<number>
  },
): Promise<Receipt> {
  const { pub_id: pubId, auction_id: auctionId } = result
  // The click may be here before its receipt.
  const packed = result.packed ?? (await awaitReceipt(db, resultNumber))
  const reader = { kind: 'publisher', merchIds } as const
  const explanation = packed === null ? null : explainAuction(unpackReceipt(packed), reader)
  const candidates = explanation?.candidates ?? []
  const merchants = await listMerchantNames(db, new Set(candidates.map((one) => one.merch_id)))
  const link = await db.row<Pick<Receipt, 'article_name' | 'article_url' | 'link_url'>>(sql`
    select article.name as article_name, article.url as article_url, l.url as link_url
    from smart_link l join article using (article_id) where auction_id = ${auctionId}`)
  return {
    auction_result_number: resultNumber.toString('hex'),
    pub_id: pubId,
    auction_id: auctionId,
    ...(link ?? { article_name: null, article_url: null, link_url: null }),
    explanation,
    merchants: [...merchants].map(([merch_id, name]) => ({ merch_id, name })),
    offers: await listOfferNames(
      db,
      candidates.flatMap(({ offer_id }) => offer_id ?? []),
    ),
    clicks: await listClickEntries(db, { pubId, resultNumber }),
  }
}

function listOfferNames(db: Db, ids: readonly string[]): Promise<Receipt['offers']> {
  return db.rows(sql`
    select offer_id, title, url from current_offer
    where offer_id = any(${ids}::bigint[]) order by offer_id`)
}
