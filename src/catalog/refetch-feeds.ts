/** Fetches feeds again from where they came, before their offers are too old to bid. */
import type { Database } from '../platform/postgres.ts'
import type { ToDollars } from './check-offer.ts'
import { openFeedFile } from './feed-file.ts'
import { type FeedSource, listDueFeeds, noteFeedTry } from './feed-source-store.ts'
import { fetchFeed } from './fetch-feed.ts'
import { importFeed } from './import-feed.ts'

export interface RefetchOptions {
  readonly at: Date
  readonly allowPrivate: boolean
  readonly toDollars: ToDollars
  /** A random 32-bit number, see sku-index.ts. */
  readonly seed: number
}

export interface Refetched {
  readonly merchId: number
  readonly error: string | null // what readers see is then what they saw before
}

/** One after the other. One that fails holds no other up, and is tried again in the next round. */
export async function refetchFeeds(db: Database, options: RefetchOptions): Promise<Refetched[]> {
  const tried: Refetched[] = []
  for (const source of await listDueFeeds(db, options.at)) {
    const merchId = source.merch_id
    const error = await refetch(db, source, options).then(
      () => null,
      (cause: Error) => cause.message,
    )
    await noteFeedTry(db, { merchId, at: options.at, error })
    tried.push({ merchId, error })
  }
  return tried
}

async function refetch(
  db: Database,
  { merch_id: merchId, url, format }: FeedSource,
  { at, allowPrivate, toDollars, seed }: RefetchOptions,
): Promise<void> {
  const fetched = await fetchFeed(url, { allowPrivate })
  try {
    const file = await openFeedFile(fetched.path)
    await importFeed(db, { merchId, file, format, at, toDollars, seed })
  } finally {
    await fetched.remove()
  }
}
