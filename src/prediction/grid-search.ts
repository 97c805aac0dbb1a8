/** Values from `least` to `most` in `steps` steps of equal factors. */
export interface Grid {
  readonly least: number
  readonly most: number
  readonly steps: number
}

/** The first pass tries every eighth value, the second the neighbours of the best. */
const STRIDE = 8

/** The grid value with the highest likelihood; `likelihood` returns its logarithm. */
export function gridSearch(
  { least, most, steps }: Grid,
  likelihood: (value: number) => number,
): number {
  const valueAt = (step: number): number => least * (most / least) ** (step / steps)
  let best = Number.NEGATIVE_INFINITY
  let bestStep = steps
  const seek = (from: number, to: number, stride: number): void => {
    for (let step = from; step <= to; step += stride) {
      const found = likelihood(valueAt(step))
      if (found > best) {
        best = found
        bestStep = step
      }
    }
  }
  seek(0, steps, STRIDE)
  const around = bestStep
  seek(Math.max(0, around - STRIDE + 1), Math.min(steps, around + STRIDE - 1), 1)
  return valueAt(bestStep)
}
