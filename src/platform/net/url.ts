/**
 * When are two URLs the same page?
 *
 * `canonicalUrl` writes equal texts for equal pages as far as that is possible without knowing the
 * shop. It normalizes syntax (RFC 3986 6.2), applies Souk's policy (scheme, `www.`, trailing slash,
 * parameter order, scrolling fragments), and drops parameters that only track. Everything not known
 * to be irrelevant counts: a wrong "same" sends a reader to the wrong product, a wrong "different"
 * only misses a match. The canonical text is a key; nobody is ever redirected to it.
 */
import { hash } from 'node:crypto'
import { domainToUnicode } from 'node:url'
import { characterCount } from '../text/characters.ts'
import { isTrackingParameter } from './tracking-parameters.ts'

/** Longer URLs would push the redirect URL that carries them past 8,000 characters. */
export const MAX_URL_CHARACTERS = 2048
export const MAX_URL_ENCODED_BYTES = 6000

const URL_KEY_DIGITS = 32 // 128 bits: the chance that two of 10^9 pages collide is 10^-21.

// The URL parser repairs `https:shop.example` and `https:///shop.example`, but an absolute URL has
// exactly two slashes and then a host.
const ABSOLUTE_WEB_URL = /^\s*https?:\/\/[^\s/\\?#]/i

const SPACE = 0x20 // All control characters are below it.

/** Reads an absolute http or https URL; null for anything else. */
export function parseWebUrl(text: string): URL | null {
  const url = ABSOLUTE_WEB_URL.test(text) ? URL.parse(text) : null
  // The parser accepts a host that starts with a dot, in any spelling: `.`, `%2E`, `。`.
  return url?.hostname.startsWith('.') ? null : url
}

/**
 * A URL without the characters that every browser drops when it reads one (URL standard 4.4):
 * controls and spaces around it, tabs and line breaks anywhere. A Location header with them would
 * be read as a relative URL.
 */
export function trimUrl(text: string): string {
  // Not a regular expression: one for the end takes quadratic time on inner blanks.
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) <= SPACE) start++
  while (end > start && text.charCodeAt(end - 1) <= SPACE) end--
  return text.slice(start, end).replace(/[\t\n\r]/g, '')
}

/** True if a URL is short enough for a smart link and for the redirect that carries it. */
export function fitsUrlLimits(text: string): boolean {
  // Counted only if needed: a character has one or two UTF-16 units.
  if (text.length > 2 * MAX_URL_CHARACTERS) return false
  if (text.length > MAX_URL_CHARACTERS && characterCount(text) > MAX_URL_CHARACTERS) return false
  // UTF-8 needs at most 3 bytes per UTF-16 unit, each written as %XX.
  if (text.length * 9 <= MAX_URL_ENCODED_BYTES) return true
  return encodeURIComponent(text.toWellFormed()).length <= MAX_URL_ENCODED_BYTES
}

/** An origin as browsers send it, `https://shop.example`; null if it is not one of the web. */
export function readOrigin(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return null
  return url.href === `${url.origin}/` ? url.origin : null
}

/** The host without `www.` and a final dot, in lower case ASCII; no port. */
export function siteHost(url: URL): string {
  return withoutWww(url.hostname)
}

/** A host's name with its own letters, for people; addresses and look-ups have the ASCII form. */
export function unicodeHost(host: string): string {
  return domainToUnicode(host) || host // Empty where a label is no valid punycode.
}

/** Host and port of an address as people read them, and as the network knows them. */
export function hostForDisplay(address: string): { shown: string; ascii: string } {
  const url = URL.parse(address)
  if (url === null) return { shown: address, ascii: address }
  const port = url.port === '' ? '' : `:${url.port}`
  return { shown: unicodeHost(url.hostname) + port, ascii: url.host }
}

/** True for `shop.example` and every host below it, where `domain` is `shop.example`. */
export function isOnDomain(host: string, domain: string): boolean {
  return host === domain || (host.endsWith(domain) && host.at(-domain.length - 1) === '.')
}

/**
 * The text that equal pages share: host, path, query and fragment, no scheme. Reading it again
 * behind `https://` gives the same text, except for an escape behind a stray `%`.
 */
export function canonicalUrl(url: URL): string {
  const port = url.port === '' ? '' : `:${url.port}`
  const path = canonicalPath(url.pathname)
  return `${siteHost(url)}${port}${path}${canonicalQuery(url.search)}${canonicalFragment(url.hash)}`
}

/** URLs of readers' pages are cut to origin and path, because queries can contain personal data. */
export function originAndPath(address: string): string | null {
  const url = parseWebUrl(address)
  return url === null ? null : url.origin + url.pathname
}

/** `android-app://com.example.reader/…`: the referrer that Android's apps send. */
const APP_REFERRER = /^android-app:\/\/([\w.-]{1,255})(?:[/?#]|$)/i

/** The stored form of a referrer: a page without its query, or the name of an app. */
export function referrerName(referrer: string): string | null {
  return APP_REFERRER.exec(referrer.trim())?.[1] ?? originAndPath(referrer)
}

/**
 * The URL of the same page without reader data: credentials, tracking parameters, a fragment that
 * only scrolls. It has the same key.
 */
export function withoutReader(address: string): string {
  const url = parseWebUrl(address)
  if (url === null) return address
  url.username = ''
  url.password = ''
  if (canonicalFragment(url.hash) === '') url.hash = ''
  const isPages = (pair: string) => canonicalQuery(`?${pair}`) !== ''
  const query = url.search.slice(1).split('&').filter(isPages).join('&')
  url.search = query && `?${query}` // The setter drops the first `?` of `??x`.
  return url.href
}

/**
 * The 16 bytes under which a page's canonical URL is stored; null if the text is no absolute web
 * URL.
 */
export function urlKey(text: string): Buffer | null {
  const url = parseWebUrl(text)
  return url === null ? null : keyOfUrl(url)
}

/** The key of a parsed URL. */
export function keyOfUrl(url: URL): Buffer {
  return Buffer.from(hexKeyOfUrl(url), 'hex')
}

/** The same as hexadecimal digits, which the hash returns three times as fast as bytes. */
export function hexKeyOfUrl(url: URL): string {
  return hash('sha256', canonicalUrl(url), 'hex').slice(0, URL_KEY_DIGITS)
}

function withoutWww(hostname: string): string {
  let host = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  // `www.com` is a registrable name.
  while (host.startsWith('www.') && host.includes('.', 4)) host = host.slice(4)
  return host
}

function canonicalPath(pathname: string): string {
  const path = canonicalEscapes(pathname)
  let end = path.length
  while (end > 1 && path[end - 1] === '/') end--
  return path.slice(0, end)
}

/** Drops known tracking parameters and sorts the rest by name; repeated names keep their order. */
function canonicalQuery(search: string): string {
  if (search.length < 2) return ''
  const query = search.includes('+') ? search.replaceAll('+', '%20') : search
  return writePairs('?', query, (name, value) => !isTrackingParameter(name, value))
}

// Fragments that name a variant of the product: `#variationId=…`, `#sku=…`, `#color=red`.
const NAMES_A_VARIANT =
  /variant|variation|sku|item|article|product|colou?r|size|model|option|style|^p?id$/i

/**
 * A fragment counts if it is the page's own route (`#!/p/1`, `#/p/1`) or names a variant; any other
 * only scrolls.
 */
function canonicalFragment(fragment: string): string {
  if (fragment.length < 2) return ''
  if (fragment.startsWith('#!') || fragment.startsWith('#/')) return canonicalEscapes(fragment)
  return writePairs('#', fragment, (name, value) => value !== '' && NAMES_A_VARIANT.test(name))
}

/**
 * The significant pairs of a query or fragment, sorted by name, with the leading sign; empty if
 * none.
 */
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
  // Array sort is stable: `id=1&id=2` and `id=2&id=1` stay different.
  if (pairs.length > 1) pairs.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return sign + pairs.map((pair) => pair.text).join('&')
}

const ESCAPE = /%[0-9A-Fa-f]{2}/g
const UNRESERVED = /[A-Za-z0-9\-._~]/
// Characters that a URL may not contain raw but that the parser accepts.
const RAW_BUT_NOT_ALLOWED = /["<>[\\\]^`{|}]/g

const NOT_CANONICAL = /["%<>[\\\]^`{|}]/

/** One spelling per byte: unreserved characters plain, all other escapes in upper case. */
function canonicalEscapes(text: string): string {
  if (!NOT_CANONICAL.test(text)) return text
  return text
    .replace(RAW_BUT_NOT_ALLOWED, (character) => encodeURIComponent(character))
    .replace(ESCAPE, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
      return UNRESERVED.test(character) ? character : octet.toUpperCase()
    })
}
