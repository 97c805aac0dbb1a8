/** Changes a publisher: the one way for routes and commands, with its entry in the audit log. */
import { requireMatch } from './etag.ts'
import type { Call } from './operation.ts'
import type { PublisherSettings } from './publisher.ts'
import { lockPublisher, type Publisher, updatePublisher } from './publisher-store.ts'
import { toPublisherRecord } from './schema.ts'

/** Throws a 404 for an unknown publisher, a 412 for an old etag, a 400 for refused settings. */
export async function changePublisher(
  { db, ifMatch, audit }: Pick<Call<unknown, unknown, unknown>, 'db' | 'ifMatch' | 'audit'>,
  { pubId, changes }: { readonly pubId: number; readonly changes: Partial<PublisherSettings> },
): Promise<{ readonly before: Publisher; readonly after: Publisher }> {
  const before = await lockPublisher(db, pubId)
  requireMatch(ifMatch, toPublisherRecord(before))
  const after = await updatePublisher(db, { pubId, changes })
  await audit({
    action: 'publisher.update',
    target: `publisher:${pubId}`,
    before: toPublisherRecord(before),
    after: toPublisherRecord(after),
  })
  return { before, after }
}
