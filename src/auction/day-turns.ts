/**
 * Who may run a day's auctions again, and when. Each such run computes in slices that readers'
 * redirects wait for: a hundred at once, which one key may ask for, would make them wait for a
 * hundred slices.
 */
import { Turns } from '../platform/turns.ts'

const AT_ONCE = 2

/** Does the work of a publisher in its turn. */
export type DayTurns = (pubId: number, work: () => Promise<void>) => Promise<void>

/** One of these and one of each publisher's: nobody's many keep another's few waiting. */
export function dayTurns(): DayTurns {
  const turns = new Turns(AT_ONCE)
  const byPublisher = new Map<number, Turns>()
  return (pubId, work) => {
    const own = byPublisher.get(pubId) ?? new Turns(1)
    byPublisher.set(pubId, own)
    return own.run(() => turns.run(work))
  }
}
