/**
 * Which origins may read an answer in a browser: docs/spec/interface.md#cors.
 *
 * `open`: endpoints that any publisher's page calls. They echo the origin and never read a cookie.
 * `account`: the origins that the operator configured. `none`: routes that read the session.
 * `files`: the same header for everybody. Many CDNs ignore `Vary: Origin` and would serve one
 * page's origin to all others, whose browsers would then refuse a tag with `crossorigin`.
 */
export type CorsMode = 'open' | 'files' | 'account' | 'none'

const PREFLIGHT_SECONDS = 86_400
/** Headers that a script needs to retry in time and to report a failure. */
const EXPOSED = 'x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset'

export interface CorsOptions {
  readonly mode: CorsMode
  readonly origin: string | undefined
  readonly allowedOrigins: readonly string[]
}

/** Headers of any answer to a request from `origin`. */
export function corsHeaders({ mode, origin, allowedOrigins }: CorsOptions): Record<string, string> {
  if (mode === 'none') return {}
  if (mode === 'files') return { 'access-control-allow-origin': '*' }
  if (origin === undefined) return { vary: 'Origin' }
  if (mode === 'account' && !allowedOrigins.includes(origin)) return { vary: 'Origin' }
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED,
  }
}

/** Headers of the answer to a preflight request. */
export function preflightHeaders(
  options: CorsOptions & { methods: readonly string[] },
): Record<string, string> {
  const headers = corsHeaders(options)
  if (headers['access-control-allow-origin'] === undefined) return headers
  return {
    ...headers,
    'access-control-allow-methods': options.methods.join(', '),
    'access-control-allow-headers': 'content-type, authorization',
    'access-control-max-age': String(PREFLIGHT_SECONDS),
  }
}
