/**
 * Links that this node holds, so that a known link needs no SQL.
 *
 * Bounded by bytes. Misses during a query are loaded together. When the catalogue or a link
 * changes, all entries become stale and are reloaded on their next use; while the database is down,
 * stale entries keep serving (I5).
 */
import { LRUCache } from 'lru-cache'
import { TimedOut, withTimeout } from '../platform/concurrency/timeout.ts'
import { heapShare } from '../platform/process/heap-share.ts'
import type { LinkData } from './link-store.ts'

const HELD = { part: 1 / 4, bytesMax: 512 * 1024 * 1024 }
/** Links per query: one round trip, a few milliseconds. */
const BATCH_LINKS = 500
const QUERIES_MAX = 2
/** A node's requests of several seconds. Behind more, nobody would wait for a hanging database. */
const WAITING_MAX = 20_000
/** After a failed load, further loads fail at once for this long. */
const FAILING_MS = 250

interface Held {
  readonly data: LinkData
  readonly generation: number
}

export type LoadLinks = (auctionIds: readonly string[]) => Promise<Map<string, LinkData>>

export class LinkCache {
  readonly #held: LRUCache<string, Held>
  readonly #load: LoadLinks
  readonly #waiting = new Map<string, PromiseWithResolvers<LinkData | null>>()
  #queries = 0
  #generation = 0
  #failingUntilMs = 0

  /** `onDropped` receives links that were removed or reloaded. */
  constructor(load: LoadLinks, onDropped: (data: LinkData) => void) {
    this.#load = load
    this.#held = new LRUCache({
      maxSize: heapShare(HELD),
      sizeCalculation: ({ data }) => bytesOf(data),
      dispose: ({ data }) => onDropped(data),
    })
  }

  /** The catalogue or a link changed: entries are reloaded on their next use. */
  invalidate(): void {
    this.#generation += 1
  }

  /** A fresh cached link, without waiting. */
  peek(auctionId: string): LinkData | undefined {
    const held = this.#held.get(auctionId)
    return held !== undefined && held.generation === this.#generation ? held.data : undefined
  }

  /**
   * A link, loaded if necessary; null if there is none. If the database does not answer within
   * `timeoutMs`, returns the stale entry, or rejects without one.
   */
  async get(auctionId: string, timeoutMs: number): Promise<LinkData | null> {
    const fresh = this.peek(auctionId)
    if (fresh !== undefined) return fresh
    const stale = this.#held.get(auctionId)?.data
    if (stale !== undefined && performance.now() < this.#failingUntilMs) return stale
    try {
      return await withTimeout(this.#request(auctionId), timeoutMs)
    } catch (error) {
      this.#failingUntilMs = performance.now() + FAILING_MS
      if (stale !== undefined) return stale
      throw error
    }
  }

  #request(auctionId: string): Promise<LinkData | null> {
    const waiting = this.#waiting.get(auctionId)
    if (waiting !== undefined) return waiting.promise
    if (this.#waiting.size >= WAITING_MAX) {
      return Promise.reject(new TimedOut('too many links wait to be loaded'))
    }
    const request = Promise.withResolvers<LinkData | null>()
    // A caller may time out before the load rejects; nobody handles the rejection then.
    request.promise.catch(() => undefined)
    this.#waiting.set(auctionId, request)
    if (this.#queries < QUERIES_MAX) queueMicrotask(() => void this.#flush())
    return request.promise
  }

  async #flush(): Promise<void> {
    if (this.#queries >= QUERIES_MAX || this.#waiting.size === 0) return
    this.#queries += 1
    const batch = [...this.#waiting].slice(0, BATCH_LINKS)
    for (const [id] of batch) this.#waiting.delete(id)
    const generation = this.#generation
    try {
      const found = await this.#load(batch.map(([id]) => id))
      for (const [id, request] of batch) {
        const data = found.get(id) ?? null
        if (data === null) this.#held.delete(id)
        else this.#held.set(id, { data, generation })
        request.resolve(data)
      }
    } catch (error) {
      for (const [, request] of batch) request.reject(error)
    } finally {
      this.#queries -= 1
      void this.#flush()
    }
  }
}

/** A rough size: strings dominate, a record adds about 200 bytes. */
function bytesOf({ link, offers }: LinkData): number {
  let bytes = 400 + 2 * ((link.url?.length ?? 0) + link.article_url.length)
  for (const { title, url, image_url } of offers) {
    bytes += 400 + 2 * (title.length + url.length + (image_url?.length ?? 0))
  }
  return bytes
}
