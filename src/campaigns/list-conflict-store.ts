/**
 * Finds contradictions between the lists of a campaign and of a publisher: one names the other as
 * allowed, the other excludes it, or has a floor above the campaign's bid. Either may change any
 * day, so this is a warning and not an error; without it the campaign would wait for a publisher
 * that never sells to it.
 */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export interface ListConflict {
  readonly campaign_id: number
  readonly merch_id: number
  readonly pub_id: number
  /** Whose lists exclude the other; `floor`: the publisher's floor does. */
  readonly by: 'publisher' | 'campaign' | 'floor'
}

/** Of one campaign or one publisher; null: of all. */
export function listConflicts(
  db: Db,
  of: { readonly campaignId: number | null; readonly pubId: number | null },
): Promise<ListConflict[]> {
  return db.rows<ListConflict>(sql`
    select campaign_id, merch_id, pub_id, by from (
      select campaign_id, merch_id, unnest(allow_publishers) as pub_id, 'publisher' as by,
        null::bigint as bid_max
      from campaign
      union all
      -- What a click of a CPA or EPP campaign is worth, its orders will show.
      select campaign_id, merch_id, unnest(allow_publishers), 'floor',
        greatest(bid_micros, exclusive_bid_micros)
      from campaign where model = 'cpc'
      union all
      select campaign_id, merch_id, unnest(block_publishers), 'campaign', null from campaign
    ) as named join publisher using (pub_id)
    where (${of.campaignId}::int is null or campaign_id = ${of.campaignId})
      and (${of.pubId}::int is null or pub_id = ${of.pubId})
      and case by
        when 'floor' then bid_max < floor_micros
        when 'campaign' then merch_id = any(allow_merchants)
        else merch_id = any(block_merchants)
          or (cardinality(allow_merchants) > 0 and merch_id <> all(allow_merchants))
      end
    order by campaign_id, pub_id, by`)
}

/** The conflict as a sentence for the person who set one of the lists. */
export function conflictText({ campaign_id, merch_id, pub_id, by }: ListConflict): string {
  switch (by) {
    case 'publisher':
      return `campaign ${campaign_id} allows publisher ${pub_id}, which leaves merchant ${merch_id} out`
    case 'floor':
      return `campaign ${campaign_id} allows publisher ${pub_id}, whose floor is above its bid`
    case 'campaign':
      return `publisher ${pub_id} allows merchant ${merch_id}, whose campaign ${campaign_id} blocks it`
  }
}
