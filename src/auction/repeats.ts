/**
 * The answers of the last minutes: a reload within five of them gets the same one, and is billed
 * once (decisions 4.6). Best effort: what there is no room for is forgotten, the longest unused
 * first.
 */
import { LRUCache } from 'lru-cache'
import { heapShare } from '../platform/heap-share.ts'

const KEPT_MS = 5 * 60_000
/** Of about 2 kB each; that of a link with the longest address has seven times as much. */
const ANSWERS_MAX = 50_000
/** Characters: one `–` in a product's name, and each of them takes two bytes. */
const CHARACTERS = { part: 1 / 16, bytesMax: 100 * 1024 * 1024 }

/** By session, link and consent. */
export function makeRepeats(now: () => number): LRUCache<string, string> {
  return new LRUCache({
    max: ANSWERS_MAX,
    maxSize: heapShare(CHARACTERS),
    sizeCalculation: (answer, key) => answer.length + key.length,
    ttl: KEPT_MS,
    ttlResolution: 0, // Each look at the service's own clock, as everywhere.
    perf: { now },
  })
}
