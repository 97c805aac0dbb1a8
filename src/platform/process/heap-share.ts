/** How much of its heap a process may fill with data that it can load or compute again. */
import { getHeapStatistics } from 'node:v8'

export interface HeapShare {
  /** The share on a small machine; the rest of the program needs the larger part. */
  readonly part: number
  readonly bytesMax: number
}

export function heapShare(
  { part, bytesMax }: HeapShare,
  heapBytes = getHeapStatistics().heap_size_limit,
): number {
  return Math.min(bytesMax, Math.floor(heapBytes * part))
}
