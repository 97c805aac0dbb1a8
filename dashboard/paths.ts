/** Where each page lives, below /dashboard. */
export const PATHS = {
  overview: '/',
  links: '/links',
  clicks: '/clicks',
  receipt: '/receipts/$result',
  developer: '/developer',
} as const

/** What every page keeps in its address: whose figures, and of which UTC days. */
export interface Search {
  readonly pub?: number
  readonly from?: string
  readonly to?: string
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Reads the query of an address; what is not valid is as if it were not there. */
export function readSearch(search: Record<string, unknown>): Search {
  const { pub, from, to } = search
  const isDay = (value: unknown): value is string => typeof value === 'string' && DAY.test(value)
  return {
    ...(Number.isSafeInteger(pub) ? { pub: pub as number } : {}),
    ...(isDay(from) && isDay(to) && from <= to ? { from, to } : {}),
  }
}
