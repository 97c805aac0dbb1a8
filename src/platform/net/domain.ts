/**
 * Domains as an operator types them. They decide who owns a host, so a slip such as `co.uk` for
 * `shop.co.uk` must be refused.
 */
import { isIP } from 'node:net'
import { parse } from 'tldts'
import { siteHost } from './url.ts'

export const DOMAIN_RULE =
  'must be a host name such as shop.example.com; a bare public suffix such as co.uk owns nobody'

/** RFC 1035: a host name has at most 253 characters. */
const DOMAIN_LENGTH_MAX = 253

/**
 * Reads a domain: lower case, international names as punycode, without `www.` and port.
 *
 * Returns null for anything but a host that one owner can have, such as a URL or a public suffix.
 * Accepts `localhost` and IP addresses, for shops on the operator's own machine.
 */
export function readDomain(text: string): string | null {
  if (/[/?#@\\\s]/.test(text)) return null
  const url = URL.parse(`http://${text}/`)
  const host = url === null ? '' : siteHost(url)
  if (host === '' || host.length > DOMAIN_LENGTH_MAX) return null
  if (host === 'localhost' || isIP(host.replace(/^\[|\]$/g, '')) !== 0) return host
  if (!/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$/.test(host)) return null
  return parse(host, { allowPrivateDomains: true }).domain === null ? null : host
}
