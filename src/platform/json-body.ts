/** Bodies as JSON: what counts as such, and what of it no field may hold. */
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, badRequest } from './errors.ts'
import { TEXT_WITH_NUL } from './validation.ts'

/** Reads a request's JSON body; throws ApiError. */
export function readJson(request: { headers: IncomingHttpHeaders; body: Buffer | null }): unknown {
  if (!isJsonBody(request.headers)) throw new ApiError('unsupportedMediaType')
  return parseJson(request.body ?? Buffer.alloc(0))
}

/**
 * JSON comes as application/json or text/plain; beacons send the latter. Our choice: a body that
 * names no type is taken for JSON too, because clients of a JSON interface forget the header. A
 * compressed one is no JSON: unpacked, it could be a thousand times its size.
 */
export function isJsonBody(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (coding !== 'identity') return false
  return type === undefined || type === 'application/json' || type === 'text/plain'
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** JSON from bytes; throws ApiError. */
export function parseJson(body: Uint8Array): unknown {
  try {
    const text = utf8.decode(body)
    return JSON.parse(text, reviverOf(text))
  } catch (error) {
    throw badRequest([{ field: 'body', rule: whyUnreadable(error) }])
  }
}

function whyUnreadable(error: unknown): string {
  if (error instanceof TypeError) return 'is not valid UTF-8'
  // A reviver calls itself at every level.
  return error instanceof RangeError ? 'is nested too deeply' : 'is not valid JSON'
}

type Reviver = (this: unknown, key: string, value: unknown) => unknown

// A reviver visits every value; only bodies that hold one of these words pay for it.
function reviverOf(text: string): Reviver | undefined {
  return text.includes('__proto__') || text.includes('\\u0000') ? tame : undefined
}

const tame: Reviver = (key, value) => {
  if (key === '__proto__') return undefined
  return typeof value === 'string' && value.includes('\0') ? TEXT_WITH_NUL : value
}
