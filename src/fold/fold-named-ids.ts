/**
 * Reserves the ids that the log names.
 *
 * After a restore from a backup, spools or the stream deliver the later events again. They name
 * publishers, merchants, campaigns, offers, rates and articles that the backup lacks. A new record
 * must not get such an id, or it would also get the orders and debts of another.
 */

import { EVENT_TYPE, type StoredEvent } from '../events/event.ts'
import { DOLLAR_RATE_ID } from '../orders/currency.ts'
import type { OrderBody } from '../orders/read-order.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { NetworkBody } from './fold-networks.ts'

export async function passNamedIds(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  const highest = (idOf: (event: StoredEvent) => number | string | null) =>
    Math.max(0, ...events.map((event) => Number(idOf(event) ?? 0)))
  // Draws numbers one by one: setting a sequence could undo draws of an import or another lane. Ten
  // million take about 4 s.
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

/** A redelivered order is converted by the rate it names. */
function rateIdOf({ type, body }: StoredEvent): string | null {
  if (type !== EVENT_TYPE.order) return null
  const { rate_id } = (JSON.parse(body ?? '') as OrderBody).report
  return rate_id === DOLLAR_RATE_ID ? null : rate_id
}

/** Other networks' rows name an article. Our own rows name a link, whose id has no sequence. */
function articleIdOf({ type, body }: StoredEvent): number | null {
  if (type !== EVENT_TYPE.networkRow) return null
  const report = JSON.parse(body ?? '') as NetworkBody
  return report.kind === 'row' ? report.article_id : null
}
