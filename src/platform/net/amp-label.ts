/**
 * Which publisher an AMP cache serves: the cache has one host per publisher host (amp.dev, "AMP
 * cache URL format"). `en-us.example` becomes `0-en--us-example-0`; a name that is too long or
 * mixes text directions becomes a hash.
 */
import { hash } from 'node:crypto'
import { domainToASCII, domainToUnicode } from 'node:url'
import { isOnDomain } from './url.ts'

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567' // RFC 4648, section 6.
const HASH_LENGTH = 52 // 256 bits, five each.
/** Hyphens in positions 3 and 4 mean punycode, so any other label with them is wrapped. */
const WRAPPED = /^0-(..--.*)-0$/

/** Whether the label stands for a host of one of these domains (ASCII). */
export function isAmpLabelOf(domains: readonly string[], label: string): boolean {
  const host = readHost(label)
  if (domains.some((domain) => isOnDomain(host, domain))) return true
  // A hash reveals nothing about subdomains; `www.` is the one to try.
  return (
    label.length === HASH_LENGTH &&
    domains.some((domain) => label === hashLabel(domain) || label === hashLabel(`www.${domain}`))
  )
}

/** Dots are written as hyphens, hyphens are doubled, and international names are punycode. */
function readHost(label: string): string {
  const word = domainToUnicode(WRAPPED.exec(label)?.[1] ?? label)
  return domainToASCII(word.replace(/--?/g, (hyphens) => (hyphens === '-' ? '.' : '-')))
}

function hashLabel(host: string): string {
  // Four more bits make 256 divisible by five.
  const digits = BigInt(`0x${hash('sha256', host, 'hex')}0`).toString(BASE32.length)
  return digits
    .padStart(HASH_LENGTH, '0')
    .replace(/./g, (digit) => BASE32.charAt(Number.parseInt(digit, BASE32.length)))
}
