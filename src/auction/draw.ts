/**
 * Every random choice of an auction, as a pure function of its result number.
 *
 * No generator has a state, so a draw does not depend on the order of candidates, and a stored
 * auction draws the same again. A client's input never seeds a draw, because the client could
 * search for a favourable one.
 *
 * Only additions, multiplications, divisions and square roots are used: IEEE 754 fixes those to the
 * last bit on every machine, while `Math.exp` and `Math.log` may change with the engine.
 */
import { expSeries } from './reader-benefit.ts'

/** The purpose of a draw is part of the hash, so draws of one campaign are independent. */
export const PURPOSE = { pace: 1, gate: 2, sample: 3, tie: 4 } as const

/** A result number folded to 64 bits, to be mixed with campaign and purpose. */
export type Seed = Int32Array

export function createSeed(): Seed {
  return new Int32Array(2)
}

/** Folds the 16 random bytes of a result number into `seed`. */
export function readSeed(resultNumber: Uint8Array, seed: Seed): void {
  seed[0] = mix(word(resultNumber, 0) ^ Math.imul(word(resultNumber, 8), 0x9e3779b1))
  seed[1] = mix(word(resultNumber, 4) ^ Math.imul(word(resultNumber, 12), 0x85ebca77))
}

/**
 * 32 uniform bits as an int32, which V8 keeps off the heap. For one result and purpose a bijection
 * of the campaign's id, so no two campaigns ever tie.
 */
export function drawBits(seed: Seed, campaignId: number, purpose: number): number {
  const first = mix((seed[0] as number) ^ Math.imul(campaignId, 0x9e3779b1))
  return mix((first + Math.imul(purpose, 0xc2b2ae3d)) ^ (seed[1] as number))
}

const TWO_32 = 2 ** 32

/** The middle of the bits' cell of (0, 1): never 0, never 1. */
export function uniform(bits: number): number {
  return ((bits >>> 0) + 0.5) / TWO_32
}

/** Whether a coin with this probability passes: always at 1, never at 0. */
export function isBelow(bits: number, probability: number): boolean {
  return bits >>> 0 < probability * TWO_32
}

/** A bijective mix of 32 bits in which each input bit changes about half of the output bits. */
function mix(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}

function word(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}

const ROOT_TWO_PI = 2.5066282746310002
/** Cells of the normal quantile's table; draws are cut off at its ends, ±3.67. */
const QUANTILE_CELLS = 4096
const QUANTILES = normalQuantiles(QUANTILE_CELLS)

/** The standard normal quantile of 32 uniform bits, interpolated between cell centres. */
export function normalQuantile(bits: number): number {
  return quantileAt(uniform(bits))
}

/** The same at a probability within (0, 1). */
export function quantileAt(probability: number): number {
  const place = probability * QUANTILE_CELLS - 0.5
  if (place <= 0) return QUANTILES[0] as number
  if (place >= QUANTILE_CELLS - 1) return QUANTILES[QUANTILE_CELLS - 1] as number
  const cell = Math.floor(place)
  const low = QUANTILES[cell] as number
  return low + (place - cell) * ((QUANTILES[cell + 1] as number) - low)
}

/** The inverse of `quantileAt`: the probability that a draw is below `z`. */
export function probabilityBelow(z: number): number {
  if (!(z > (QUANTILES[0] as number))) return 0
  let low = 0
  let high = QUANTILE_CELLS - 1
  if (z > (QUANTILES[high] as number)) return 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((QUANTILES[middle] as number) < z) low = middle
    else high = middle
  }
  const [under, over] = [QUANTILES[low] as number, QUANTILES[high] as number]
  return (low + (z - under) / (over - under) + 0.5) / QUANTILE_CELLS
}

/** Quantiles at the centres of equal cells, by Newton's method on the distribution's series. */
function normalQuantiles(cells: number): Float64Array {
  const quantiles = new Float64Array(cells)
  let z = 0
  for (let cell = cells / 2; cell < cells; cell++) {
    const target = (cell + 0.5) / cells
    for (let step = 0; step < 4; step++) z -= (normalCdf(z) - target) / normalDensity(z)
    quantiles[cell] = z
    quantiles[cells - 1 - cell] = -z
  }
  return quantiles
}

function normalDensity(z: number): number {
  return 1 / (expSeries((z * z) / 2) * ROOT_TWO_PI)
}

/** Φ(z) = ½ + φ(z)(z + z³/3 + z⁵/15 + …), whose terms all have one sign. */
function normalCdf(z: number): number {
  let term = z
  let sum = z
  for (let odd = 3; Math.abs(term) > 1e-18; odd += 2) {
    term *= (z * z) / odd
    sum += term
  }
  return 0.5 + normalDensity(z) * sum
}
