/** Adds the click id to a destination and changes nothing else in it. */
import { domainToASCII } from 'node:url'

/** Fills `{url_encoded}`, `{url}` and `{cid}` in the template of the merchant's network. */
export function deepLink(template: string, target: { url: string; clickId: string }): string {
  const { url, clickId: cid } = target
  const parts = { url, url_encoded: encodeURIComponent(url.toWellFormed()), cid }
  // One pass with a function, because a URL may itself contain `{cid}` or `$&`.
  return template.replace(
    /\{(url|url_encoded|cid)\}/g,
    (_, name: keyof typeof parts) => parts[name],
  )
}

/**
 * Adds `name=value` to a URL and removes an older value of that name.
 *
 * Edits the text instead of using URLSearchParams, which would re-encode the shop's own parameters:
 * some shops answer 404 to `%20` written as `+`.
 */
export function withParameter(
  url: string,
  { name, value }: { name: string; value: string },
): string {
  const hash = url.indexOf('#')
  const fragment = hash < 0 ? '' : url.slice(hash)
  const base = hash < 0 ? url : url.slice(0, hash)
  const mark = base.indexOf('?')
  const path = mark < 0 ? base : base.slice(0, mark)
  const pairs = mark < 0 ? [] : base.slice(mark + 1).split('&')
  // The `&` protects the start of a pair: URLSearchParams would strip a leading `?`.
  const query = pairs.filter((pair) => !new URLSearchParams(`&${pair}`).has(name)).join('&')
  const joint = query === '' || query.endsWith('&') ? '' : '&'
  return `${path}?${query}${joint}${name}=${value}${fragment}`
}

/**
 * Encodes a URL for a Location header: ASCII only, no control characters. Percent-encodes raw
 * characters and keeps existing escapes. Converts the host to its ASCII form, because most clients
 * other than browsers look it up unchanged. A backslash before the query becomes the slash that
 * browsers read it as: other clients would take `evil.example` as the host of
 * `https://shop.example\@evil.example`, which nobody has checked.
 */
export function headerSafe(url: string): string {
  if (PLAIN.test(url)) return url
  return url
    .toWellFormed()
    .replace(BEFORE_QUERY, (before) => before.replaceAll('\\', '/'))
    .replace(FOREIGN_HOST, (_, before: string, host: string) => before + domainToASCII(host))
    .replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character))
}

/** Visible ASCII except the backslash. */
const PLAIN = /^[\x21-\x5b\x5d-\x7e]*$/
const BEFORE_QUERY = /^[^?#]*/
const FOREIGN_HOST = /^(https?:\/\/(?:[^/?#@]*@)?)([^/?#@:]*[^\0-\x7f][^/?#@:]*)/i
