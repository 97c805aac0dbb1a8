/** Formats numbers, amounts and times. Amounts arrive as exact decimal strings. */
import { unicodeHost } from './unicode-host.ts'

const WHOLE = new Intl.NumberFormat('en-US')
const MICROS_DIGITS = 6
const PPM_DIGITS = 4 // In percent.

/** `1234` → `1,234`. Negative counts (more returns than sales) have a true minus sign. */
export const count = (value: number): string => WHOLE.format(value).replace('-', '−')

/** `"-1234.5"` → `−$1,234.50`. Shows all digits, at least two. Zero has no sign. */
export function dollars(amount: string): string {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  const sign = /^-.*[1-9]/.test(amount) ? '−' : ''
  return `${sign}$${WHOLE.format(BigInt(whole))}.${fraction.padEnd(2, '0')}`
}

/** `"22.464427"` → `$22.46`: rounded to cents, for cards and tables. Details show every digit. */
export const cents = (amount: string): string => dollars(Number(amount).toFixed(2))

/** Micro-dollars of a computation, with fractions: `542235.4` → `$0.542235`. */
export function microDollars(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(MICROS_DIGITS).replace(/0{1,4}$/, '')}`
}

/**
 * `0.7013` → `70.13 %`. Shares are whole parts per million, and checking an amount needs all
 * digits.
 */
export function percent(fraction: number, digits = PPM_DIGITS): string {
  return `${Number((fraction * 100).toFixed(digits))} %`
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' })

/** `"2026-03-02"` → `2 Mar`. */
export const shortDay = (day: string): string => DAY.format(new Date(day))
/** `Mar 2026`. */
export const monthOfYear = (day: string): string => MONTH.format(new Date(day))
/** `2 Mar 2026`. */
export const date = (instant: string): string => DATE.format(new Date(instant))
/** `10:24:05` in UTC. */
export const time = (instant: string): string => TIME.format(new Date(instant))

/** The name of an article, or its URL if the name is blank; null if both are unknown. */
export function articleTitle(of: {
  readonly article_name: string | null
  readonly article_url: string | null
}): string | null {
  return of.article_name?.trim() || shortUrl(of.article_url ?? '') || null
}

/**
 * The URL at which an article can be read. Links in emails and feeds have none; their clicks belong
 * to a placeholder URL that leads nowhere.
 */
export function articleHref(address: string): string | undefined {
  return address === '' || address.includes('/link/?url=&') ? undefined : address
}

/** `https://www.shop.example/p/1?x#y` → `shop.example/p/1?x`, for small print. */
export function shortUrl(address: string): string {
  // Safari 17, the last version for older Macs, has no `URL.parse`.
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  const host = unicodeHost(url.host.replace(/^www\./, ''))
  return (host + url.pathname + url.search).replace(/\/$/, '')
}

/** The UTC day, as `2026-03-02`. */
export const today = (): string => new Date().toISOString().slice(0, 10)

const WHOLE_MONTH = new Intl.DateTimeFormat('en-GB', {
  ...{ month: 'long', year: 'numeric', timeZone: 'UTC' },
} as const)

/** `2026-03` → `March 2026`; anything else stays. */
export const monthName = (month: string): string =>
  /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month) ? WHOLE_MONTH.format(new Date(`${month}-01`)) : month
