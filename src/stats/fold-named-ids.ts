/**
 * Numbers that the log names are given to nobody else.
 *
 * A database restored from a backup is told again what happened since, by spools or the stream.
 * That names publishers, merchants, campaigns, offers, rates and articles which the backup lacks:
 * whoever is created next would get such a number, and with it the orders and debts of another.
 */
import { DOLLAR_RATE_ID } from '../attribution/currency.ts'
import type { OrderBody } from '../attribution/read-order.ts'
import { EVENT_TYPE, type StoredEvent } from '../events/event.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import type { NetworkBody } from './fold-networks.ts'

export async function passNamedIds(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  const highest = (idOf: (event: StoredEvent) => number | string | null) =>
    Math.max(0, ...events.map((event) => Number(idOf(event) ?? 0)))
  // Drawn one by one: to set a sequence could take back what an import or another lane's fold has
  // drawn meanwhile. Ten million take some four seconds.
  await tx.run(sql`
    select count(nextval(sequence)) from (values
      ('publisher_pub_id_seq'::regclass, ${highest(({ pubId }) => pubId)}::bigint),
      ('merchant_merch_id_seq', ${highest(({ merchId }) => merchId)}),
      ('campaign_campaign_id_seq', ${highest(({ campaignId }) => campaignId)}),
      ('offer_id_seq', ${highest(({ offerId }) => offerId)}),
      ('exchange_rate_rate_id_seq', ${highest(rateIdOf)}),
      ('article_article_id_seq', ${highest(articleIdOf)})
    ) as named (sequence, id),
    generate_series(coalesce(pg_sequence_last_value(sequence), 0) + 1, id)`)
}

/** An order that is told again is converted by the rate that it names. */
function rateIdOf({ type, body }: StoredEvent): string | null {
  if (type !== EVENT_TYPE.order) return null
  const { rate_id } = (JSON.parse(body ?? '') as OrderBody).report
  return rate_id === DOLLAR_RATE_ID ? null : rate_id
}

/** Other networks' rows name an article; those of ours name a link, whose id has no sequence. */
function articleIdOf({ type, body }: StoredEvent): number | null {
  if (type !== EVENT_TYPE.networkRow) return null
  const told = JSON.parse(body ?? '') as NetworkBody
  return told.kind === 'row' ? told.article_id : null
}
