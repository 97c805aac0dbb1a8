/**
 * Whose request this is: the address that connected, or, behind trusted proxies, the nearest
 * address of X-Forwarded-For that is not one of them. Anybody can write that header; only what a
 * trusted proxy appended is believed.
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
  // From the end, and no further than believed: whoever calls writes the rest, up to 16 KiB of it,
  // and to read thousands of hops takes a third of a second.
  for (let rest = forwarded ?? ''; isTrusted(address); ) {
    const comma = rest.lastIndexOf(',')
    const next = plain(withoutPort(rest.slice(comma + 1).trim()))
    if (!ipaddr.isValid(next)) break
    address = next
    rest = rest.slice(0, Math.max(comma, 0))
  }
  return address
}

/** Reads `10.0.0.0/8` or one address; throws with the reason. */
export function readCidr(value: string): Cidr {
  const [address = '', ...rest] = value.split('/')
  const kind = isIP(address)
  const cidr = rest.length > 0 ? value : `${address}/${kind === 4 ? 32 : 128}`
  // Asked of Node first: ipaddr.js takes `10/8` for 0.0.0.10/8.
  if (kind === 0 || !ipaddr.isValidCIDR(cidr)) {
    throw new Error(`"${value}" is not an address or CIDR block`)
  }
  const [network, bits] = ipaddr.parseCIDR(cidr)
  // As clients' addresses are: an IPv4 address in IPv6's words is one of IPv4.
  const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress()
  return isMapped && bits >= MAPPED_BITS
    ? [network.toIPv4Address(), bits - MAPPED_BITS]
    : [network, bits]
}

/** `::ffff:0:0/96`: what stands before the IPv4 address. */
const MAPPED_BITS = 96

/** The unit that limits count by: an IPv4 address, or the /64 that one IPv6 subscriber holds. */
export function addressUnit(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  return (ipaddr.parse(address) as IPv6).parts.slice(0, 4).join(':')
}

/** The one spelling of an address; an IPv4 address is one however IPv6 spells it. */
function plain(address: string): string {
  if (!address.includes(':')) return address
  const [, inner] = AS_NODE_SAYS.exec(address) ?? []
  if (inner !== undefined) return inner
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}

/** Of an IPv4 client at a socket of both kinds: on the path of every request, so not parsed. */
const AS_NODE_SAYS = /^::ffff:([\d.]+)$/

/** Some proxies append `198.51.100.1:51234` or `[2001:db8::7]:443`. */
function withoutPort(hop: string): string {
  const [, inBrackets, ipv4] = /^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/.exec(hop) ?? []
  return inBrackets ?? ipv4 ?? hop
}
