/**
 * How large a simulation or random test is: `npm test` runs the size that finds broken rules,
 * `npm run test:soak` a multiple of it with other seeds.
 */
const IS_SOAK = process.env.SOUK_SOAK !== undefined

/** How often a random test runs, or how many worlds a simulation has. */
export function sized(usual: number, { soak }: { soak: number }): number {
  return IS_SOAK ? soak : usual
}

/** `usual` in `npm test`, so that a failure repeats; another seed on every day of a soak run. */
export function seedOf(usual: number): number {
  return IS_SOAK ? usual + Math.floor(Date.now() / 86_400_000) : usual
}
