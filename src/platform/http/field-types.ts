/**
 * Schemas of fields that many bodies and answers share: URLs, timestamps, nullable fields.
 *
 * Each rule is in the schema, so one answer can list the faults of all fields.
 */
import Type, { type TSchema } from 'typebox'
import { isId, SMALL_ID_MAX } from '../ids.ts'
import { parseDollars } from '../money/money.ts'
import {
  fitsUrlLimits,
  MAX_URL_CHARACTERS,
  MAX_URL_ENCODED_BYTES,
  parseWebUrl,
} from '../net/url.ts'
import { characterCount } from '../text/characters.ts'
import { parseTimestamp, TIMESTAMP_RULE } from '../time/timestamp.ts'
import { ID_PATTERN, ID_RULE } from './pattern.ts'

/** The longest form in use has about 40 characters. */
const TIMESTAMP_LENGTH_MAX = 64

const URL_WORDS = 'an absolute http(s) URL'
export const WEB_URL_RULE = `must be ${URL_WORDS}`
const URL_LENGTH_RULE = `must not have more than ${MAX_URL_CHARACTERS} characters`
export const URL_SIZE_RULE = `must have at most ${MAX_URL_ENCODED_BYTES} bytes percent-encoded`

/** An absolute http(s) URL that fits into a link and into the redirect URL that carries it. */
export function webUrl(description?: string) {
  return Type.Refine(
    urlText(description),
    // Other types also reach this check; they have separate faults.
    (value) => typeof value !== 'string' || (isWebUrl(value) && fitsUrlLimits(value)),
    (value) => (isWebUrl(value) ? URL_SIZE_RULE : WEB_URL_RULE),
  )
}

/** Any text in place of a URL; if it is one, it must fit into a link. */
export function rawUrl() {
  return Type.Refine(
    Type.String(),
    // Up to 500 values are checked at once, so the cheap test comes first.
    (value) => typeof value !== 'string' || fitsUrlLimits(value) || !isWebUrl(value),
    (value) => (characterCount(value) > MAX_URL_CHARACTERS ? URL_LENGTH_RULE : URL_SIZE_RULE),
  )
}

/** A 64-bit id as text, because a JavaScript number would corrupt it. */
export function idText(description?: string) {
  return Type.Refine(
    Type.String(describe({ pattern: ID_PATTERN }, description)),
    (value) => typeof value !== 'string' || isId(value),
    () => ID_RULE,
  )
}

/** An id of a 32-bit column. */
export const smallId = Type.Integer({ minimum: 1, maximum: SMALL_ID_MAX })

/** ISO 8601 with an offset or Z, or a plain date. */
export function timestamp(description?: string) {
  return Type.Refine(
    Type.String(describe({ maxLength: TIMESTAMP_LENGTH_MAX }, description)),
    (value) => typeof value !== 'string' || parseTimestamp(value) !== null,
    () => TIMESTAMP_RULE,
  )
}

export function orNull<T extends TSchema>(schema: T, description?: string) {
  return Type.Union([schema, Type.Null()], describe({}, description))
}

export const TextOrNull = orNull(Type.String())

/** A time in an answer. */
export const Time = Type.String({ format: 'date-time' })
export const TimeOrNull = orNull(Time)

export const Dollars = Type.String({ description: 'US dollars, exact' })

/** An amount as a client writes it; `parseDollars` reads it. */
export function dollars(description?: string) {
  const words = description === undefined ? '' : `${description}; `
  return Type.Refine(
    Type.String({ description: `${words}US dollars, such as 0.60` }),
    (value) => typeof value !== 'string' || parseDollars(value) !== null,
    () => 'must be US dollars as text, such as "0.60", with at most six decimals',
  )
}

function isWebUrl(text: string): boolean {
  return parseWebUrl(text) !== null
}

function urlText(words?: string) {
  const description = words === undefined ? URL_WORDS : `${words}; ${URL_WORDS}`
  return Type.String({ minLength: 1, maxLength: MAX_URL_CHARACTERS, description })
}

function describe<T extends object>(options: T, description: string | undefined) {
  return description === undefined ? options : { ...options, description }
}
