/** Where each page lives, below /dashboard. */
export const PATHS = {
  overview: '/',
  links: '/links',
  clicks: '/clicks',
  orders: '/orders',
  receipt: '/receipts/$result',
  developer: '/developer',
} as const

/** What pages keep in their address: whose figures, of which UTC days, which clicks. */
interface Search {
  readonly pub?: number | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly outcome?: Outcome | undefined
}

/** Those of all clicks that are valid, or those that nobody pays for. */
export type Outcome = 'counted' | 'unpaid'

const DAY = /^\d{4}-\d{2}-\d{2}$/

/**
 * Reads the query of an address; what is not valid is as if it were not there. It has to be said
 * of each: the router lets through what is not named.
 */
export function readSearch(search: Record<string, unknown>): Search {
  const { pub, from, to, outcome } = search
  const isRange = isDay(from) && isDay(to) && from <= to
  return {
    pub: Number.isSafeInteger(pub) ? (pub as number) : undefined,
    from: isRange ? from : undefined,
    to: isRange ? to : undefined,
    outcome: outcome === 'counted' || outcome === 'unpaid' ? outcome : undefined,
  }
}

/** A day of the calendar: 30 February is none. */
function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !DAY.test(value)) return false
  const ms = Date.parse(value)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value)
}
