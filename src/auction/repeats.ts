/**
 * The answers of the last minutes: a reload within five of them gets the same one, and is billed
 * once (decisions 4.6). Best effort: what there is no room for is forgotten, the longest unused
 * first.
 */
import { getHeapStatistics } from 'node:v8'
import { LRUCache } from 'lru-cache'

const KEPT_MS = 5 * 60_000
/** Of about 2 kB each; that of a link with the longest address has seven times as much. */
const ANSWERS_MAX = 50_000
const CHARACTERS_MAX = 100 * 1024 * 1024
/** Less on a small machine: one `–` in a product's name, and each character takes two bytes. */
const HEAP_PART = 16

/** By session, link and consent. */
export function makeRepeats(now: () => number): LRUCache<string, string> {
  return new LRUCache({
    max: ANSWERS_MAX,
    maxSize: repeatCharacters(getHeapStatistics().heap_size_limit),
    sizeCalculation: (answer, key) => answer.length + key.length,
    ttl: KEPT_MS,
    ttlResolution: 0, // Each look at the service's own clock, as everywhere.
    perf: { now },
  })
}

/** How many characters of answers a process of this heap keeps. */
export function repeatCharacters(heapBytes: number): number {
  return Math.min(CHARACTERS_MAX, Math.floor(heapBytes / HEAP_PART))
}
