/** Whether a link earns, and if not, why. Pure. */
import { DAY_MS } from '../platform/time/timestamp.ts'

export const HEALTHS = ['earning', 'no_bid', 'out_of_stock', 'dead', 'disabled', 'new'] as const
export type Health = (typeof HEALTHS)[number]

/** A link without a click is new for this long; then its market alone says whether it can earn. */
const NEW_MS = 14 * DAY_MS
/** Over this many days before it stopped, a link's earnings say what is lost a day. */
export const RISK_DAYS = 14

export interface LinkFacts {
  readonly isDisabled: boolean
  readonly isDead: boolean
  readonly createdAt: Date
  readonly hasClicks: boolean
  /** Merchants whose offers a click may lead to: by feed, or as the owner of the link's host. */
  readonly sellers: readonly { readonly merchId: number; readonly isInStock: boolean }[]
  /**
   * Merchants that the publisher accepts, with a campaign that bids at some time of a day. One that
   * has spent today's budget is among them: the link earns again tomorrow.
   */
  readonly bidders: ReadonlySet<number>
}

export function healthOf(facts: LinkFacts, now: Date): Health {
  if (facts.isDisabled) return 'disabled'
  if (facts.isDead) return 'dead'
  const inStock = facts.sellers.filter(({ isInStock }) => isInStock)
  if (facts.sellers.length > 0 && inStock.length === 0) return 'out_of_stock'
  if (!inStock.some(({ merchId }) => facts.bidders.has(merchId))) return 'no_bid'
  const isYoung = now.getTime() - facts.createdAt.getTime() < NEW_MS
  return isYoung && !facts.hasClicks ? 'new' : 'earning'
}

/** Whether a link in this state loses what it earned before. */
export function isLosing(health: Health): boolean {
  return health !== 'earning' && health !== 'new'
}
