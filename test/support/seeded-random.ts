/** Random numbers that repeat with a printed seed, for simulations and benchmarks. */

export type Random = () => number

/** Numbers in [0, 1) from the seed (mulberry32): good enough for choices, not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A normal deviate of mean 0 and variance 1 (Box and Muller). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** A Poisson count: by multiplication for small means, else its normal limit. */
export function poisson(random: Random, mean: number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)))
  let count = 0
  for (let product = random(); product > Math.exp(-mean); product *= random()) count += 1
  return count
}

/** A gamma deviate of any positive shape, mean `shape` (Marsaglia and Tsang 2000). */
export function gamma(random: Random, shape: number): number {
  if (shape < 1) return gamma(random, shape + 1) * random() ** (1 / shape)
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = normal(random)
    const v = (1 + c * x) ** 3
    if (v > 0 && Math.log(1 - random()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v
  }
}

/** A beta deviate, as a share of two gammas. */
export function beta(random: Random, { a, b }: { a: number; b: number }): number {
  const left = gamma(random, a)
  return left / (left + gamma(random, b))
}
