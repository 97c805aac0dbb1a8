/**
 * Who may run a day's auctions again, and when. Each such run computes in slices that readers'
 * redirects wait for: a hundred at once, which one key may ask for, would make them wait for a
 * hundred slices.
 */
import { FairTurns } from '../platform/turns.ts'

const AT_ONCE = 2

/** Does the work of a publisher in its turn. */
export type DayTurns = (pubId: number, work: () => Promise<void>) => Promise<void>

export function dayTurns(): DayTurns {
  const turns = new FairTurns(AT_ONCE)
  return (pubId, work) => turns.run(pubId, work)
}
