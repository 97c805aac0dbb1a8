/** Where each page lives, below /dashboard. */
export const PATHS = {
  overview: '/',
  links: '/links',
  clicks: '/clicks',
  orders: '/orders',
  unfilled: '/unfilled',
  payments: '/payments',
  receipt: '/receipts/$result',
  merchant: '/merchant',
  developer: '/developer',
} as const

/** What pages keep in their address: whose figures, of which UTC days, and what of a page. */
export interface Search {
  readonly pub?: number | undefined
  readonly merch?: number | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly day?: string | undefined // of what is told day by day
  readonly outcome?: (typeof OUTCOMES)[number] | undefined
  readonly figure?: Figure | undefined
  readonly find?: string | undefined // what is looked for among links
}

/** Those of all clicks that are valid, or those that nobody pays for. */
const OUTCOMES = ['counted', 'unpaid'] as const

/** What the overview draws. */
export const FIGURES = ['earnings', 'clicks', 'impressions', 'sales'] as const
export type Figure = (typeof FIGURES)[number]

const DAY = /^\d{4}-\d{2}-\d{2}$/

/**
 * Reads the query of an address; what is not valid is as if it were not there. It has to be said
 * of each: the router lets through what is not named.
 */
export function readSearch(search: Record<string, unknown>): Search {
  const { pub, merch, from, to, day, outcome, figure, find } = search
  const isRange = isDay(from) && isDay(to) && from <= to
  return {
    pub: readId(pub),
    merch: readId(merch),
    from: isRange ? from : undefined,
    to: isRange ? to : undefined,
    day: isDay(day) ? day : undefined,
    outcome: OUTCOMES.find((one) => one === outcome),
    figure: FIGURES.find((one) => one === figure),
    find: typeof find === 'string' ? find : undefined,
  }
}

function readId(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined
}

/** A day of the calendar: 30 February is none. */
function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !DAY.test(value)) return false
  const ms = Date.parse(value)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value)
}
