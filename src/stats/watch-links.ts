/** Checks every hour whether links that earned lately still can, and how much is lost. */
import { listPublishers } from '../accounts/publisher-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { healthOf, isLosing } from './link-health.ts'
import { listWatchedLinks, saveHealth, type WatchedLink } from './link-health-store.ts'
import { type LinkMarket, readLinkMarket } from './link-market-store.ts'

const BATCH_LINKS = 1_000
/** Links that nobody clicked for this long lose nothing more. */
const WATCHED_DAYS = 60

export async function watchLinks(db: Db, now: Date): Promise<number> {
  let watched = 0
  for (const publisher of await listPublishers(db, { uid: null })) {
    let after = '0'
    for (;;) {
      const since = new Date(now.getTime() - WATCHED_DAYS * DAY_MS)
      const { pub_id: pubId } = publisher
      const wanted = { pubId, after, since, limitRows: BATCH_LINKS }
      const links = await listWatchedLinks(db, wanted)
      const marketOf = await readLinkMarket(db, publisher, { links, now })
      const states = links.map((link) => stateOf(link, marketOf(link), now))
      await saveHealth(db, { pubId, now, states })
      watched += links.length
      const last = links.at(-1)
      if (last === undefined || links.length < BATCH_LINKS) break
      after = last.auction_id
    }
  }
  return watched
}

function stateOf(link: WatchedLink, market: LinkMarket, now: Date) {
  const health = healthOf(
    {
      isDisabled: link.state === 'disabled',
      isDead: link.is_dead,
      createdAt: link.datetime_created,
      hasClicks: link.has_clicks,
      ...market,
    },
    now,
  )
  const { auction_id, article_id } = link
  return { auction_id, article_id, health, is_losing: isLosing(health) }
}
