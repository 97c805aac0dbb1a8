/** The stored auctions of one link, newest first. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export interface LinkAuctionRow {
  readonly result_number: string
  readonly packed: Buffer
  /** Valid clicks on the result; reversed ones do not count. */
  readonly clicks: number
  /** Names the row in a cursor. A Date would lose the microseconds. */
  readonly at_text: string
}

/** The place of a row in the list; the next page starts after it. */
export interface AuctionPlace {
  readonly at: string
  readonly resultNumber: string
}

export function listAuctionsOfLink(
  db: Db,
  of: {
    readonly auctionId: string
    readonly after: AuctionPlace | null
    readonly limitRows: number
  },
): Promise<LinkAuctionRow[]> {
  const { auctionId, after, limitRows } = of
  const isAfter =
    after === null
      ? sql`true`
      : sql`(at, result_number) <
          (${after.at}::timestamptz, decode(${after.resultNumber}, 'hex'))`
  return db.rows(sql`
    select encode(result_number, 'hex') as result_number, packed, at::text as at_text, (
      select count(*)::int from click
      where click.result_number = receipt.result_number and reason = 0 and reversed_at is null
    ) as clicks
    from receipt where auction_id = ${auctionId}::bigint and ${isAfter}
    order by at desc, result_number desc limit ${limitRows}`)
}
