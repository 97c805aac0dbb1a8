/** An import that somebody asked for by API: from the merchant's source, or from a file. */
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Database } from '../../platform/postgres/postgres.ts'
import { FeedError } from './feed-error.ts'
import { openFeedFile } from './feed-file.ts'
import type { FeedOptions } from './feed-options.ts'
import { noteFeedError } from './feed-source-store.ts'
import { fetchFeed } from './fetch-feed.ts'
import { hasGoodRow, type ImportResult, noGoodRow, notReadWhole } from './import-result.ts'
import { RecordedRun } from './record-import.ts'
import type { RefetchOptions } from './refetch-feeds.ts'

/** Plain data: it is sent to another thread. */
export interface FeedImportOrder {
  readonly importId: string
  readonly merchId: number
  readonly isDryRun: boolean
  /** Exactly one is given: where to fetch the feed, or the file in a separate folder. */
  readonly url: string | null
  readonly path: string | null
  /** The charset that the client of an upload named. */
  readonly servedAs: string | undefined
  readonly options: FeedOptions
}

/** Imports and stores how it ended. Throws only faults of our own. */
export async function runFeedImport(
  db: Database,
  order: FeedImportOrder,
  given: RefetchOptions,
): Promise<void> {
  const { importId, merchId, url, isDryRun } = order
  const run = new RecordedRun(db, importId)
  const note = async (error: string | null) => {
    if (url !== null && !isDryRun) await noteFeedError(db, { merch_id: merchId, url, error })
  }
  try {
    await note(errorOf(await run.during(() => fetchAndImport(run, order, given))))
  } catch (error) {
    if (!(error instanceof FeedError)) throw error
    await note(error.message)
  } finally {
    if (order.path !== null) await rm(dirname(order.path), { recursive: true, force: true })
  }
}

async function fetchAndImport(
  run: RecordedRun,
  { merchId, isDryRun, url, path, servedAs, options }: FeedImportOrder,
  { allowPrivate, at, toDollars, seed }: RefetchOptions,
): Promise<ImportResult> {
  const fetched = url === null ? null : await fetchFeed(url, { allowPrivate })
  try {
    const file = await openFeedFile(fetched?.path ?? path ?? '')
    return await run.import({
      ...{ merchId, file, isDryRun, at, toDollars, seed, ...options },
      servedAs: fetched === null ? servedAs : fetched.servedAs,
    })
  } finally {
    await fetched?.remove()
  }
}

function errorOf(result: ImportResult): string | null {
  if (!hasGoodRow(result)) return noGoodRow(result)
  return result.read_whole ? null : notReadWhole(result)
}
