/**
 * What a lower price is worth to the reader: `exp(β · clip((P0 − P) / P0, −τ, 0.30))`.
 *
 * With β = 1 a 10 % lower price is worth 10.5 % of the revenue per click. Souk has its own
 * exponential because `Math.exp` may differ in the last bit between engines, and a replay must not:
 * a table and seven multiplications, exact to about 10^-15.
 */

/** A gain above this is more likely a wrong price than a bargain. */
export const GAIN_MAX = 0.3

const STEPS = 32
/** Covers β·gain from −0.6 (β 3, tolerance 20 %) to 0.9 (β 3, gain 30 %). */
const SPAN = 1
const NODES = Float64Array.from({ length: 2 * SPAN * STEPS + 1 }, (_, node) =>
  expSeries(node / STEPS - SPAN),
)

/** 1/n!, because a multiplication takes a quarter of a division's time. */
const [C2, C3, C4, C5, C6] = [1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720]

/** `e^x` for |x| ≤ 1: exactly 1 at 0, bit-equal on every engine. */
export function benefit(x: number): number {
  const node = Math.floor(x * STEPS + 0.5)
  const r = x - node / STEPS // At most 1/64 from the node: seven terms give 10^-17.
  const near = 1 + r * (1 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * C6)))))
  return (NODES[node + SPAN * STEPS] as number) * near
}

/** `e^x` by its plain series, for tables built at start; |x| ≤ 8. */
export function expSeries(x: number): number {
  if (x < 0) return 1 / expSeries(-x) // Terms of one sign lose no digits.
  let term = 1
  let sum = 1
  for (let n = 1; Math.abs(term) > 1e-18 * sum; n++) {
    term *= x / n
    sum += term
  }
  return sum
}
