export interface Weighted {
  readonly value: number
  readonly weight: number
}

/**
 * The value with half of the weight on either side of it, or between two such; null of none. One
 * part moves it to a neighbour's at most, however far off its own lies.
 */
export function weightedMedian(parts: readonly Weighted[]): number | null {
  const sorted = parts.toSorted((one, other) => one.value - other.value)
  let left = sorted.reduce((sum, { weight }) => sum + weight, 0) / 2
  for (const [index, { value, weight }] of sorted.entries()) {
    left -= weight
    if (left < 0) return value
    if (left === 0) return (value + (sorted[index + 1]?.value ?? value)) / 2
  }
  return null
}
