/**
 * The two changes of `souk feed import`: it begins an import, and its file becomes, or replaces,
 * the source of the feed. Only the command calls them, because it imports while they are apart.
 */
import Type, { type Static } from 'typebox'
import { action } from '../../accounts/operation.ts'
import { orNull, TextOrNull } from '../../platform/http/field-types.ts'
import { withoutPassword } from '../../platform/net/fetch-guard.ts'
import { MerchantParams } from '../own-merchant.ts'
import { FEED_FORMATS } from './feed-format.ts'
import type { FeedOptions } from './feed-options.ts'
import { toSourceRecord } from './feed-schema.ts'
import { dropFeedSource, findFeedSource, saveFeedSource } from './feed-source-store.ts'
import { beginRun } from './record-import.ts'

const SPEC = {
  tag: 'merchants',
  permission: 'feeds.write',
  params: MerchantParams,
} as const

const url = orNull(Type.String(), 'Null: a file')

/** Throws FeedError while another import of this merchant runs. */
export const beginCommandImport = action({
  ...SPEC,
  id: 'beginCommandImport',
  method: 'POST',
  path: '/api/v1/merchants/:merch_id/feed/command_imports/',
  summary: 'Begin an import of the command line',
  body: Type.Object({ url }),
  entry: Type.Object({ import_id: Type.String() }),
  run: async ({ db, params: { merch_id }, body, audit }) => {
    const source = 'command'
    const shown = body.url === null ? null : withoutPassword(new URL(body.url))
    const run = { merch_id, source, is_dry_run: false, state: 'importing', url: shown } as const
    const importId = await beginRun(db, run)
    const after = { source, url: shown }
    await audit({ action: 'feed.import', target: `feed_import:${importId}`, after })
    return [{ import_id: importId }]
  },
})

const ImportedFrom = Type.Object({
  url,
  format: Type.Enum([...FEED_FORMATS]),
  map: orNull(Type.Unknown(), 'As `souk feed import --map` reads it'),
  currency: TextOrNull,
  element: TextOrNull,
})

/** A feed without a URL cannot be fetched again: the earlier source ends. */
export const saveImportedSource = action({
  ...SPEC,
  id: 'saveImportedSource',
  method: 'PUT',
  path: '/api/v1/merchants/:merch_id/feed/imported_source/',
  summary: 'Fetch the feed from where it was imported',
  body: ImportedFrom,
  entry: Type.Object({}),
  run: async ({ db, params: { merch_id: merchId }, body, now, audit }) => {
    const read = async () => {
      const source = await findFeedSource(db, merchId)
      return source === null ? null : toSourceRecord(source, null)
    }
    const before = await read()
    if (body.url === null) await dropFeedSource(db, merchId)
    else await saveFeedSource(db, { ...sourceOf(body, body.url), merch_id: merchId, at: now })
    const after = await read()
    if (before === null && after === null) return []
    const action = after === null ? 'feed.delete' : 'feed.update'
    await audit({ action, target: `merchant:${merchId}`, before, after })
    return []
  },
})

function sourceOf(body: Static<typeof ImportedFrom>, from: string) {
  const { format, map, currency, element } = body
  return { url: from, format, map: map as FeedOptions['map'], currency, element }
}
