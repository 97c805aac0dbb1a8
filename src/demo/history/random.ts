/** Choices of the generated history: the same for the same seed. */

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

/** One of several values, each as often as its weight says. */
export function choose<T>(random: Random, weighted: readonly (readonly [T, number])[]): T {
  const total = weighted.reduce((sum, [, weight]) => sum + weight, 0)
  let rest = random() * total
  for (const [value, weight] of weighted) {
    rest -= weight
    if (rest < 0) return value
  }
  const last = weighted.at(-1)
  if (last === undefined) throw new Error('there is nothing to choose from')
  return last[0]
}

/** A delay whose mean is `meanMs`, and whose most likely value is 0. */
export function exponential(random: Random, meanMs: number): number {
  return -meanMs * Math.log(1 - random())
}

/** A whole number with this mean: its floor, or one more. */
export function rounded(random: Random, mean: number): number {
  return Math.floor(mean + random())
}

/** Hexadecimal digits, such as for a UUID. */
export function hexDigits(random: Random, count: number): string {
  let text = ''
  while (text.length < count) {
    text += Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  }
  return text.slice(0, count)
}

/** A version 4 UUID from the seed. */
export function uuid(random: Random): string {
  const digits = hexDigits(random, 32)
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`]
  return [...parts, `a${digits.slice(17, 20)}`, digits.slice(20)].join('-')
}
