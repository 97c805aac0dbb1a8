/** A connection to whichever server of NATS_URL answers. */
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'
import { connect, type NatsConnection, type TlsOptions, wsconnect } from '@nats-io/transport-node'

export const RETRY_MS = 250
/** Two of these without an answer, and the connection is taken for dead. */
const PING_MS = 5_000
/** At most this long are starts held up by a server that is away. */
export const FIRST_CONNECT_MS = 2_000
/** A while by chance, over which the servers of a cluster are asked. */
const SPREAD_MS = 250
const NATS_PORT = 4222 // Unless the address names another.
const WEB_SOCKET_PORTS: ReadonlyMap<string, number> = new Map([
  ['ws:', 80],
  ['wss:', 443],
])

/** Rejects when none has answered within FIRST_CONNECT_MS, with what each said. */
export async function dial(
  natsUrl: string,
  signals: readonly AbortSignal[] = [],
): Promise<NatsConnection> {
  const addresses = natsUrl.split(',').map((address) => new URL(address))
  // Of a cluster whichever answers: it tells of the others that are there. By chance: the nearest
  // would else be dialled each time, be it the one that has lost the others and knows no stream.
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
 * A certificate is good when it is of any server that NATS_URL names. The client itself asks for
 * one of `localhost` where the address has no name, and after it has moved to another server still
 * for one of the first.
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

/** As it is dialled: an IPv6 address without its brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/**
 * The address, once its server has answered. A NATS server says the first word to whoever connects,
 * and the client waits for it on a socket that it never closes: each try at a server that hangs
 * would leave one open.
 */
async function untilGreeted(address: URL, signals: readonly AbortSignal[]): Promise<URL> {
  const { port, protocol } = address
  const webPort = WEB_SOCKET_PORTS.get(protocol)
  const late = AbortSignal.timeout(FIRST_CONNECT_MS)
  const wanted = { host: hostOf(address), port: Number(port || (webPort ?? NATS_PORT)) }
  const socket = createConnection(wanted)
  try {
    // To a web socket the server says nothing before it is asked.
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
