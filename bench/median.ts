/** The middle of some measurements: one slow round of a busy machine does not move it. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
