/**
 * An HTTP proxy on this machine through which a browser reaches public addresses only.
 *
 * A browser resolves names by itself, so a page could lead it into the operator's network: by a
 * name, by a redirect, by a name that resolves differently the second time. Behind this proxy the
 * browser dials nothing: the proxy resolves each name and dials under the rule of fetch-guard.ts.
 */
import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Dispatcher } from 'undici'
import { type GuardOptions, guardedAgent, guardedConnector } from './fetch-guard.ts'

export interface GuardedProxy extends AsyncDisposable {
  readonly url: string
  /** Why a host was not reached, the first time. */
  readonly failures: ReadonlyMap<string, Error>
}

/** A page of ten thousand hosts must not fill the memory. */
const FAILURES_MAX = 1_000

export async function openGuardedProxy(options: GuardOptions): Promise<GuardedProxy> {
  const connect = guardedConnector(options)
  const agent = guardedAgent(options)
  const failures = new Map<string, Error>()
  const note = (host: string, error: unknown) => {
    if (!failures.has(host) && failures.size < FAILURES_MAX) failures.set(host, error as Error)
  }
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '')
    // Only a proxy's client sends absolute URLs; the browser sends no others.
    if (url?.protocol !== 'http:') return void response.writeHead(400).end()
    forward(agent, url, request, response).catch((error) => {
      note(url.hostname, error)
      response.destroy() // The browser shows a page that does not load, not a page of ours.
    })
  })
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    client.on('error', () => undefined)
    const url = URL.parse(`http://${request.url}`)
    if (url === null) return void client.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    const { hostname, port } = url
    const target = { hostname, host: url.host, protocol: 'http:', port: port || '80' }
    connect(target, (error, socket) => {
      if (error === null) return tunnel(client, socket, head)
      note(hostname, error)
      client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const sockets = new Set<Duplex>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failures,
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy() // Tunnels too, and so their other ends.
      await agent.destroy()
    },
  }
}

/** These belong to one connection, not to the request (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
])

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)))
}

async function forward(
  agent: Dispatcher,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers, method = 'GET' } = request
  const hasBody = 'content-length' in headers || 'transfer-encoding' in headers
  const answer = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: method as Dispatcher.HttpMethod,
    headers: endToEnd(headers),
    body: hasBody ? request : null,
  })
  response.writeHead(answer.statusCode, endToEnd(answer.headers))
  await pipeline(answer.body, response)
}

function tunnel(client: Socket, socket: Socket, head: Buffer): void {
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  socket.write(head)
  // Both ends close when either fails or ends.
  void Promise.allSettled([pipeline(client, socket), pipeline(socket, client)])
}
