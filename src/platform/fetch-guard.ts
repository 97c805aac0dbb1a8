/**
 * Which addresses may this server fetch from?
 *
 * Feeds and merchant pages are fetched from addresses that others chose, so a name may point
 * into our own network (metadata services, databases). What counts is the address that is
 * dialled, not the name: it is checked after resolution and inside the connection's own look-up,
 * so a name that answers differently the second time gains nothing. Names are asked of DNS alone:
 * those that are not public stand in the machine's own lists, and hold in `allowPrivate` only.
 */
import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, buildConnector, type Dispatcher } from 'undici'

const CONNECT_TIMEOUT_MS = 10_000
/**
 * What one address has of it before the next is tried. By itself 250 ms, which is not enough to far
 * away, and the next may be one of IPv6 on a machine that has none.
 */
const ADDRESS_TIMEOUT_MS = 2_000
/** Of the first try at each; the second has twice as long. */
const NAME_SERVER_TIMEOUT_MS = 2_000
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
 * The caller closes it. Only tests need other name servers than the system's.
 */
export function guardedAgent({
  allowPrivate,
  nameServers,
}: {
  readonly allowPrivate: boolean
  readonly nameServers?: readonly string[]
}): Agent {
  const connector = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    ...(allowPrivate ? {} : { lookup: lookupPublic(nameServers) }),
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

/**
 * Asks the name servers by itself. Of the system's look-up a name that nobody answers holds one of
 * two threads, which serve all names of the process: four such, over and over, had the database's
 * wait for 45 s, and those of other webhooks for longer than an attempt has.
 */
function lookupPublic(nameServers: readonly string[] | undefined): LookupFunction {
  const resolver = new Resolver({ timeout: NAME_SERVER_TIMEOUT_MS, tries: 2 })
  if (nameServers !== undefined) resolver.setServers(nameServers)
  return (hostname, _options, callback) => {
    publicAddresses(resolver, hostname).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    )
  }
}

async function publicAddresses(resolver: Resolver, host: string): Promise<LookupAddress[]> {
  // Only our own network has names without a dot, as `localhost` is.
  if (!host.includes('.')) throw new PrivateAddressError(host, host)
  const asked = [resolver.resolve4(host), resolver.resolve6(host)]
  const answers = await Promise.allSettled(asked)
  const addresses = answers.flatMap((answer) => (answer.status === 'rejected' ? [] : answer.value))
  if (addresses.length === 0) await Promise.all(asked) // It throws why.
  // One private address among several is enough to refuse: which is dialled is chance.
  const refused = addresses.find((address) => !isPublicAddress(address))
  if (refused !== undefined) throw new PrivateAddressError(host, refused)
  return addresses.map((address) => ({ address, family: isIP(address) }))
}
