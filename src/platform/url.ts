/**
 * When are two web addresses the same page?
 *
 * `canonicalUrl` writes an address so that equal pages have equal texts as far as that can be
 * known without knowing the shop: syntax (RFC 3986 6.2), then our policy (scheme, `www.`, trailing
 * slash, parameter order, fragments that only scroll), then parameters that only track. Whatever
 * is not known to be irrelevant counts: a false "same" sends a reader to the wrong product, a
 * false "other" only misses a match. The canonical text is a key; nobody is ever sent to it.
 */
import { hash } from 'node:crypto'
import { characterCount } from './characters.ts'
import { isTrackingParameter } from './tracking-parameters.ts'

/** Decisions 4.1; longer addresses would push the redirect URL that carries them past 8,000. */
export const MAX_URL_CHARACTERS = 2048
export const MAX_URL_ENCODED_BYTES = 6000

const URL_KEY_DIGITS = 32 // 128 bits: no two of 10^9 pages meet by accident (chance 10^-21).

// The URL parser repairs `https:shop.example` and `https:///shop.example`; an absolute address
// has exactly two slashes and then a host.
const ABSOLUTE_WEB_URL = /^\s*https?:\/\/[^\s/\\?#]/i

const SPACE = 0x20 // All controls are below it.

/** Reads an absolute http or https address; null for anything else. */
export function parseWebUrl(text: string): URL | null {
  const url = ABSOLUTE_WEB_URL.test(text) ? URL.parse(text) : null
  // The parser lets a host begin with a dot, however it is written: `.`, `%2E`, `。`.
  return url?.hostname.startsWith('.') ? null : url
}

/**
 * An address without the stray characters that every browser drops as it reads one (URL standard
 * 4.4): controls and spaces around it, tabs and line breaks anywhere. A Location header that
 * holds them would be read as a relative address.
 */
export function trimUrl(text: string): string {
  // Not by a pattern: one for the end would take quadratic time on blanks inside.
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) <= SPACE) start++
  while (end > start && text.charCodeAt(end - 1) <= SPACE) end--
  return text.slice(start, end).replace(/[\t\n\r]/g, '')
}

/** True when an address is short enough for a smart link and for the redirect that carries it. */
export function fitsUrlLimits(text: string): boolean {
  // Counted only where it can matter: characters have one or two units of UTF-16.
  if (text.length > 2 * MAX_URL_CHARACTERS) return false
  if (text.length > MAX_URL_CHARACTERS && characterCount(text) > MAX_URL_CHARACTERS) return false
  // No character of UTF-8 needs more than 3 bytes per UTF-16 unit, each written as %XX.
  if (text.length * 9 <= MAX_URL_ENCODED_BYTES) return true
  return encodeURIComponent(text.toWellFormed()).length <= MAX_URL_ENCODED_BYTES
}

/** An origin as browsers send it, `https://shop.example`; null for what is none of the web. */
export function readOrigin(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return null
  return url.href === `${url.origin}/` ? url.origin : null
}

/** The host without `www.` and a final dot, lower case and in its ASCII form; no port. */
export function siteHost(url: URL): string {
  return withoutWww(url.hostname)
}

/** True for `shop.example` and every host below it, where `domain` is `shop.example`. */
export function isOnDomain(host: string, domain: string): boolean {
  return host === domain || (host.endsWith(domain) && host.at(-domain.length - 1) === '.')
}

/**
 * The text that equal pages share: host, path, query and fragment, no scheme. Idempotent when
 * read again behind `https://`, but for an escape that a stray `%` stands before.
 */
export function canonicalUrl(url: URL): string {
  const port = url.port === '' ? '' : `:${url.port}`
  const path = canonicalPath(url.pathname)
  return `${siteHost(url)}${port}${path}${canonicalQuery(url.search)}${canonicalFragment(url.hash)}`
}

/** Addresses of readers' pages are cut to origin and path: queries can carry personal data. */
export function originAndPath(address: string): string | null {
  const url = parseWebUrl(address)
  return url === null ? null : url.origin + url.pathname
}

/**
 * The same page's address without what only says how one reader came to it: name and password,
 * parameters that track, a fragment that only scrolls. It has the key of the whole.
 */
export function withoutReader(address: string): string {
  const url = parseWebUrl(address)
  if (url === null) return address
  url.username = ''
  url.password = ''
  if (canonicalFragment(url.hash) === '') url.hash = ''
  const isPages = (pair: string) => canonicalQuery(`?${pair}`) !== ''
  const query = url.search.slice(1).split('&').filter(isPages).join('&')
  url.search = query && `?${query}` // A setter takes the first of `??x` for its own.
  return url.href
}

/**
 * The 16 bytes under which a page's canonical address is stored and looked up; null for what is
 * not an absolute web address.
 */
export function urlKey(text: string): Buffer | null {
  const url = parseWebUrl(text)
  return url === null ? null : keyOfUrl(url)
}

/** The key of an address that has been parsed. */
export function keyOfUrl(url: URL): Buffer {
  return Buffer.from(hexKeyOfUrl(url), 'hex')
}

/** The same as hexadecimal digits, which the hash gives three times as fast as bytes. */
export function hexKeyOfUrl(url: URL): string {
  return hash('sha256', canonicalUrl(url), 'hex').slice(0, URL_KEY_DIGITS)
}

function withoutWww(hostname: string): string {
  let host = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  // `www.com` is a name of its own.
  while (host.startsWith('www.') && host.includes('.', 4)) host = host.slice(4)
  return host
}

function canonicalPath(pathname: string): string {
  const path = canonicalEscapes(pathname)
  let end = path.length
  while (end > 1 && path[end - 1] === '/') end--
  return path.slice(0, end)
}

/** Known tracking parameters go; the rest is sorted by name, repeated names keep their order. */
function canonicalQuery(search: string): string {
  if (search.length < 2) return ''
  const query = search.includes('+') ? search.replaceAll('+', '%20') : search
  return writePairs('?', query, (name, value) => !isTrackingParameter(name, value))
}

// What names another variant of the product: `#variationId=…`, `#sku=…`, `#color=red`.
const NAMES_A_VARIANT =
  /variant|variation|sku|item|article|product|colou?r|size|model|option|style|^p?id$/i

/**
 * A fragment counts when it is a route of the page's own (`#!/p/1`, `#/p/1`) or names a variant;
 * any other only scrolls.
 */
function canonicalFragment(fragment: string): string {
  if (fragment.length < 2) return ''
  if (fragment.startsWith('#!') || fragment.startsWith('#/')) return canonicalEscapes(fragment)
  return writePairs('#', fragment, (name, value) => value !== '' && NAMES_A_VARIANT.test(name))
}

/** The pairs of a query or fragment that count, sorted by name behind its sign; or nothing. */
function writePairs(
  sign: '?' | '#',
  query: string,
  counts: (name: string, value: string) => boolean,
): string {
  const pairs: { readonly name: string; readonly text: string }[] = []
  for (const piece of query.slice(1).split('&')) {
    if (piece === '') continue
    const text = canonicalEscapes(piece)
    const equals = text.indexOf('=')
    const name = equals === -1 ? text : text.slice(0, equals)
    if (counts(name, text.slice(name.length + 1))) pairs.push({ name, text })
  }
  if (pairs.length === 0) return ''
  // Array sort is stable: `id=1&id=2` and `id=2&id=1` stay two addresses.
  if (pairs.length > 1) pairs.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return sign + pairs.map((pair) => pair.text).join('&')
}

const ESCAPE = /%[0-9A-Fa-f]{2}/g
const UNRESERVED = /[A-Za-z0-9\-._~]/
// Characters that no address may hold raw but that the URL parser lets through.
const RAW_BUT_NOT_ALLOWED = /["<>[\\\]^`{|}]/g

const NOT_CANONICAL = /["%<>[\\\]^`{|}]/

/** One spelling for each octet: unreserved characters plain, all other escapes in upper case. */
function canonicalEscapes(text: string): string {
  if (!NOT_CANONICAL.test(text)) return text
  return text
    .replace(RAW_BUT_NOT_ALLOWED, (character) => encodeURIComponent(character))
    .replace(ESCAPE, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
      return UNRESERVED.test(character) ? character : octet.toUpperCase()
    })
}
