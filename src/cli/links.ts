/** Commands on smart links. */
import { perform } from '../accounts/operation.ts'
import { disableLinkByOperator } from '../links/disable-link.ts'
import { listLinks } from '../links/store.ts'
import { listUnattributed, toUnattributed } from '../links/unattributed-store.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { asShell } from './as-shell.ts'
import type { CommandContext } from './command.ts'

export async function disableLinkCommand(context: CommandContext, options: { auctionId: string }) {
  const db = await context.database()
  const params = { auction_id: options.auctionId }
  const [link] = await perform(disableLinkByOperator, { ...asShell(context, db), params })
  return link
}

export async function listLinksCommand(context: CommandContext) {
  const links = await listLinks(await context.database())
  return links.map((link) => ({
    auction_id: link.auction_id,
    smart_link_id: link.smart_link_id,
    pub_id: link.pub_id,
    state: link.state,
    url: link.url,
    article_url: link.article_url,
    exclusive_match_requested: link.is_exclusive,
    source: link.source,
    keyless: link.is_keyless,
    datetime_created: formatTimestamp(link.datetime_created),
  }))
}

export async function listUnattributedCommand(context: CommandContext) {
  const rows = await listUnattributed(await context.database(), context.now())
  return rows.map(toUnattributed)
}
