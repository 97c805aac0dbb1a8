/**
 * Which kind of link is an address? Pure, so that the rules can be tested without a browser.
 *
 * A smart link is `{link_url}/<auction_id>` (interface 6, rule 3), also with a trailing slash, any
 * query, or the id in base 62. Everything else under our addresses is ours but no smart link: the
 * wrapper `/link/` runs its auction at the click and must be left alone.
 */
import { type PageSettings, type Service, withoutScheme } from './settings.ts'

/**
 * A smart link's auction id (digits, a string: it is longer than a number holds), or a reason: one
 * letter, because a reader loads each.
 */
export type Verdict = string

/** An outside page that LinkMate may turn into a smart link. */
export const RAW = 'r'
/** Not on the web: mail, telephone, script. */
export const OTHER = 'o'
/** The author wrote `#donotlink`. */
export const DO_NOT_LINK = 'd'
/** Our own address that is no smart link. */
export const OURS = 'u'
/** Somebody else's wrapper. */
export const WRAPPED = 'w'
/** A page of the publisher's own. */
export const LOCAL = 'l'

/** Inside an element that the page marked `data-souk-ignore`, or in a text that a reader writes. */
export const IGNORED = 'i'

/** An anchor, or the URL it leads to; the host is empty when the address is none. */
type Target = Pick<HTMLAnchorElement, 'href' | 'host'>

/** `pageHost` is the host of the page that the link is on. */
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
    // Another tag has wrapped one of ours: taking it back would start a fight. The newer
    // `decodeURIComponent` throws where an address holds a stray `%`.
    if (unescape(path).includes(own)) return WRAPPED
  }
  for (const domain of [pageHost, ..._service.domains]) {
    if (`.${host}`.endsWith(`.${domain.replace(/^www\./, '')}`)) return LOCAL
  }
  if (_settings.unwrap === false && /.https?(:|%3a)/i.test(href)) return WRAPPED
  return RAW
}

/**
 * Ids of our making are above 2^53 and so have 10 or 11 characters in base 62. `newsletter` or
 * `NEWSLETTER` may be a page on the same host: one id in two thousand looks like those as well.
 */
const SHORT_FORM = /^(?!0|.[a-z]+$|[A-Z]+$)[^\W_]{10,11}$/

/**
 * The auction id in what follows one of our addresses; empty when it is no smart link. Where an
 * auction has led a link is known as well: pages make copies of links (carousels do).
 */
const readSmartLink = (path: string): string => {
  const code = /^(?:api.+?\?a=)?(\w+)\/?([?#&]|$)/.exec(path)?.[1] || ''
  let id = 0n
  if (/^[1-9]\d*$/.test(code)) id = BigInt(code)
  else if (SHORT_FORM.test(code)) {
    for (const digit of code) {
      // 0–9, A–Z, a–z: what a base-36 reader says, and 26 more for small letters.
      id = id * 62n + BigInt(parseInt(digit, 36) + (digit > 'Z' ? 26 : 0))
    }
  }
  // One id above 2^63 - 1 would make the service refuse the page's whole batch of events.
  return id && id < 1n << 63n ? `${id}` : ''
}
