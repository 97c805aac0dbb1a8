/**
 * Every error of the API: one table of code, status and message.
 *
 * `ApiError` contains what the caller may know. Details for the operator go to the log.
 */
export const ERRORS = {
  badRequest: { status: 400, code: 4000, message: 'The request is not valid' },
  invalidApiKey: { status: 401, code: 4302, message: 'Invalid API token' },
  notLoggedIn: { status: 401, code: 4301, message: 'Log in first' },
  notYours: {
    status: 403,
    code: 4303,
    message: 'No organization of yours, or of the API key, has this id',
  },
  notPartner: {
    status: 403,
    code: 4304,
    message: 'The account is not a member of the partner program',
  },
  foreignOrigin: {
    status: 403,
    code: 4309,
    message: 'The dashboard answers only calls that come from its own pages',
  },
  badSignature: { status: 401, code: 4306, message: 'The signature of the request does not hold' },
  foreignPage: {
    status: 403,
    code: 4307,
    message: 'Pages of this origin may not report orders of this merchant',
  },
  roleForbids: { status: 403, code: 4305, message: 'Your role does not allow it' },
  notFound: { status: 404, code: 4040, message: 'Not found' },
  methodNotAllowed: { status: 405, code: 4050, message: 'Method not allowed' },
  idempotencyConflict: {
    status: 409,
    code: 4090,
    message: 'The Idempotency-Key was used before with another body',
  },
  wrongState: { status: 409, code: 4091, message: 'The state of the record does not allow it' },
  replayed: { status: 409, code: 4093, message: 'This signed request was received before' },
  stillAtWork: {
    status: 409,
    code: 4092,
    message: 'The same request is still at work; retry shortly',
  },
  changedMeanwhile: {
    status: 412,
    code: 4120,
    message: 'The record was changed meanwhile: read it again, and send its new etag',
  },
  tooLarge: { status: 413, code: 4130, message: 'The body is over the limit of 1 MiB' },
  unsupportedMediaType: {
    status: 415,
    code: 4150,
    message: 'The body must be uncompressed JSON: application/json, or text/plain holding JSON',
  },
  rateLimited: { status: 429, code: 4290, message: 'Too many requests; retry later' },
  internal: { status: 500, code: 5000, message: 'Something failed on our side' },
  unavailable: { status: 503, code: 5030, message: 'Storage is out of reach; retry shortly' },
} as const
export type ErrorName = keyof typeof ERRORS

/** One fault of a request: the field (a path such as `links[3].raw_url`) and the rule. */
export interface Fault {
  readonly field: string
  readonly rule: string
}

export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly code: number
  readonly data: unknown
  readonly headers: Readonly<Record<string, string>>
  constructor(
    name: ErrorName,
    options: { message?: string; data?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(options.message ?? ERRORS[name].message)
    this.status = ERRORS[name].status
    this.code = ERRORS[name].code
    this.data = options.data ?? null
    this.headers = options.headers ?? {}
  }
}

/** A 404 that names what was not found. */
export function notFound(message: string): ApiError {
  return new ApiError('notFound', { message })
}

/** A 409 for a record whose state does not allow the change; the fault names its field. */
export function wrongState(fault: Fault): ApiError {
  return new ApiError('wrongState', { message: `${fault.field}: ${fault.rule}`, data: [fault] })
}

/** A 413 that names the maximum size. */
export function tooLarge(bytesMax: number): ApiError {
  const size = bytesMax % MIB === 0 ? `${bytesMax / MIB} MiB` : `${bytesMax / KIB} KiB`
  return new ApiError('tooLarge', { message: `The body is over the limit of ${size}` })
}

const KIB = 1_024
const MIB = 1_048_576

/** A 400 with every fault. The message repeats the first ones for people. */
export function badRequest(faults: readonly Fault[]): ApiError {
  const shown = faults.slice(0, FAULTS_SHOWN).map(({ field, rule }) => `${field}: ${rule}`)
  const more = faults.length - shown.length
  return new ApiError('badRequest', {
    message: [...shown, ...(more > 0 ? [`and ${more} more, see error.data`] : [])].join('; '),
    data: faults.slice(0, FAULTS_MAX),
  })
}

const FAULTS_SHOWN = 3 // A message is for reading; error.data contains the rest.
/** Every fault of the longest list (500 links with two fields). 1 MiB could contain many more. */
export const FAULTS_MAX = 1_000
