/** Commands on smart links. */
import { writeAudit } from '../accounts/audit-store.ts'
import { SHELL } from '../accounts/caller.ts'
import { NETWORK } from '../accounts/permission.ts'
import { disableLink, listLinks } from '../links/store.ts'
import { listUnattributed, toUnattributed } from '../links/unattributed-store.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import type { CommandContext } from './command.ts'

export async function disableLinkCommand(context: CommandContext, options: { auctionId: string }) {
  const db = await context.database()
  return db.transaction(async (tx) => {
    const link = await disableLink(tx, options.auctionId)
    const audit = { caller: SHELL, organization: NETWORK, requestId: null }
    const target = `smart_link:${link.auction_id}`
    await writeAudit(tx, audit, { action: 'smart_link.disable', target, after: link })
    return link
  })
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
