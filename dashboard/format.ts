/** Numbers, amounts and times as people read them. Amounts come as exact decimal strings. */
const WHOLE = new Intl.NumberFormat('en-US')
const MICROS_DIGITS = 6
const PPM_DIGITS = 4 // Of parts per hundred.

/** `1234` → `1,234`; less than nothing, where returns outweigh sales, has a minus, not a hyphen. */
export const count = (value: number): string => WHOLE.format(value).replace('-', '−')

/** `"-1234.5"` → `−$1,234.50`; the digits that are there stay, at least two. Zero has no sign. */
export function dollars(amount: string): string {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  const sign = /^-.*[1-9]/.test(amount) ? '−' : ''
  return `${sign}$${WHOLE.format(BigInt(whole))}.${fraction.padEnd(2, '0')}`
}

/** Micro-dollars of a computation, fractions included: `542235.4` → `$0.542235`. */
export function microDollars(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(MICROS_DIGITS).replace(/0{1,4}$/, '')}`
}

/** `0.7013` → `70.13 %`: shares are whole parts per million, and who checks an amount needs all. */
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
/** `10:24:05`, UTC like everything here. */
export const time = (instant: string): string => TIME.format(new Date(instant))

/** An article by its name, and where that is blank by its address; null when neither is known. */
export function articleTitle(of: {
  readonly article_name: string | null
  readonly article_url: string | null
}): string | null {
  return of.article_name?.trim() || shortUrl(of.article_url ?? '') || null
}

/**
 * Where an article can be read. Links of mails and feeds have none: their clicks gather under a
 * wrapper that leads to no page.
 */
export function articleHref(address: string): string | undefined {
  return address === '' || address.includes('/link/?url=&') ? undefined : address
}

/** `https://www.shop.example/p/1?x#y` → `shop.example/p/1?x`, for a line of small print. */
export function shortUrl(address: string): string {
  // Not `URL.parse`: Safari 17, the last one for older Macs, has none.
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  return (url.host.replace(/^www\./, '') + url.pathname + url.search).replace(/\/$/, '')
}
