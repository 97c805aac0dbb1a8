/**
 * Decides which kind of link a URL is. Pure, so that the rules can be tested without a browser.
 *
 * A smart link is `{link_url}/<auction_id>`, also with a trailing slash, any query, or the id in
 * base 62. All other URLs on our hosts are not smart links. The wrapper `/link/` runs its auction
 * at the click, so the tag leaves it alone.
 */
import { type PageSettings, type Service, withoutScheme } from './settings.ts'

/**
 * A smart link's auction id (digits as text, because it exceeds a number's precision), or a reason
 * of one letter, to keep the tag small.
 */
export type Verdict = string

/** A page outside that LinkMate may turn into a smart link. */
export const RAW = 'r'
/** Not on the web: mail, telephone, script. */
export const OTHER = 'o'
/** The author wrote `#donotlink`. */
export const DO_NOT_LINK = 'd'
/** A URL of ours that is not a smart link. */
export const OURS = 'u'
/** Another service's wrapper. */
export const WRAPPED = 'w'
/** A page of the publisher. */
export const LOCAL = 'l'

/** Inside an element with `data-souk-ignore`, or in a text that the reader edits. */
export const IGNORED = 'i'

/** An anchor, or the URL it leads to; the host is empty when the URL is invalid. */
type Target = Pick<HTMLAnchorElement, 'href' | 'host'>

/** `pageHost` is the host of the page that contains the link. */
export const judge = (
  { href, host }: Target,
  pageHost: string,
  { _service, _settings }: { _service: Service; _settings: PageSettings },
): Verdict => {
  if (!host || !/^https?:/.test(href)) return OTHER
  if (/#donotlink$/i.test(href)) return DO_NOT_LINK
  const path = withoutScheme(href)
  for (const own of _service._own) {
    if (path.startsWith(own)) return readSmartLink(path.slice(own.length)) || OURS
    // Another tag has wrapped one of our links. Unwrapping it could loop, as the other tag would
    // wrap it again. `decodeURIComponent` throws on a stray `%`, hence `unescape`.
    if (unescape(path).includes(own)) return WRAPPED
  }
  for (const domain of [pageHost, ..._service.domains]) {
    if (`.${host}`.endsWith(`.${domain.replace(/^www\./, '')}`)) return LOCAL
  }
  if (_settings.unwrap === false && /.https?(:|%3a)/i.test(href)) return WRAPPED
  return RAW
}

/**
 * Generated ids are above 2^53, so they have 10 or 11 characters in base 62. `newsletter` or
 * `NEWSLETTER` may be a page on the same host; one id in two thousand has such a form too.
 */
const SHORT_FORM = /^(?!0|.[a-z]+$|[A-Z]+$)[^\W_]{10,11}$/

/**
 * The auction id in the rest of one of our URLs; empty when it is not a smart link. Also recognises
 * the target of a finished auction, because pages copy links (carousels do).
 */
const readSmartLink = (path: string): string => {
  const code = /^(?:api.+?\?a=)?(\w+)\/?([?#&]|$)/.exec(path)?.[1] || ''
  let id = 0n
  if (/^[1-9]\d*$/.test(code)) id = BigInt(code)
  else if (SHORT_FORM.test(code)) {
    for (const digit of code) {
      // 0–9, A–Z, a–z: a base-36 digit, plus 26 for lower case.
      id = id * 62n + BigInt(parseInt(digit, 36) + (digit > 'Z' ? 26 : 0))
    }
  }
  // One id above 2^63 - 1 would make the service reject the page's whole batch of events.
  return id && id < 1n << 63n ? `${id}` : ''
}
