/** `souk stats`: a publisher's daily figures, the rows of 4.4. */
import { findPublisherBySlug } from '../accounts/publisher-store.ts'
import { badRequest } from '../platform/errors.ts'
import { listStats } from '../stats/row-store.ts'
import { LIMIT_MAX } from '../stats/schema.ts'
import type { CommandContext } from './command.ts'

/** Both days are included; a single day may be asked for as itself. */
export async function statsCommand(
  context: CommandContext,
  { publisher: slug, from, to }: { publisher: string; from: string; to: string },
) {
  if (to < from) throw badRequest([{ field: 'to', rule: 'must not be before from' }])
  const db = await context.database()
  const publisher = await findPublisherBySlug(db, slug)
  if (publisher === null) throw badRequest([{ field: 'publisher', rule: `no publisher ${slug}` }])
  return listStats(db, {
    pubId: publisher.pub_id,
    dayFrom: from,
    dayTo: to,
    orderBy: 'clicks',
    isAscending: false,
    limitRows: LIMIT_MAX,
    isOutOfNetwork: false,
    asOf: null,
  })
}
