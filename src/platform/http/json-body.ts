/** Reads bodies as JSON, and refuses values that no field may contain. */
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, badRequest } from '../errors/api-errors.ts'
import { decodeJson } from './decode-json.ts'
import { type PartSchema, unknownFields } from './known-fields.ts'
import { LargeJson } from './large-json.ts'
import { TEXT_WITH_NUL } from './validation.ts'

/** Larger bodies are parsed on another thread. One of this size takes at most 2 ms here. */
export const SMALL_BODY_BYTES_MAX = 32_768

/** One thread for all servers of a process. */
const large = new LargeJson()

/** Beacons send text/plain, and clients of PATCH the type of RFC 7396. */
const JSON_TYPES = new Set(['application/json', 'text/plain', 'application/merge-patch+json'])

/**
 * JSON comes under several types. Our choice: a body that
 * names no type is taken for JSON too, because clients of a JSON interface forget the header. A
 * compressed one is no JSON: unpacked, it could be a thousand times its size.
 */
export function isJsonBody(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (coding !== 'identity') return false
  return type === undefined || JSON_TYPES.has(type)
}

/** Reads a hot request's JSON body as `parseBody` does; throws ApiError. */
export function readJson(
  request: { headers: IncomingHttpHeaders; body: Buffer | null },
  schema: PartSchema,
): unknown {
  if (!isJsonBody(request.headers)) throw new ApiError('unsupportedMediaType')
  return parseBody(request.body ?? Buffer.alloc(0), schema)
}

/**
 * JSON from bytes; throws ApiError. A large body is read later, and only the fields in the schema:
 * no other field may be read, whatever the size.
 */
export function parseBody(body: Uint8Array, schema: PartSchema): unknown {
  if (body.length <= SMALL_BODY_BYTES_MAX) return parseJson(body)
  return large.reduce(body, schema).then(({ text }) => parseJson(Buffer.from(text)))
}

/** The same, and the names of fields that the schema does not know: some callers report them. */
export async function parseNoting(
  body: Uint8Array,
  schema: PartSchema,
): Promise<{ readonly value: unknown; readonly unknown: readonly string[] }> {
  if (body.length > SMALL_BODY_BYTES_MAX) {
    const { text, unknown } = await large.reduce(body, schema)
    return { value: parseJson(Buffer.from(text)), unknown }
  }
  const value = parseJson(body)
  return { value, unknown: unknownFields(schema, value) }
}

/** JSON from bytes at once; throws ApiError. */
export function parseJson(body: Uint8Array): unknown {
  const read = decodeJson(body, reviverOf)
  if ('rule' in read) throw badRequest([{ field: 'body', rule: read.rule }])
  return read.value
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
