/**
 * Turns a TypeBox schema into a check that lists every fault as {field, rule}.
 *
 * Query strings are text on the wire. Integers and booleans of a schema are parsed strictly before
 * the check ("1e3" is not an integer), so that routes get typed values.
 */
import type { FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { Pointer } from 'typebox/value'
import { FAULTS_MAX, type Fault } from '../errors/api-errors.ts'
import { knownFields } from './known-fields.ts'
import { patternRule } from './pattern.ts'

/** By default the library stops after eight errors, and each branch of a union reports its own. */
Settings.Set({ maxErrors: 4 * FAULTS_MAX })

/**
 * Replaces a text with U+0000 in a parsed body or query, because PostgreSQL's text cannot contain
 * it. Every field with a schema refuses it, and unknown fields are ignored.
 */
export const TEXT_WITH_NUL = Symbol('text with U+0000')
/**
 * Replaces a query parameter that appears several times, because it is unclear which one counts.
 */
const REPEATED = Symbol('given several times')
const RULES: ReadonlyMap<unknown, string> = new Map([
  [TEXT_WITH_NUL, 'must not hold U+0000'],
  [REPEATED, 'must be given once'],
])

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Faults that schemas cannot express: between fields, or with the key's holder. Called for
     * requests with other faults too, so a field may be missing or have the wrong type.
     */
    rules?: (request: FastifyRequest) => readonly Fault[]
  }
}

class ValidationError extends Error {
  override name = 'ValidationError'
  readonly faults: readonly Fault[]
  constructor(faults: readonly Fault[]) {
    super('validation')
    this.faults = faults
  }
}

export interface Check<T> {
  readonly isGood: (value: unknown) => value is T
  /** All faults; empty if the value is valid. */
  readonly faults: (value: unknown) => Fault[]
}

/** Compiles a schema once. */
export function compileCheck<Schema extends TSchema>(schema: Schema): Check<Static<Schema>> {
  const check = Compile(schema)
  return {
    isGood: (value): value is Static<Schema> => check.Check(value),
    faults: (value) => {
      if (check.Check(value)) return []
      const cut = knownFields(schema, value)
      return toFaults(check.Errors(cut), cut)
    },
  }
}

export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const { faults: faultsOfPart } = compileCheck(schema)
  return (value) => {
    const read = httpPart === 'body' ? value : readText(schema, value as Record<string, unknown>)
    const faults = faultsOfPart(read)
    if (faults.length > 0) return { value: read, error: new ValidationError(faults) }
    return { value: httpPart === 'body' ? knownFields(schema, read) : read }
  }
}

const PARTS = { params: 'params', querystring: 'query', headers: 'headers', body: 'body' } as const

/**
 * All faults of a request: of each part by its schema, then by the route's rules. (Fastify stops at
 * the first faulty part.)
 */
export function faultsOf(request: FastifyRequest): Fault[] {
  const found = request.validationError === undefined ? [] : schemaFaults(request)
  const { rules } = request.routeOptions.config
  return addFaults(found, rules?.(request) ?? [])
}

/** The faults found by a schema and those of further rules, at most one per field. */
export function addFaults(found: readonly Fault[], further: readonly Fault[]): Fault[] {
  const fields = new Set(found.map(({ field }) => field))
  return [...found, ...further.filter(({ field }) => !fields.has(field))]
}

/**
 * The items of a value that should be a list, up to its maximum length; empty if it is not a list.
 */
export function listOf(value: unknown, lengthMax: number): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, lengthMax) : []
}

function schemaFaults(request: FastifyRequest): Fault[] {
  return Object.entries(PARTS).flatMap(([part, property]) => {
    const check = request.getValidationFunction(part as keyof typeof PARTS)
    if (check === undefined) return []
    const { value, error } = check(request[property]) as unknown as Checked
    if (property === 'query') request.query = value // The rules read the query as the route would.
    return error?.faults ?? []
  })
}

interface Checked {
  readonly value: unknown
  readonly error?: ValidationError
}

interface SchemaError {
  readonly keyword: string
  readonly schemaPath: string
  readonly instancePath: string
  readonly message: string
  readonly params: object
}

function toFaults(errors: readonly SchemaError[], value: unknown): Fault[] {
  const faults = new Map<string, Fault>()
  const allowed = new Map<string, string[]>()
  for (const error of errors.filter((one) => !isEchoOfUnion(one))) {
    const field = fieldName(error.instancePath)
    const missing = 'requiredProperties' in error.params ? error.params.requiredProperties : null
    const standsFor = RULES.get(Pointer.Get(value, error.instancePath))
    if (standsFor !== undefined) {
      faults.set(field, { field: field || 'body', rule: standsFor })
    } else if (Array.isArray(missing)) {
      for (const name of missing) {
        const path = field === '' ? String(name) : `${field}.${name}`
        faults.set(path, { field: path, rule: 'is required' })
      }
    } else if ('allowedValue' in error.params && (!faults.has(field) || allowed.has(field))) {
      // Each branch of a union of words reports its own error. Together they list the allowed
      // words.
      const words = [...(allowed.get(field) ?? []), JSON.stringify(error.params.allowedValue)]
      allowed.set(field, words)
      faults.set(field, { field: field || 'body', rule: `must be ${words.join(' or ')}` })
    } else if ('allowedValues' in error.params && Array.isArray(error.params.allowedValues)) {
      const words = error.params.allowedValues.map((word) => JSON.stringify(word))
      faults.set(field, { field: field || 'body', rule: `must be ${words.join(' or ')}` })
    } else if (!faults.has(field)) {
      // The first branch of a union names the expected type (text, rather than null).
      faults.set(field, { field: field || 'body', rule: ruleOf(error) })
    }
  }
  return [...faults.values()]
}

/**
 * Errors that a value is not null, or that no branch fits. Both only repeat the error of the
 * intended branch, which may be about a nested field.
 */
function isEchoOfUnion({ keyword, schemaPath, params }: SchemaError): boolean {
  const isNullBranch = /\/anyOf\/\d+$/.test(schemaPath) && 'type' in params
  return keyword === 'anyOf' || (isNullBranch && params.type === 'null')
}

function ruleOf({ message, params }: SchemaError): string {
  return 'pattern' in params ? patternRule(String(params.pattern)) : message
}

/** `/links/3/raw_url` → `links[3].raw_url` */
function fieldName(instancePath: string): string {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => {
      if (/^\d+$/.test(part)) return `${path}[${part}]`
      return path === '' ? part : `${path}.${part}`
    }, '')
}

const INTEGER = /^-?\d+$/

function readText(schema: TSchema, value: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {}
  const read: Record<string, unknown> = Object.create(null)
  for (const [name, given] of Object.entries(value)) {
    // An empty parameter counts as absent, also beside a filled one.
    const [item, ...others] = [given].flat().filter((text) => text !== '')
    if (item === undefined) continue
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined
    if (others.length > 0) read[name] = REPEATED
    else if (typeof item !== 'string') read[name] = item
    else if (item.includes('\0')) read[name] = TEXT_WITH_NUL
    else if (type === 'integer' && INTEGER.test(item)) read[name] = Number(item)
    else if (type === 'boolean' && /^(true|1)$/i.test(item)) read[name] = true
    else if (type === 'boolean' && /^(false|0)$/i.test(item)) read[name] = false
    else read[name] = item
  }
  return read
}
