/**
 * The client's address: the one that connected or, behind trusted proxies, the nearest untrusted
 * address in `X-Forwarded-For`. Anybody can write that header, so only entries that a trusted proxy
 * appended count.
 */
import { isIP } from 'node:net'
import type { IPv4, IPv6 } from 'ipaddr.js'
import ipaddr from 'ipaddr.js'

export type Cidr = readonly [IPv4 | IPv6, number]

export function clientAddress(
  connected: string | undefined,
  forwarded: string | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let address = plain(connected ?? '')
  // Reads from the end and stops at the first untrusted hop. The client controls the rest, up to 16
  // KiB; parsing thousands of hops takes a third of a second.
  for (let rest = forwarded ?? ''; isTrusted(address); ) {
    const comma = rest.lastIndexOf(',')
    const next = plain(withoutPort(rest.slice(comma + 1).trim()))
    if (!ipaddr.isValid(next)) break
    address = next
    rest = rest.slice(0, Math.max(comma, 0))
  }
  return address
}

/** Reads `10.0.0.0/8` or a single address; throws with the reason. */
export function readCidr(value: string): Cidr {
  const [address = '', ...rest] = value.split('/')
  const kind = isIP(address)
  const cidr = rest.length > 0 ? value : `${address}/${kind === 4 ? 32 : 128}`
  // Node checks first, because ipaddr.js reads `10/8` as 0.0.0.10/8.
  if (kind === 0 || !ipaddr.isValidCIDR(cidr)) {
    throw new Error(`"${value}" is not an address or CIDR block`)
  }
  const [network, bits] = ipaddr.parseCIDR(cidr)
  // An IPv4-mapped IPv6 block means the IPv4 block, as with clients' addresses.
  const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress()
  return isMapped && bits >= MAPPED_BITS
    ? [network.toIPv4Address(), bits - MAPPED_BITS]
    : [network, bits]
}

/** The prefix of IPv4-mapped addresses, `::ffff:0:0/96`. */
const MAPPED_BITS = 96

/** The unit that limits count by: an IPv4 address, or the /64 of one IPv6 subscriber. */
export function addressUnit(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  return (ipaddr.parse(address) as IPv6).parts.slice(0, 4).join(':')
}

/**
 * Addresses that no reader on the internet has. 100.64.0.0/10 is here because it is never routed:
 * a client from there is a proxy of the operator's own network. An unknown address is not here: a
 * client that resets its connection at once must escape no rule.
 */
const LOCAL_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'linkLocal',
  'uniqueLocal', // the private addresses of IPv6
  'carrierGradeNat',
])

/** A loopback, private or link-local address: a test, or a proxy that is not trusted yet. */
export function isLocalAddress(address: string): boolean {
  return ipaddr.isValid(address) && LOCAL_RANGES.has(ipaddr.process(address).range())
}

/** One spelling per address: an IPv4-mapped IPv6 address becomes the IPv4 address. */
function plain(address: string): string {
  if (!address.includes(':')) return address
  const [, inner] = AS_NODE_SAYS.exec(address) ?? []
  if (inner !== undefined) return inner
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}

/**
 * How Node spells an IPv4 client on a dual-stack socket. A pattern, because every request needs it.
 */
const AS_NODE_SAYS = /^::ffff:([\d.]+)$/

/** Some proxies append a port: `198.51.100.1:51234` or `[2001:db8::7]:443`. */
function withoutPort(hop: string): string {
  const [, inBrackets, ipv4] = /^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/.exec(hop) ?? []
  return inBrackets ?? ipv4 ?? hop
}
