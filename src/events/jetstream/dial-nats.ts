/** Connects to any server of NATS_URL that answers. */
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'
import { connect, type NatsConnection, type TlsOptions, wsconnect } from '@nats-io/transport-node'

export const RETRY_MS = 250
/** After two unanswered pings the connection counts as dead. */
const PING_MS = 5_000
/** The longest delay of a start by an unreachable server. */
export const FIRST_CONNECT_MS = 2_000
/** Servers of a cluster are tried at random times within this. */
const SPREAD_MS = 250
const NATS_PORT = 4222 // The default if the URL names no port.
const WEB_SOCKET_PORTS: ReadonlyMap<string, number> = new Map([
  ['ws:', 80],
  ['wss:', 443],
])

/** Rejects with each server's error if none answers within FIRST_CONNECT_MS. */
export async function dial(
  natsUrl: string,
  signals: readonly AbortSignal[] = [],
): Promise<NatsConnection> {
  const addresses = natsUrl.split(',').map((address) => new URL(address))
  // Any server of a cluster will do, because it names the others. At random: otherwise the nearest
  // one would be tried each time, even if it has lost the others and knows no stream.
  const spreadMs = addresses.length > 1 ? SPREAD_MS : 0
  const { protocol, username, password, host } = await Promise.any(
    addresses.map(async (address) => {
      await sleep(Math.random() * spreadMs)
      return untilGreeted(address, signals)
    }),
  )
  const isWebSocket = WEB_SOCKET_PORTS.has(protocol)
  const [user, pass] = [username, password].map(decodeURIComponent)
  return (isWebSocket ? wsconnect : connect)({
    servers: isWebSocket ? `${protocol}//${host}` : host,
    name: 'souk',
    ...(user ? (pass ? { user, pass } : { token: user }) : {}),
    ...(protocol === 'tls:' ? { tls: provenAsAnyOf(addresses) } : {}),
    timeout: FIRST_CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS,
    pingInterval: PING_MS,
  })
}

/**
 * A certificate is valid if it names any server of NATS_URL. The client itself expects `localhost`
 * if the URL has no name, and expects the first server's name even after it has moved to another
 * one.
 */
function provenAsAnyOf(
  addresses: readonly URL[],
): TlsOptions & Pick<ConnectionOptions, 'checkServerIdentity'> {
  return {
    checkServerIdentity(_askedFor, certificate) {
      const faults = addresses.map((address) => checkServerIdentity(hostOf(address), certificate))
      return faults.includes(undefined) ? undefined : faults[0]
    },
  }
}

/** The host as it is dialled: an IPv6 address without brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/**
 * The URL, once its server has sent its greeting. A NATS server speaks first, and the client waits
 * for it on a socket that it never closes, so each attempt at a hanging server would leak one.
 */
async function untilGreeted(address: URL, signals: readonly AbortSignal[]): Promise<URL> {
  const { port, protocol } = address
  const webPort = WEB_SOCKET_PORTS.get(protocol)
  const late = AbortSignal.timeout(FIRST_CONNECT_MS)
  const wanted = { host: hostOf(address), port: Number(port || (webPort ?? NATS_PORT)) }
  const socket = createConnection(wanted)
  try {
    // A server behind a web socket says nothing before it is asked.
    await once(socket, webPort === undefined ? 'data' : 'connect', {
      signal: AbortSignal.any([late, ...signals]),
    })
    return address
  } catch (error) {
    throw late.aborted ? new Error('timeout', { cause: error }) : error
  } finally {
    socket.destroy()
  }
}
