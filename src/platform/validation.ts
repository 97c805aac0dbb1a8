/**
 * Schemas at work: a TypeBox schema becomes a check that lists every fault as {field, rule}.
 *
 * Query strings are text on the wire; integers and booleans of a schema are read strictly before
 * the check ("1e3" is no integer), so that routes get typed values and never convert themselves.
 */
import type { FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { Pointer } from 'typebox/value'
import { FAULTS_MAX, type Fault } from './errors.ts'
import { knownFields } from './known-fields.ts'
import { patternRule } from './pattern.ts'

/** Left alone, the library stops after eight. A branch of a union tells an error of its own. */
Settings.Set({ maxErrors: 4 * FAULTS_MAX })

/**
 * Stands in a parsed body or query for a text that holds U+0000, which PostgreSQL's text cannot:
 * every field with a schema refuses it, and unknown ones are ignored whatever they hold.
 */
export const TEXT_WITH_NUL = Symbol('text with U+0000')
/** Stands for a parameter that a query gives several times: which one counts is not guessed. */
const REPEATED = Symbol('given several times')
const RULES: ReadonlyMap<unknown, string> = new Map([
  [TEXT_WITH_NUL, 'must not hold U+0000'],
  [REPEATED, 'must be given once'],
])

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * What schemas cannot say: faults between fields, or that the key's holder shows. Asked about
     * requests with other faults too, so no field is sure to be there or of its type.
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
  /** Everything that is wrong; none when the value is good. */
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
 * Every fault of a request: of each part by its schema, then by the route's rules. (Fastify stops
 * at the first part that has any.)
 */
export function faultsOf(request: FastifyRequest): Fault[] {
  const found = request.validationError === undefined ? [] : schemaFaults(request)
  const { rules } = request.routeOptions.config
  return addFaults(found, rules?.(request) ?? [])
}

/** The faults that a schema found and those of rules beyond it: a field has one at most. */
export function addFaults(found: readonly Fault[], further: readonly Fault[]): Fault[] {
  const fields = new Set(found.map(({ field }) => field))
  return [...found, ...further.filter(({ field }) => !fields.has(field))]
}

/** What rules look at of a value that should be a list: as much as it may hold, if it is one. */
export function listOf(value: unknown, lengthMax: number): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, lengthMax) : []
}

function schemaFaults(request: FastifyRequest): Fault[] {
  return Object.entries(PARTS).flatMap(([part, property]) => {
    const check = request.getValidationFunction(part as keyof typeof PARTS)
    if (check === undefined) return []
    const { value, error } = check(request[property]) as unknown as Checked
    if (property === 'query') request.query = value // The rules read it as the route would.
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
      // Each branch of a union of words tells of its own: together they say what is wanted.
      const words = [...(allowed.get(field) ?? []), JSON.stringify(error.params.allowedValue)]
      allowed.set(field, words)
      faults.set(field, { field: field || 'body', rule: `must be ${words.join(' or ')}` })
    } else if (!faults.has(field)) {
      // Of the branches of a union the first says what is wanted (text, rather than null).
      faults.set(field, { field: field || 'body', rule: ruleOf(error) })
    }
  }
  return [...faults.values()]
}

/**
 * That a value is not null, and that no branch fits: both only repeat what the branch that was
 * meant says, which may be about a field further in.
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
    // An empty parameter is the same as none (decisions, Paths), also beside one that is not.
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
