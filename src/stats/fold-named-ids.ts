/**
 * Numbers that the log names are given to nobody else.
 *
 * A database restored from a backup is told again what happened since, by spools or the stream.
 * That names publishers, merchants, campaigns, offers and rates which the backup lacks: whoever is
 * created next would get such a number, and with it the orders and debts of another.
 */
import { DOLLAR_RATE_ID } from '../attribution/currency.ts'
import type { OrderBody } from '../attribution/read-order.ts'
import { EVENT_TYPE, type StoredEvent } from '../events/event.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

export async function passNamedIds(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  const highest = (idOf: (event: StoredEvent) => number | string | null) =>
    Math.max(0, ...events.map((event) => Number(idOf(event) ?? 0)))
  await tx.run(sql`
    select setval(sequence, id) from (values
      ('publisher_pub_id_seq'::regclass, ${highest(({ pubId }) => pubId)}::bigint,
        (select last_value from publisher_pub_id_seq)),
      ('merchant_merch_id_seq', ${highest(({ merchId }) => merchId)},
        (select last_value from merchant_merch_id_seq)),
      ('campaign_campaign_id_seq', ${highest(({ campaignId }) => campaignId)},
        (select last_value from campaign_campaign_id_seq)),
      ('offer_id_seq', ${highest(({ offerId }) => offerId)},
        (select last_value from offer_id_seq)),
      ('exchange_rate_rate_id_seq', ${highest(rateIdOf)},
        (select last_value from exchange_rate_rate_id_seq))
    ) as named (sequence, id, given)
    where id > given`)
}

/** An order that is told again is converted by the rate that it names. */
function rateIdOf({ type, body }: StoredEvent): string | null {
  if (type !== EVENT_TYPE.order) return null
  const { rate_id } = (JSON.parse(body ?? '') as OrderBody).report
  return rate_id === DOLLAR_RATE_ID ? null : rate_id
}
