/**
 * The hot endpoints' server: functions from a small request record to a small reply record,
 * straight on node:http. Auction, redirect, events and pixel answer tens of thousands of times a
 * second; a framework's routing, hooks and serializers cost more there than the work itself
 * (figures: bench/). Everything else goes on to Fastify.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ApiError, tooLarge } from '../errors/api-errors.ts'
import { clientAddress } from '../net/client-address.ts'
import { type CorsMode, type CorsOptions, corsHeaders, preflightHeaders } from './cors.ts'
import { failure } from './envelope.ts'
import { requestId } from './request-id.ts'

/** Larger bodies get 413; a route may have a lower limit (docs/spec/limits.md#bodies). */
export const BODY_BYTES_MAX = 1_048_576
/** How long the end of a body that nobody reads is waited for before its connection is closed. */
const UNREAD_BODY_MS = 5_000

export interface HotRequest {
  readonly isHead: boolean
  readonly path: string // without a trailing slash
  readonly query: string // raw, without the question mark
  readonly headers: IncomingHttpHeaders
  readonly address: string
  readonly body: Buffer | null
  readonly requestId: string
}

export interface HotReply {
  readonly status: number
  readonly headers: Record<string, string | string[]>
  readonly body: string | Buffer | null
}

export interface HotRoute {
  readonly name: string // its path without what differs between requests, for metrics
  readonly method: 'GET' | 'POST'
  readonly cors: CorsMode
  readonly bodyBytesMax?: number // a larger body is refused unread; 1 MiB where absent
  handle(request: HotRequest): HotReply | Promise<HotReply>
}

export interface HotServerOptions {
  /** The route of a path without its trailing slash, or null: then Fastify serves it. */
  readonly match: (path: string) => HotRoute | null
  readonly isTrustedProxy: (address: string) => boolean
  /** The error shown to the caller; unexpected ones are logged on the way. */
  readonly toApiError: (error: unknown, requestId: string) => ApiError
  readonly onAnswer: (answer: Answer) => void
}

/** One answered request, as metrics and logs see it. */
export interface Answer {
  readonly requestId: string
  readonly route: string
  readonly status: number
  readonly seconds: number
}

/** Makes the function that answers hot requests; it returns false for all others. */
export function hotServer(options: HotServerOptions) {
  return (req: IncomingMessage, res: ServerResponse): boolean => {
    const url = req.url ?? '/'
    const mark = url.indexOf('?')
    let path = mark < 0 ? url : url.slice(0, mark)
    if (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1)
    const route = options.match(path)
    if (route === null) return false

    const startedMs = performance.now()
    const id = requestId(req.headers['x-request-id'])
    const isHead = req.method === 'HEAD'
    const cors = { mode: route.cors, origin: req.headers.origin, allowedOrigins: [] }
    const answered = (status: number): void => {
      const seconds = (performance.now() - startedMs) / 1_000
      options.onAnswer({ requestId: id, route: route.name, status, seconds })
    }
    if (req.method === 'OPTIONS') {
      send(res, preflightReply(route, cors), { id, isHead: false })
      answered(204)
      return true
    }
    const reply = (answer: HotReply): void => {
      if (route.cors !== 'none') Object.assign(answer.headers, corsHeaders(cors))
      send(res, answer, { id, isHead })
      answered(answer.status)
    }
    const fail = (error: unknown): void => reply(errorReply(options.toApiError(error, id)))
    const run = (body: Buffer | null): void => {
      try {
        const answer = route.handle({
          isHead,
          path,
          query: mark < 0 ? '' : url.slice(mark + 1),
          headers: req.headers,
          address: clientAddress(
            req.socket.remoteAddress,
            req.headers['x-forwarded-for'] as string | undefined,
            options.isTrustedProxy,
          ),
          body,
          requestId: id,
        })
        if (answer instanceof Promise) answer.then(reply).catch(fail)
        else reply(answer)
      } catch (error) {
        fail(error)
      }
    }

    if (req.method !== route.method && !(isHead && route.method === 'GET')) {
      const allow = allowedMethods(route).join(', ')
      fail(new ApiError('methodNotAllowed', { headers: { allow } }))
    } else if (route.method === 'POST') {
      readBody(req, { bytesMax: route.bodyBytesMax ?? BODY_BYTES_MAX, run, fail })
    } else run(null)
    return true
  }
}

/** Refuses a request that no route has seen. */
export function refuse(req: IncomingMessage, res: ServerResponse, known: ApiError): void {
  answer(req, res, errorReply(known))
}

/** Answers a request that no route has seen. */
export function answer(req: IncomingMessage, res: ServerResponse, reply: HotReply): void {
  send(res, reply, { id: requestId(req.headers['x-request-id']), isHead: req.method === 'HEAD' })
}

/** Caches may store a 200 or a 404 by default, longer than it is true. */
export const UNCACHED = { 'cache-control': 'no-store' }

export function errorReply(known: ApiError): HotReply {
  return {
    status: known.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...UNCACHED,
      ...known.headers,
    },
    body: JSON.stringify(failure(known)),
  }
}

function preflightReply(route: HotRoute, cors: CorsOptions): HotReply {
  const methods = allowedMethods(route)
  const headers = { allow: methods.join(', '), ...preflightHeaders({ ...cors, methods }) }
  return { status: 204, headers, body: null }
}

function allowedMethods(route: HotRoute): string[] {
  return route.method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : ['POST', 'OPTIONS']
}

function send(
  res: ServerResponse,
  { status, headers, body }: HotReply,
  { id, isHead }: { id: string; isHead: boolean },
): void {
  headers['x-request-id'] = id
  headers['x-content-type-options'] = 'nosniff'
  if (status !== 204)
    headers['content-length'] = String(body === null ? 0 : Buffer.byteLength(body))
  const sent = isHead ? null : body
  const isEarly = isStillComing(res.req)
  if (isEarly) headers.connection = 'close'
  res.writeHead(status, headers)
  if (isEarly) Readable.from(behindBody(res.req, sent === null ? [] : [sent])).pipe(res)
  else endTogether(res, sent)
}

type Ending = readonly [res: ServerResponse, body: string | Buffer | null]

let endings: Ending[] = []

/**
 * Answers of one turn of the event loop are sent together at its end: in a row they cost less than
 * each between two auctions. Under full load an auction takes a tenth less (bench/http.ts).
 */
function endTogether(...ending: Ending): void {
  if (endings.push(ending) > 1) return
  setImmediate(() => {
    const all = endings
    endings = []
    for (const [res, body] of all) res.end(body)
  })
}

/** Whether some of a request's body is yet to come. */
export function isStillComing({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * The answer to a request that is still coming: there at once, but it ends only when the rest of
 * the body has gone by. Many clients write all of it before they read; the end of the answer closes
 * the connection, and they would find that instead of the answer. Closed it must be: some proxies
 * stop in the middle of the body and send the next reader's request there (HAProxy 2.6).
 */
export async function* behindBody(
  req: IncomingMessage,
  answer: Iterable<string | Buffer> | AsyncIterable<string | Buffer>,
) {
  yield* answer
  const signal = AbortSignal.timeout(UNREAD_BODY_MS)
  // However it ends, at its end, in the middle or not in time: that was all.
  await Promise.allSettled([finished(req.resume(), { writable: false, signal })])
}

interface BodyReader {
  readonly bytesMax: number
  readonly run: (body: Buffer) => void
  readonly fail: (error: unknown) => void
}

function readBody(req: IncomingMessage, { bytesMax, run, fail }: BodyReader): void {
  const refuse = () => fail(tooLarge(bytesMax))
  const chunks: Buffer[] = []
  let bytes = 0
  // A client may wait for the answer before it sends what it has announced.
  let isDone = Number(req.headers['content-length']) > bytesMax
  if (isDone) refuse()
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (isDone) return
    if (bytes > bytesMax) {
      isDone = true
      refuse()
    } else chunks.push(chunk)
  })
  req.on('end', () => {
    if (isDone) return
    isDone = true
    run(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
  })
  // The client went away in the middle: nobody is left to answer, and nothing was done yet.
  req.on('error', () => {
    isDone = true
  })
}
