/** Where a click goes: the destination with its click id, never a byte of it changed otherwise. */
import { domainToASCII } from 'node:url'

/** A template of the merchant's own network, `{url_encoded}`, `{url}` and `{cid}` filled in. */
export function deepLink(template: string, target: { url: string; clickId: string }): string {
  const { url, clickId: cid } = target
  const parts = { url, url_encoded: encodeURIComponent(url.toWellFormed()), cid }
  // In one go and by a function: an address may itself hold `{cid}`, or `$&`.
  return template.replace(
    /\{(url|url_encoded|cid)\}/g,
    (_, name: keyof typeof parts) => parts[name],
  )
}

/**
 * Adds `name=value` to an address; an older value of that name goes.
 *
 * On the text rather than through URLSearchParams, which would rewrite the encoding of the shop's
 * own parameters: some shops answer 404 to `%20` written as `+`.
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
  // The `&` keeps what begins a pair: URLSearchParams would take a `?` there for the query's own.
  const query = pairs.filter((pair) => !new URLSearchParams(`&${pair}`).has(name)).join('&')
  const joint = query === '' || query.endsWith('&') ? '' : '&'
  return `${path}?${query}${joint}${name}=${value}${fragment}`
}

/**
 * An address as a Location header may carry it: ASCII only, no controls. Percent-encodes what a
 * page wrote raw and leaves everything that is encoded already as it is. A host is written as the
 * name service knows it: browsers would decode it, most other clients look it up as it stands. And
 * a backslash before the query is the slash that browsers read it as: others look for the host of
 * `https://shop.example\@evil.example` behind the `@`, where nobody has looked who it is.
 */
export function headerSafe(url: string): string {
  if (PLAIN.test(url)) return url
  return url
    .toWellFormed()
    .replace(BEFORE_QUERY, (before) => before.replaceAll('\\', '/'))
    .replace(FOREIGN_HOST, (_, before: string, host: string) => before + domainToASCII(host))
    .replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character))
}

/** Of visible ASCII all but the backslash. */
const PLAIN = /^[\x21-\x5b\x5d-\x7e]*$/
const BEFORE_QUERY = /^[^?#]*/
const FOREIGN_HOST = /^(https?:\/\/(?:[^/?#@]*@)?)([^/?#@:]*[^\0-\x7f][^/?#@:]*)/i
