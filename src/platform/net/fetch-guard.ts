/**
 * Which addresses may this server fetch from?
 *
 * Others choose the URLs of feeds and merchant pages, so a name may point into the operator's
 * network (metadata services, databases). The guard checks the address that is actually dialled,
 * inside the connection's own look-up, so a name that resolves differently the second time gains
 * nothing. Names are resolved by DNS alone. Names from the machine's own lists are private and need
 * `allowPrivate`.
 */
import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, buildConnector, type Dispatcher } from 'undici'

const CONNECT_TIMEOUT_MS = 10_000
/**
 * How long one address may take before the next is tried. Node's 250 ms is too short for distant
 * servers, and the next address may be IPv6 on a machine without it.
 */
const ADDRESS_TIMEOUT_MS = 2_000
/** For the first try at each name server; the second gets twice as long. */
const NAME_SERVER_TIMEOUT_MS = 2_000
/** A server that sends nothing for this long is given up. */
const IDLE_TIMEOUT_MS = 60_000
const MAX_REDIRECTS = 5
const PARTIAL_CONTENT = 206

/** Thrown before anything is sent if an address is not public. */
export class PrivateAddressError extends Error {
  readonly code = 'PRIVATE_ADDRESS'

  constructor(host: string, address: string) {
    const where = host === address ? address : `${host} (${address})`
    super(`${where} is not a public address; set ALLOW_PRIVATE_FETCH=on to fetch from it`)
  }
}

/**
 * True for addresses on the public internet. Every special range counts as private: loopback,
 * link-local, shared, documentation, multicast, and IPv6 forms that carry an IPv4 address
 * (compatible, mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  const zoneless = address.split('%', 1)[0] ?? ''
  if (!ipaddr.isValid(zoneless)) return false
  const parsed = ipaddr.process(zoneless)
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_UNICAST)) return false
  return parsed.range() === 'unicast'
}

/** No other IPv6 address is assigned (RFC 4291, 2.4; IANA's registry). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

export interface GuardOptions {
  readonly allowPrivate: boolean
  /** Only tests name other DNS servers than the system's. */
  readonly nameServers?: readonly string[]
}

/**
 * A connection pool that dials only public addresses; with `allowPrivate`, any. The caller closes
 * it.
 */
export function guardedAgent(options: GuardOptions): Agent {
  return new Agent({
    headersTimeout: IDLE_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
    connect: guardedConnector(options),
  })
}

/** Opens single connections under the same rule. */
export function guardedConnector({ allowPrivate, nameServers }: GuardOptions) {
  const connector = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    ...(allowPrivate ? {} : { lookup: lookupPublic(nameServers) }),
  })
  return (options: buildConnector.Options, callback: buildConnector.Callback): void => {
    // A literal address is dialled without a look-up.
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) {
      callback(new PrivateAddressError(host, host), null)
      return
    }
    connector(options, callback)
  }
}

/**
 * Fetches a URL and follows its redirects, each through the same guard.
 *
 * Resolves with a 2xx response whose body the caller must read or destroy. Otherwise throws an
 * Error with a message for the operator. A partial response (206) counts as an error, because no
 * range was requested.
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
    // The body is not read to its end, which may be an hour away, so the connection is closed.
    response.body.on('error', () => undefined).destroy()
    const location = response.headers.location
    if (statusCode < 300 || statusCode >= 400 || typeof location !== 'string') {
      throw new Error(`${withoutPassword(current)} answered ${statusCode}`)
    }
    const next = URL.parse(location, current)
    if (next === null || !/^https?:$/.test(next.protocol)) {
      throw new Error(`${withoutPassword(current)} redirects to a URL that is not http(s)`)
    }
    current = next
  }
  throw new Error(`${withoutPassword(url)} redirects more than ${MAX_REDIRECTS} times`)
}

/** Many shops protect their feeds with a URL such as `https://name:password@shop.example/feed`. */
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

/** The URL without credentials, safe for logs. */
export function withoutPassword({ origin, pathname, search }: URL): string {
  return origin + pathname + search
}

/**
 * Queries the name servers directly. The system's look-up uses two threads for the whole process:
 * four unanswered names had blocked the database's connection for 45 s and other webhooks for
 * longer than an attempt may take.
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
  // Only the operator's own network has names without a dot, such as `localhost`.
  if (!host.includes('.')) throw new PrivateAddressError(host, host)
  const asked = [resolver.resolve4(host), resolver.resolve6(host)]
  const answers = await Promise.allSettled(asked)
  const addresses = answers.flatMap((answer) => (answer.status === 'rejected' ? [] : answer.value))
  if (addresses.length === 0) await Promise.all(asked) // Rejects with the reason.
  // One private address is enough to refuse, because any of them may be dialled.
  const refused = addresses.find((address) => !isPublicAddress(address))
  if (refused !== undefined) throw new PrivateAddressError(host, refused)
  return addresses.map((address) => ({ address, family: isIP(address) }))
}
