/**
 * Downloads a feed into a temporary file before any of it is read.
 *
 * An interrupted download is a failure that changes nothing, not a truncated feed; and a slow
 * database never blocks the merchant's server.
 */
import { createWriteStream, type Stats } from 'node:fs'
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { MIMEType } from 'node:util'
import { tooLarge } from '../../platform/errors/api-errors.ts'
import { formatError } from '../../platform/errors/format-error.ts'
import { guardedAgent, guardedGet } from '../../platform/net/fetch-guard.ts'
import { parseWebUrl } from '../../platform/net/url.ts'
import { DAY_MS, HOUR_MS } from '../../platform/time/timestamp.ts'
import { FeedError } from './feed-error.ts'

/** Packed feeds of ten million rows have about 1 GB. */
const DOWNLOAD_BYTES_MAX = 8 * 2 ** 30
const DOWNLOAD_MS_MAX = HOUR_MS // A slow server must not block a worker for ever.
const FOLDER = 'souk-feed-'

export interface FetchedFeed {
  readonly path: string
  /** The charset that the server named: a CSV file has no other place for it (RFC 4180). */
  readonly servedAs: string | undefined
  /** Deletes the file. */
  remove(): Promise<void>
}

/** True for a URL to fetch; anything else is a path. */
export function isWebAddress(source: string): boolean {
  return /^https?:/i.test(source)
}

/** Throws FeedError for a URL of another scheme, which is neither fetched nor a path. */
export function requireFetchable(source: string): void {
  const scheme = /^([a-z][a-z\d+.-]+):\/\//i.exec(source)?.[1]?.toLowerCase()
  if (scheme === undefined || scheme === 'http' || scheme === 'https') return
  throw new FeedError(
    `file: ${scheme}:// URLs are not fetched; use an http:// or https:// URL, or the path of a file`,
  )
}

/** Fetches an http(s) URL; throws FeedError unless it answers with a whole document. */
export async function fetchFeed(
  address: string,
  { allowPrivate, bytesMax = DOWNLOAD_BYTES_MAX }: { allowPrivate: boolean; bytesMax?: number },
): Promise<FetchedFeed> {
  const url = parseWebUrl(address)
  if (url === null) throw new FeedError(`${address} is not an absolute http(s) URL`)
  const folder = await mkdtemp(inTemporary(FOLDER))
  const path = join(folder, 'feed')
  const remove = () => rm(folder, { recursive: true, force: true })
  const agent = guardedAgent({ allowPrivate })
  try {
    const signal = AbortSignal.timeout(DOWNLOAD_MS_MAX)
    // Packed content stays packed: a feed file is detected by its first bytes, not by its headers.
    // So the request accepts no encoding, because some servers would pack a packed file again.
    const coding = /\.(?:gz|zip)$/i.test(url.pathname) ? 'identity' : 'gzip'
    const headers = { accept: '*/*', 'accept-encoding': coding, 'user-agent': 'Souk feed import' }
    const { body, headers: answer } = await guardedGet(agent, url, { headers, signal })
    await pipeline(body, atMost(bytesMax), createWriteStream(path), { signal })
    return { path, remove, servedAs: charsetIn(String(answer['content-type'])) }
  } catch (error) {
    await remove()
    throw new FeedError(`the feed could not be fetched: ${formatError(error)}`, { cause: error })
  } finally {
    await agent.destroy()
  }
}

/** Writes an uploaded feed into a new file; a promise that rejects leaves none. */
export async function receiveFeed(
  stream: Readable,
  { bytesMax, onBytes }: { bytesMax: number; onBytes: (bytes: number) => void },
): Promise<Omit<FetchedFeed, 'servedAs'>> {
  const folder = await mkdtemp(inTemporary(FOLDER))
  const path = join(folder, 'feed')
  const remove = () => rm(folder, { recursive: true, force: true })
  let bytes = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      onBytes(bytes)
      done(bytes > bytesMax ? tooLarge(bytesMax) : null, chunk)
    },
  })
  try {
    await pipeline(stream, counted, createWriteStream(path))
    return { path, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The charset of a `Content-Type`. */
export function charsetIn(contentType: string): string | undefined {
  try {
    return new MIMEType(contentType).params.get('charset') ?? undefined
  } catch {
    return undefined
  }
}

/**
 * Deletes the leftovers of killed processes: no import takes a day. Only our own files: every user
 * can write to the temporary folder, and could trick root into deleting files elsewhere.
 */
export async function removeLeftFeeds(): Promise<void> {
  const oldMs = Date.now() - DAY_MS // Files have the machine's own times.
  const names = await readdir(tmpdir())
  for (const path of names.filter((name) => name.startsWith(FOLDER)).map(inTemporary)) {
    const found = await lstat(path).catch(() => null) // It may have been deleted meanwhile.
    const isLeft = found !== null && found.mtimeMs < oldMs && isOwn(found)
    if (isLeft) await rm(path, { recursive: true, force: true }).catch(() => undefined) // next time
  }
}

/** On Windows files have no owner to compare, and each user has a separate temporary folder. */
function isOwn({ uid }: Stats): boolean {
  return uid === (process.geteuid?.() ?? uid)
}

const inTemporary = (name: string): string => join(tmpdir(), name)

function atMost(bytesMax: number): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > bytesMax) done(new Error(`it has more than ${bytesMax} bytes`))
      else done(null, chunk)
    },
  })
}
