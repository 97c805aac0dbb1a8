/**
 * The HTTP server: Fastify for everything that is not hot, with the limits, the error envelope,
 * request ids, CORS and OpenAPI that all endpoints share.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import swagger from '@fastify/swagger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyContextConfig,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySerializerCompiler,
  type FastifyServerFactoryHandler,
  LogController,
} from 'fastify'
import { ApiError, badRequest, notFound, tooLarge } from '../errors/api-errors.ts'
import { clientAddress } from '../net/client-address.ts'
import { isUnreachable } from '../postgres/postgres.ts'
import { limitBodyTimeout } from './body-timeout.ts'
import { type CorsMode, type CorsOptions, corsHeaders, preflightHeaders } from './cors.ts'
import { ErrorEnvelope, failure } from './envelope.ts'
import {
  type Answer,
  answer,
  BODY_BYTES_MAX,
  behindBody,
  errorReply,
  type HotReply,
  type HotRoute,
  hotServer,
  isStillComing,
  refuse,
  UNCACHED,
} from './hot-http.ts'
import { isJsonBody, parseBody } from './json-body.ts'
import type { PartSchema } from './known-fields.ts'
import { requestId } from './request-id.ts'
import { faultsOf, validatorCompiler } from './validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which origins may call the route from a browser; by default its path decides. */
    cors?: CorsMode
    /** Charges the caller for a body before it is parsed; throws 429 when it calls too often. */
    charge?: (request: FastifyRequest, bodyBytes: number) => void
  }
  interface FastifyRequest {
    /** The caller's address, behind trusted proxies too. */
    clientAddress: string
  }
}

// Node's defaults, or none at all, would let slow clients hold connections for minutes.
const REQUEST_TIMEOUT_MS = 30_000
/** For a file of 1 GiB, at 2.5 Mbit/s; only routes that take files allow it (body-timeout.ts). */
const UPLOAD_TIMEOUT_MS = 3_600_000
const HEADERS_TIMEOUT_MS = 10_000
/** How often Node looks for connections that are over either; by itself every 30 s. */
const TIMEOUT_CHECK_MS = 5_000
/** Longer than the usual 60 s of load balancers, which must be the ones to close. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000
/**
 * How long a connection with a request may stand still: longer than any response takes, or than
 * proxies wait for one. Otherwise a client that reads nothing would keep its responses in memory
 * for ever.
 */
const STALLED_TIMEOUT_MS = 300_000
/** The longest address: a wrapper link that carries a destination of 6,000 bytes. */
const HEADER_BYTES_MAX = 16_384
/**
 * The part that is read of a longer header section, to find the reader's destination. Cookies of a
 * shared parent domain reach some 32 KiB (docs/spec/links-and-tags.md#long-header-sections).
 */
const READ_HEADER_BYTES_MAX = 65_536
const HEADER_RULE = `address and headers together must have at most ${HEADER_BYTES_MAX} bytes`

export interface HttpOptions {
  readonly log: FastifyBaseLogger
  readonly corsOrigins: readonly string[]
  readonly isTrustedProxy: (address: string) => boolean
  readonly matchHot: (path: string) => HotRoute | null
  /** The page for a person who opens an unknown URL outside of the API. */
  readonly lostPage?: () => HotReply
  /** The page for a person whose browser sent too many headers. */
  readonly tooLongPage?: () => HotReply
  /** Called with each response, of hot and other routes. */
  readonly onAnswer?: (answer: Answer) => void
  /** Errors of the domain that mean "storage cannot take it now". */
  readonly isUnavailable?: (error: unknown) => boolean
}

export type Http = FastifyInstance

export async function createHttp(options: HttpOptions): Promise<Http> {
  const http: Http = Fastify({
    loggerInstance: options.log,
    // One line per finished request, written below.
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    bodyLimit: BODY_BYTES_MAX,
    genReqId: (req) => requestId(req.headers['x-request-id']),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: HEADER_BYTES_MAX },
    forceCloseConnections: 'idle',
    return503OnClosing: false, // Connections accepted before the port was closed are served.
    // Addresses that cannot be decoded get no further than this.
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      const { status, headers, body } =
        pageFor(request, options) ?? errorReply(toApiError(error, options))
      const cors = corsHeaders(corsOf(request, methodsOf(request.url).cors, options))
      reply.status(status).headers({ ...cors, ...headers, ...NO_SNIFF, 'x-request-id': request.id })
      // No hook sees these.
      reply.send(sentOf(body, request, reply))
    },
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, options),
    serverFactory: (handler) => makeServer(options, handler),
  })

  // No route takes it; as a method with a body, Fastify would refuse it for a missing type first.
  http.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true })
  http.setValidatorCompiler(validatorCompiler)
  http.setSerializerCompiler(compileSerializer)
  parseBodies(http, parseBody)
  const methodsOf = rememberRoutes(http)
  addHooks(http, options, methodsOf)
  addErrorHandlers(http, options, methodsOf)
  await http.register(swagger, { openapi: OPENAPI })
  return http
}

const serializerOf = SerializerSelector()()

/**
 * Compiled with the first answer of its route. Compiling all took 0.8 of the 0.9 s of processor
 * time that a node needs to start. test/openapi.test.ts compiles every one.
 */
const compileSerializer: FastifySerializerCompiler<unknown> = (route) => {
  let serialize: ReturnType<typeof serializerOf> | null = null
  return (value) => {
    serialize ??= serializerOf({ httpStatus: '', ...route })
    return serialize(value)
  }
}

/** On every answer: a browser must never guess another type than the one it is sent. */
const NO_SNIFF = { 'x-content-type-options': 'nosniff' }

/** Errors that every route may return: any request can be invalid, and storage can fail. */
const REFUSALS = { '4xx': ErrorEnvelope, '5xx': ErrorEnvelope }

/** Where an operation is served: the description leaves the address open, as the interface does. */
export const serverAt = (name: 'base_url' | 'auction_url' | 'link_url') => [
  { url: `{${name}}`, variables: { [name]: { default: 'http://localhost:8080' } } },
]

const OPENAPI = {
  openapi: '3.1.0',
  servers: serverAt('base_url'),
  info: {
    title: 'Souk',
    version: '1',
    description:
      'Links, product matching, auctions, events, orders, statistics, reports, payments.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  components: {
    securitySchemes: {
      apiKey: {
        type: 'apiKey' as const,
        in: 'header',
        name: 'Authorization',
        description: '`SERVICE-API-KEY <key>`',
      },
      session: {
        type: 'apiKey' as const,
        in: 'cookie',
        name: '__Host-souk_session',
        description:
          'The dashboard’s session. A change also needs the header `X-Souk-Csrf` with the ' +
          '`csrf_token` of `GET /api/v1/me/`.',
      },
    },
  },
}

/** Hot requests are answered straight on node:http, the others by Fastify's handler. */
function makeServer(options: HttpOptions, handler: FastifyServerFactoryHandler): Server {
  const isHot = hotServer({
    match: options.matchHot,
    isTrustedProxy: options.isTrustedProxy,
    onAnswer: (answer) => {
      options.onAnswer?.(answer)
      // Tens of thousands a second: logged one by one only at the debug level.
      const { requestId: request_id, route, status, seconds } = answer
      options.log.debug({ request_id, route, status, ms: Math.round(seconds * 1_000) }, 'request')
    },
    toApiError: (error, id) => {
      const known = toApiError(error as FastifyError, options)
      if (known.status >= 500) logFailure(options.log.child({ request_id: id }), error, known)
      return known
    },
  })
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    req.url = originForm(req.url ?? '/')
    limitBodyTimeout(req, REQUEST_TIMEOUT_MS, () => req.socket.destroy())
    if (lacksHost(req)) refuse(req, res, badRequest([{ field: 'Host', rule: 'is required' }]))
    else if (headBytes(req) > HEADER_BYTES_MAX) serveLong(req, res)
    else if (!isHot(req, res)) handler(req, res)
  }
  // Readers are led on however many cookies their browser holds for our domain.
  const serveLong = (req: IncomingMessage, res: ServerResponse): void => {
    const isForReaders = isReaderPath(req.url)
    if (isForReaders && isHot(req, res)) return
    const page = isForReaders ? options.tooLongPage?.() : undefined
    if (page === undefined) refuse(req, res, badRequest([{ field: 'request', rule: HEADER_RULE }]))
    else answer(req, res, page)
  }
  // Node would refuse these two by itself, without an envelope. Expectations other than
  // 100-continue may be ignored (RFC 9110, 10.1.1).
  const limits = {
    maxHeaderSize: READ_HEADER_BYTES_MAX,
    requireHostHeader: false,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  }
  const server = createServer(limits, serve).on('checkExpectation', serve)
  // A client may close its side after its request (RFC 9112, 9.6); Node, whose types lack the
  // switch, would then drop every response that is not ready at once.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.requestTimeout = UPLOAD_TIMEOUT_MS
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS
  server.timeout = STALLED_TIMEOUT_MS
  return server
}

/** The bytes of an address and its headers, give or take their separators. */
function headBytes({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = url.length
  for (const text of rawHeaders) bytes += text.length
  return bytes
}

/** Outside of the API, and at the redirect, answers are for people. */
function isReaderPath(url = '/'): boolean {
  return !url.startsWith('/api/') || /^\/api\/v1\/redirect\/?(?:\?|$)/.test(url)
}

/** HTTP lets a client name its target whole, as it does towards a proxy (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, '/')
}

/** HTTP/1.1 has every request name its host (RFC 9112, 3.2). */
function lacksHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined
}

/** Outside of the API are pages, and the dashboard's calls, which read the session. */
function corsModeOf(url = '', config: FastifyContextConfig | undefined): CorsMode {
  return config?.cors ?? (url.startsWith('/api/') ? 'account' : 'none')
}

function corsOf(
  { headers }: FastifyRequest,
  mode: CorsMode,
  { corsOrigins: allowedOrigins }: HttpOptions,
): CorsOptions {
  return { mode, origin: headers.origin, allowedOrigins }
}

type MethodsOf = ReturnType<typeof rememberRoutes>

/** The caller's address, request id and CORS of each request; one log line of each answer. */
function addHooks(http: Http, options: HttpOptions, methodsOf: MethodsOf): void {
  http.decorateRequest('clientAddress', '')
  http.addHook('onRequest', async (request, reply) => {
    const { headers, socket, routeOptions } = request
    const forwarded = headers['x-forwarded-for'] as string | undefined
    request.clientAddress = clientAddress(socket.remoteAddress, forwarded, options.isTrustedProxy)
    reply.header('x-request-id', request.id).headers(NO_SNIFF)
    const [path = ''] = request.url.split('?', 1)
    if (path.startsWith('/api/')) reply.headers(UNCACHED)
    // The router would take an empty segment for a parameter, which a schema then misses.
    if (path.includes('//') && !request.is404) return reply.callNotFound()
    // Of a path with other methods only, the handler below knows the mode.
    const mode = request.is404
      ? methodsOf(request.url).cors
      : corsModeOf(routeOptions.url, routeOptions.config)
    reply.headers(corsHeaders(corsOf(request, mode, options)))
  })
  http.addHook('onRoute', (route) => {
    // Faults are listed below, with those that Fastify would not look for after the first ones.
    route.attachValidation = true
    // Routes outside the description have their own responses: `/readyz` answers 503 without an
    // envelope.
    if (route.schema === undefined || route.schema.hide === true) return
    const response = { ...REFUSALS, ...(route.schema.response as object | undefined) }
    route.schema = { ...route.schema, response }
  })
  http.addHook('preHandler', async (request) => {
    const faults = faultsOf(request)
    if (faults.length > 0) throw badRequest(faults)
  })
  http.addHook('onSend', async (request, reply, answer: Sent) => sentOf(answer, request, reply))
  http.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request
    // The pattern rather than the address: addresses of readers' pages can carry personal data.
    const [route, status] = [routeOptions.url, reply.statusCode]
    request.log.info({ method, route, status, ms: Math.round(reply.elapsedTime) }, 'request')
    const seconds = reply.elapsedTime / 1_000
    options.onAnswer?.({ requestId: request.id, route: route ?? 'none', status, seconds })
  })
}

/** A route without a body sends undefined. */
type Sent = string | Buffer | Readable | null | undefined

/** The rest of a response: all of it, also while its request is still arriving. */
function sentOf(answer: Sent, { raw }: FastifyRequest, reply: FastifyReply): Sent {
  if (!isStillComing(raw)) return answer
  reply.header('connection', 'close')
  if (answer instanceof Readable) return Readable.from(behindBody(raw, answer))
  const whole = answer ?? ''
  reply.header('content-length', Buffer.byteLength(whole))
  return Readable.from(behindBody(raw, [whole]))
}

/** One envelope for every error; 405 with Allow, and preflights, where only the method differs. */
function addErrorHandlers(http: Http, options: HttpOptions, methodsOf: MethodsOf): void {
  http.setErrorHandler((error, request, reply) => {
    const known =
      (error as FastifyError).code === 'FST_ERR_CTP_BODY_TOO_LARGE'
        ? tooLarge(request.routeOptions.bodyLimit)
        : toApiError(error as FastifyError, options)
    if (known.status >= 500) logFailure(request.log, error, known)
    reply.status(known.status).headers({ ...UNCACHED, ...known.headers })
    return reply.send(failure(known))
  })
  http.setNotFoundHandler((request, reply) => {
    const { methods, cors } = methodsOf(request.url)
    if (request.method === 'OPTIONS' && methods.length > 0) {
      reply.headers(preflightHeaders({ ...corsOf(request, cors, options), methods }))
      return reply.status(204).header('allow', methods.join(', ')).send()
    }
    // A route of this very method that found nothing itself, such as a file, says the same.
    if (methods.length === 0 || methods.includes(request.method)) {
      const page = pageFor(request, options)
      if (page !== null) return reply.status(page.status).headers(page.headers).send(page.body)
      throw notFound('No such path')
    }
    throw new ApiError('methodNotAllowed', { headers: { allow: methods.join(', ') } })
  })
}

/** For a reader with a damaged smart link, in a browser: programs do not ask for HTML. */
function pageFor(
  { method, url, headers }: FastifyRequest,
  { lostPage }: HttpOptions,
): HotReply | null {
  const isReading = method === 'GET' || method === 'HEAD'
  const isPerson = isReading && !url.startsWith('/api/') && headers.accept?.includes('text/html')
  return isPerson === true && lostPage !== undefined ? lostPage() : null
}

function firstLine(packet: unknown): string {
  return Buffer.isBuffer(packet) ? packet.toString('latin1', 0, HEADER_BYTES_MAX) : ''
}

/** A request that is not HTTP, or too long to parse, gets a response all the same. */
function refuseUnreadable(
  error: NodeJS.ErrnoException & { readonly rawPacket?: unknown },
  socket: Socket,
  { tooLongPage }: HttpOptions,
): void {
  // Time is up for connections, too, that browsers open ahead of need: an answer to nothing would
  // be taken for that of the next click. One that is closed is opened again.
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  if (error.code === 'ECONNRESET' || isLate || !socket.writable) {
    socket.destroy()
    return
  }
  const isTooLong = error.code === 'HPE_HEADER_OVERFLOW'
  const rule = isTooLong ? HEADER_RULE : 'is not valid HTTP'
  // The start of such a long header is mostly gone, with its path; API clients never send one.
  const path = /^[A-Z]+ (\S+)/.exec(firstLine(error.rawPacket))?.[1]
  const page = isTooLong && isReaderPath(path) ? tooLongPage?.() : undefined
  const reply = page ?? errorReply(badRequest([{ field: 'request', rule }]))
  const headers = {
    'x-content-type-options': 'nosniff',
    ...reply.headers,
    connection: 'close',
    'x-request-id': requestId(undefined),
    'content-length': String(Buffer.byteLength(reply.body ?? '')),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `${reply.status} ${STATUS_CODES[reply.status]}`
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${reply.body ?? ''}`)
}

/** `parse` reads the bodies of the routes of `app`; a body of another type is a 415. */
export function parseBodies(
  app: Http | Parameters<FastifyPluginAsyncTypebox>[0],
  parse: (body: Buffer, schema: PartSchema) => unknown,
): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      const { config, schema } = request.routeOptions
      // For a route that ignores its body, the body is not the fault. An empty one counts as none:
      // many clients name a type for every request.
      if (request.is404 || body.length === 0) return null
      config.charge?.(request, body.length)
      if (!isJsonBody(request.headers)) throw new ApiError('unsupportedMediaType')
      return parse(body, (schema?.body as PartSchema | undefined) ?? NO_FIELDS)
    },
  )
}

/** Of a body that no schema describes nothing is read. */
const NO_FIELDS: PartSchema = { type: 'object', properties: {} }

/** Remembers each route's methods, so that a wrong one is 405 with Allow rather than 404. */
function rememberRoutes(http: Http) {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string>; cors: CorsMode }>()
  http.addHook('onRoute', ({ url, method, config }) => {
    const source = url
      .replace(/\/+$/, '')
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
    const route = routes.getOrInsertComputed(source, () => ({
      pattern: new RegExp(`^${source}/?$`),
      methods: new Set(),
      cors: corsModeOf(url, config),
    }))
    for (const name of [method].flat()) route.methods.add(name)
  })
  return (url: string): { methods: string[]; cors: CorsMode } => {
    const path = url.split('?', 1)[0] ?? ''
    const found = [...routes.values()].filter(({ pattern }) => pattern.test(path))
    const methods = new Set(found.flatMap((route) => [...route.methods]))
    if (methods.size > 0) methods.add('OPTIONS')
    return { methods: [...methods], cors: found[0]?.cors ?? 'none' }
  }
}

/** Our own refusals are no failures: one line without a stack, however many there are. */
function logFailure(log: FastifyBaseLogger, error: unknown, known: ApiError): void {
  if (error === known) log.warn({ reason: known.message }, 'request turned away')
  else log.error({ err: error }, 'request failed')
}

function toApiError(error: FastifyError, { isUnavailable }: HttpOptions): ApiError {
  if (error instanceof ApiError) return error
  // A body that breaks off has the code of a lost connection, and a status, as no storage gives.
  const isOfRequest = error.statusCode !== undefined && error.statusCode < 500
  if (!isOfRequest && (isUnreachable(error) || isUnavailable?.(error))) {
    return new ApiError('unavailable', { headers: { 'retry-after': '1' } })
  }
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError('unsupportedMediaType')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return badRequest([{ field: 'body', rule: error.message }])
    default:
      return isOfRequest
        ? badRequest([{ field: 'request', rule: error.message }])
        : new ApiError('internal')
  }
}
