/** How much of its heap a process fills with what it could load or make again. */
import { getHeapStatistics } from 'node:v8'

export interface HeapShare {
  /** On a small machine: the larger part is everything else's. */
  readonly part: number
  readonly bytesMax: number
}

export function heapShare(
  { part, bytesMax }: HeapShare,
  heapBytes = getHeapStatistics().heap_size_limit,
): number {
  return Math.min(bytesMax, Math.floor(heapBytes * part))
}
