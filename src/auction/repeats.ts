/**
 * Recent answers: a reload within five minutes gets the same one and is billed once. Best effort:
 * the least recently used answers are dropped when there is no room.
 */
import { LRUCache } from 'lru-cache'
import { heapShare } from '../platform/process/heap-share.ts'

const KEPT_MS = 5 * 60_000
/** About 2 kB each; a link with the longest URL has seven times as much. */
const ANSWERS_MAX = 50_000
/** In characters: with one `–` in a product's name, each takes two bytes. */
const CHARACTERS = { part: 1 / 16, bytesMax: 100 * 1024 * 1024 }

/** By session, link and consent. */
export function makeRepeats(now: () => number): LRUCache<string, string> {
  return new LRUCache({
    max: ANSWERS_MAX,
    maxSize: heapShare(CHARACTERS),
    sizeCalculation: (answer, key) => answer.length + key.length,
    ttl: KEPT_MS,
    ttlResolution: 0, // Reads the service's own clock each time, as everywhere.
    perf: { now },
  })
}
