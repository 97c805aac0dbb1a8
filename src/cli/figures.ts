/** `souk stats`: a publisher's daily figures, the rows of 4.4. */
import { badRequest } from '../platform/errors.ts'
import { listStats } from '../stats/row-store.ts'
import { LIMIT_MAX } from '../stats/schema.ts'
import type { CommandContext } from './command.ts'
import { requirePublisher } from './reports.ts'

/** Both days are included; a single day may be asked for as itself. */
export async function statsCommand(
  context: CommandContext,
  { publisher: slug, from, to }: { publisher: string; from: string; to: string },
) {
  if (to < from) throw badRequest([{ field: 'to', rule: 'must not be before from' }])
  const db = await context.database()
  const { pub_id: pubId } = await requirePublisher(context, slug)
  return listStats(db, {
    pubId,
    dayFrom: from,
    dayTo: to,
    orderBy: 'clicks',
    isAscending: false,
    limitRows: LIMIT_MAX,
    isOutOfNetwork: false,
    asOf: null,
  })
}
