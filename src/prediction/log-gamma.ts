/** The logarithm of the gamma function for positive numbers, and its differences. */

/** From here on Stirling's series with the terms below is exact to 2e-14. */
const STIRLING_MIN = 10
const HALF_LOG_2_PI = 0.5 * Math.log(2 * Math.PI)

/** ln Γ(x), x > 0: raised by Γ(x+1) = xΓ(x) until Stirling's series converges. */
export function logGamma(x: number): number {
  let shift = 1
  let at = x
  while (at < STIRLING_MIN) {
    shift *= at // at most 10!; one logarithm for all: it dominates the cost
    at += 1
  }
  const inverse = 1 / at
  const square = inverse * inverse
  const series =
    inverse *
    (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
  return (at - 0.5) * Math.log(at) - at + HALF_LOG_2_PI + series - Math.log(shift)
}

/** ln Γ(x + by) − ln Γ(x), by ≥ 0. */
export function logGammaRise(x: number, by: number): number {
  return by === 0 ? 0 : logGamma(x + by) - logGamma(x)
}
