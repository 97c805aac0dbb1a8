/**
 * Which addresses may this server fetch from?
 *
 * Feeds and merchant pages are fetched from addresses that others chose, so a name may point
 * into our own network (metadata services, databases). What counts is the address that is
 * dialled, not the name: it is checked after resolution and inside the connection's own look-up,
 * so a name that answers differently the second time gains nothing.
 */
import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, buildConnector, type Dispatcher } from 'undici'

const CONNECT_TIMEOUT_MS = 10_000
/** A server that says nothing for this long is given up. */
const IDLE_TIMEOUT_MS = 60_000
const MAX_REDIRECTS = 5
const PARTIAL_CONTENT = 206

/** Thrown before anything is sent when an address is not a public one. */
export class PrivateAddressError extends Error {
  readonly code = 'PRIVATE_ADDRESS'

  constructor(host: string, address: string) {
    const where = host === address ? address : `${host} (${address})`
    super(`${where} is not a public address; set ALLOW_PRIVATE_FETCH=on to fetch from it`)
  }
}

/**
 * True for addresses on the public internet. Everything with a special range is private here:
 * loopback, link-local, shared, documentation, multicast, and the IPv6 forms that carry an IPv4
 * address to somewhere else (compatible, mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  const zoneless = address.split('%', 1)[0] ?? ''
  if (!ipaddr.isValid(zoneless)) return false
  const parsed = ipaddr.process(zoneless)
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_UNICAST)) return false
  return parsed.range() === 'unicast'
}

/** Of IPv6 no other address is anybody's (RFC 4291, 2.4; IANA's registry). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * A connection pool that dials public addresses only; with `allowPrivate` it dials any.
 * The caller closes it.
 */
export function guardedAgent({ allowPrivate }: { allowPrivate: boolean }): Agent {
  const connector = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    ...(allowPrivate ? {} : { lookup: lookupPublic }),
  })
  return new Agent({
    headersTimeout: IDLE_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
    connect(options, callback) {
      // A literal address is dialled without a look-up.
      const host = options.hostname.replace(/^\[|\]$/g, '')
      if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) {
        callback(new PrivateAddressError(host, host), null)
        return
      }
      connector(options, callback)
    },
  })
}

/**
 * Gets an address and follows its redirects, each through the same guard.
 *
 * Resolves with a 2xx answer whose body the caller must read or destroy; throws Error with a
 * message for the operator otherwise. A part of a document, which nobody asked for, is no answer.
 */
export async function guardedGet(
  agent: Dispatcher,
  url: URL,
  { headers, signal }: { headers: Record<string, string>; signal?: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  const credentials = basicCredentials(url)
  let current = url
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await agent.request({
      origin: current.origin,
      path: current.pathname + current.search,
      method: 'GET',
      headers: current.origin === url.origin ? { ...headers, ...credentials } : headers,
      signal: signal ?? null,
    })
    const { statusCode } = response
    if (statusCode >= 200 && statusCode < 300 && statusCode !== PARTIAL_CONTENT) return response
    // Not read to its end, which may be an hour away: the connection goes with it.
    response.body.on('error', () => undefined).destroy()
    const location = response.headers.location
    if (statusCode < 300 || statusCode >= 400 || typeof location !== 'string') {
      throw new Error(`${withoutPassword(current)} answered ${statusCode}`)
    }
    const next = URL.parse(location, current)
    if (next === null || !/^https?:$/.test(next.protocol)) {
      throw new Error(`${withoutPassword(current)} redirects to what is not a web address`)
    }
    current = next
  }
  throw new Error(`${withoutPassword(url)} redirects more than ${MAX_REDIRECTS} times`)
}

/** Many shops give their feeds to whoever knows `https://name:password@shop.example/feed`. */
function basicCredentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const pair = [username, password].map(decoded).join(':')
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (cause) {
    throw new Error('a % in the name or password of its address is written %25', { cause })
  }
}

/** As it may be told: messages end up in logs. */
export function withoutPassword({ origin, pathname, search }: URL): string {
  return origin + pathname + search
}

const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      callback(error, '', 0)
      return
    }
    // One private address among several is enough to refuse: which is dialled is chance.
    const refused = addresses.find(({ address }) => !isPublicAddress(address))
    const first = addresses[0]
    if (refused !== undefined || first === undefined) {
      callback(new PrivateAddressError(hostname, refused?.address ?? 'no address'), '', 0)
      return
    }
    if (options.all === true) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}
