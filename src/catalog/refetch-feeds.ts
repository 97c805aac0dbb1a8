/** Fetches feeds again from where they came, before their offers are too old to bid. */
import type { Database } from '../platform/postgres.ts'
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
import { fetchFeed, removeLeftFeeds } from './fetch-feed.ts'
import { hasGoodRow, importFeed, type RejectedRow } from './import-feed.ts'

/**
 * Millions of rows take minutes. Faults in the text of a feed take far longer than rows, and while
 * days of them are read no other feed is fetched.
 */
const READ_MS_MAX = 3_600_000

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

/**
 * One after the other, and never two at once: a round that takes hours, as servers that trickle
 * make it, would else be joined by the next ones, which fetch the same and take all the places of
 * schedules. One that fails holds no other up, and is tried again in the next round.
 */
export async function refetchFeeds(db: Database, options: RefetchOptions): Promise<Refetched[]> {
  const tried: Refetched[] = []
  await whileNobodyFetches(db, async () => {
    await removeLeftFeeds()
    for (;;) {
      // Asked each time: what was imported since the round began is not due any more.
      const source = await takeDueFeed(db, options.at)
      if (source === null) return
      const error = await refetch(db, source, options).then(
        () => null,
        (cause: Error) => cause.message,
      )
      await noteFeedError(db, { ...source, error })
      tried.push({ merchId: source.merch_id, error })
    }
  })
  return tried
}

async function refetch(
  db: Database,
  source: FeedSource,
  { at, allowPrivate, toDollars, seed }: RefetchOptions,
): Promise<void> {
  const { merch_id: merchId, url, format } = source
  const fetched = await fetchFeed(url, { allowPrivate })
  try {
    if (!(await isStillDue(db, { ...source, at }))) return
    const file = await openFeedFile(fetched.path)
    const readMsMax = READ_MS_MAX
    let first: RejectedRow | undefined
    const onRejects = (rows: readonly RejectedRow[]) => {
      first ??= rows[0]
    }
    const options = { merchId, file, format, at, toDollars, seed, readMsMax, onRejects }
    const result = await importFeed(db, options)
    if (!hasGoodRow(result)) {
      const why = first === undefined ? '' : `: in line ${first.line} ${first.detail}`
      throw new FeedError(`none of its ${result.rows} rows is good${why}`)
    }
  } finally {
    await fetched.remove()
  }
}
