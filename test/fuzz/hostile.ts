/**
 * Bad input for any schema: every place of a body, and wrong values for it. The fuzz tests send it
 * to the running service.
 */
import assert from 'node:assert/strict'
import type { TSchema } from 'typebox'
import { ERRORS } from '../../src/platform/errors/api-errors.ts'
import type { Answer } from '../support/api.ts'
import fc from '../support/fast-check.ts'

export const RUNS = 200

/** A place of a schema: its path in a body and its type. */
interface Place {
  readonly path: readonly (string | number)[]
  readonly type: string
}

function placesOf(schema: TSchema, path: readonly (string | number)[] = []): Place[] {
  const { type, properties, items, anyOf } = schema as {
    type?: string
    properties?: Record<string, TSchema>
    items?: TSchema
    anyOf?: TSchema[]
  }
  // A union here is a type or null.
  const [first] = anyOf ?? []
  if (first !== undefined) return placesOf(first, path)
  const inside = Object.entries(properties ?? {}).flatMap(([name, inner]) =>
    placesOf(inner, [...path, name]),
  )
  const element = items === undefined ? [] : placesOf(items, [...path, 0])
  return [{ path, type: type ?? 'unknown' }, ...inside, ...element]
}

/** Values of other types; null is separate, because some fields may be null. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  string: ['text', ''],
  integer: [5, -1, 2 ** 53],
  number: [1.5, 1e300],
  boolean: [true, false],
  array: [[], [[]], ['x']],
  object: [{}, { toString: 1, hasOwnProperty: 'x' }],
}
const wrongFor = (type: string) =>
  fc.constantFrom(
    ...Object.entries(VALUES)
      .filter(([name]) => name !== type)
      .flatMap(([, values]) => values),
  )

/** The same value with one place replaced. */
function replaced(
  value: unknown,
  [step, ...rest]: readonly (string | number)[],
  by: unknown,
): unknown {
  if (step === undefined) return by
  if (Array.isArray(value)) {
    return value.map((item, at) => (at === step ? replaced(item, rest, by) : item))
  }
  const record = value as Record<string, unknown>
  return { ...record, [step]: replaced(record[step], rest, by) }
}

/** `['links', 0, 'raw_url']` → `links[0].raw_url`; the whole body is `body`. */
function fieldOf(path: readonly (string | number)[]): string {
  const text = path.reduce<string>(
    (before, step) =>
      typeof step === 'number' ? `${before}[${step}]` : before === '' ? step : `${before}.${step}`,
    '',
  )
  return text === '' ? 'body' : text
}

/** Values that a client may send by accident or on purpose. */
const strange = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.constantFrom('__proto__', 'constructor', 'https://', 'http://[::1', 'https://\ud800.example'),
)

/** Checks a refusal in the envelope; a 400 lists its faults, each a field and a rule. */
export function checkRefusal(answer: Answer): string[] {
  assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.text}`)
  const { code, data, fields } = answer.failure()
  if (answer.status !== 400) return fields
  assert.equal(code, 4000)
  assert.ok(Array.isArray(data) && data.length > 0, answer.text)
  for (const { field, rule } of data) {
    assert.equal(typeof field, 'string')
    assert.ok(field !== '' && typeof rule === 'string' && rule !== '', answer.text)
  }
  return fields
}

export interface Endpoint {
  readonly path: string
  readonly schema: TSchema
  readonly good: object // A valid body.
}

/** Endpoints, how they are called, and the state that a refused call must leave untouched. */
export interface Target<One extends Endpoint> {
  readonly endpoints: readonly One[]
  readonly send: (endpoint: One, body: unknown) => Promise<Answer>
  readonly state: () => Promise<unknown>
}

/** Each place of each body. */
const casesOf = <One extends Endpoint>({ endpoints }: Target<One>) =>
  endpoints.flatMap((endpoint) => placesOf(endpoint.schema).map((place) => ({ endpoint, place })))

/** Sign-ins are limited by design. */
const isLimited = ({ path }: Endpoint, { status }: Answer) =>
  status === 429 && path.includes('login')

/** Any JSON at any place of a body: never a 5xx, and a refusal changes nothing. */
export function answersAnything<One extends Endpoint>(target: Target<One>): Promise<void> {
  const { send, state } = target
  return fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...casesOf(target)),
      strange,
      async ({ endpoint, place }, by) => {
        const before = await state()
        const answer = await send(endpoint, replaced(endpoint.good, place.path, by))
        assert.ok(answer.status < 500, answer.text)
        if (answer.status < 400) return
        checkRefusal(answer)
        assert.deepEqual(await state(), before)
      },
    ),
    { numRuns: RUNS },
  )
}

/** A value of a wrong type at any place: a 400 that names it and changes nothing. */
export function refusesWrongTypes<One extends Endpoint>(
  target: Target<One>,
  isTaken: (type: string, by: unknown) => boolean,
): Promise<void> {
  const { send, state } = target
  const given = fc
    .constantFrom(...casesOf(target))
    .chain(({ endpoint, place }) => wrongFor(place.type).map((by) => ({ endpoint, place, by })))
  return fc.assert(
    fc.asyncProperty(given, async ({ endpoint, place, by }) => {
      if (isTaken(place.type, by)) return
      const before = await state()
      const answer = await send(endpoint, replaced(endpoint.good, place.path, by))
      const fields = checkRefusal(answer)
      if (isLimited(endpoint, answer)) return
      assert.equal(answer.status, 400, answer.text)
      const field = fieldOf(place.path)
      const isNamed = (name: string) => name === field || /^[.[]/.test(name.slice(field.length))
      assert.ok(
        fields.some((name) => name.startsWith(field) && isNamed(name)) || field === 'body',
        `${field} is not among ${fields}`,
      )
      assert.deepEqual(await state(), before)
    }),
    { numRuns: RUNS },
  )
}

const MILLION = 1_000_000
/** Routes whose bodies may not have as many bytes (docs/spec/limits.md#bodies). */
const SHORT_BODIES = /\/(session(\/password(_reset)?)?|impressions\/\w+|page_view)\/$/

/** A text of a million characters anywhere in a body: a 400 that names it briefly. */
export async function refusesLongTexts<One extends Endpoint>(target: Target<One>): Promise<void> {
  for (const { endpoint, place } of casesOf(target)) {
    if (place.path.length === 0) continue
    const answer = await target.send(
      endpoint,
      replaced(endpoint.good, place.path, 'x'.repeat(MILLION)),
    )
    if (isLimited(endpoint, answer)) continue
    const field = fieldOf(place.path)
    if (SHORT_BODIES.test(endpoint.path)) {
      assert.equal(answer.failure().code, ERRORS.tooLarge.code, `${endpoint.path} ${field}`)
      continue
    }
    if (field.endsWith('.raw_url')) {
      // LinkMate leaves out an entry that is no URL, however long it is.
      assert.equal(answer.status, 200, answer.text.slice(0, 300))
      continue
    }
    assert.equal(answer.status, 400, `${endpoint.path} ${field} ${answer.text.slice(0, 300)}`)
    // An entry of a list of texts may be reported under its list.
    const names = place.type === 'string' ? [field, field.replace(/\[\d+\]$/, '')] : [field]
    assert.ok(
      answer.failure().fields.some((name) => names.includes(name)),
      answer.text,
    )
    assert.ok(answer.text.length < 10_000, 'the error does not repeat the input')
  }
}
