/** Fetches feeds again from their URLs, before their offers are too old to bid. */

import { ConcurrencyLimiter } from '../../platform/concurrency/concurrency-limiter.ts'
import { withoutPassword } from '../../platform/net/fetch-guard.ts'
import type { Database } from '../../platform/postgres/postgres.ts'
import { HOUR_MS } from '../../platform/time/timestamp.ts'
import type { ToDollars } from './check-offer.ts'
import { FeedError } from './feed-error.ts'
import { openFeedFile } from './feed-file.ts'
import {
  type FeedSource,
  isStillDue,
  noteFeedError,
  takeDueFeed,
  whileNobodyFetches,
} from './feed-source-store.ts'
import { type FetchedFeed, fetchFeed, removeLeftFeeds } from './fetch-feed.ts'
import { hasGoodRow, noGoodRow, notReadWhole } from './import-result.ts'
import { beginRun, RecordedRun } from './record-import.ts'

/**
 * Millions of rows take minutes. Faults in the text of a feed take far longer than rows, and while
 * days of them are read no other feed is.
 */
const READ_MS_MAX = HOUR_MS
/** A server may take an hour for a feed; each fills the disk by its own. */
const FETCHES_AT_ONCE = 4

export interface RefetchOptions {
  readonly at: Date
  readonly allowPrivate: boolean
  readonly toDollars: ToDollars
  /** A random 32-bit number, see sku-index.ts. */
  readonly seed: number
}

export interface Refetched {
  readonly merchId: number
  /** Why no offer changed, or why none was removed; null when all is well. */
  readonly error: string | null
}

/**
 * A few are fetched at once, so that a server that trickles holds no other up, and read one after
 * the other. Never two rounds at once: one that takes hours would else be joined by the next ones,
 * which fetch the same and take all the places of schedules. One that fails is tried again in the
 * next round.
 */
export async function refetchFeeds(db: Database, options: RefetchOptions): Promise<Refetched[]> {
  const tried: Refetched[] = []
  const reading = new ConcurrencyLimiter(1)
  const fetchOn = async () => {
    for (;;) {
      // Queried each time: feeds imported since the run started are no longer due.
      const source = await takeDueFeed(db, options.at)
      if (source === null) return
      const error = await refetch(db, source, { ...options, reading }).catch(
        (cause: Error) => cause.message,
      )
      await noteFeedError(db, { ...source, error })
      tried.push({ merchId: source.merch_id, error })
    }
  }
  await whileNobodyFetches(db, async () => {
    await removeLeftFeeds()
    const fetching = Array.from({ length: FETCHES_AT_ONCE }, fetchOn)
    await Promise.allSettled(fetching) // Holds the lock until all have ended.
    await Promise.all(fetching)
  })
  return tried
}

async function refetch(
  db: Database,
  source: FeedSource,
  { reading, ...options }: RefetchOptions & { readonly reading: ConcurrencyLimiter },
): Promise<string | null> {
  const { allowPrivate } = options
  const fetched = await fetchFeed(source.url, { allowPrivate })
  try {
    return await reading.run(() => importFetched(db, source, { ...options, fetched }))
  } finally {
    await fetched.remove()
  }
}

async function importFetched(
  db: Database,
  source: FeedSource,
  { fetched, at, toDollars, seed }: RefetchOptions & { readonly fetched: FetchedFeed },
): Promise<string | null> {
  if (!(await isStillDue(db, { ...source, at }))) return null
  const { merch_id: merchId, url, ...said } = source
  const file = await openFeedFile(fetched.path)
  const { servedAs } = fetched
  const readMsMax = READ_MS_MAX
  const options = { merchId, file, ...said, servedAs, at, toDollars, seed, readMsMax }
  const importId = await beginRun(db, {
    ...{ merch_id: merchId, source: 'schedule', is_dry_run: false, state: 'importing' },
    url: withoutPassword(new URL(url)),
  })
  const run = new RecordedRun(db, importId)
  const result = await run.during(() => run.import(options))
  if (!hasGoodRow(result)) throw new FeedError(noGoodRow(result))
  return result.read_whole ? null : notReadWhole(result)
}
