/**
 * Makes the generated description fit for people and code generators: every operation has a tag by
 * audience, schemas have names, and bodies and answers have examples.
 *
 * Pure: a plain document in, a plain document out.
 */
import { exampleOf, type Schema } from '../dashboard/docs/schema-fields.ts'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type JsonObject = { [name: string]: Json }

/** Who calls an operation; the order of the reference. */
const TAGS = {
  account: 'The signed-in user, members, invitations, keys',
  publishers: 'A publisher’s links, figures, reports and settings',
  merchants: 'A merchant’s campaigns, feed, orders and account',
  network: 'For the operator of the network',
  readers: 'Called from readers’ browsers by the page tag and smart links, without a key',
} as const

/** The audience of an operation that names none, by its path. */
const AUDIENCES: readonly (readonly [RegExp, keyof typeof TAGS])[] = [
  [/^\/api\/v1\/(me|session|invitations|tokeninfo)\//, 'account'],
  [/^\/api\/v1\/(network|reversals)\//, 'network'],
  [/^\/api\/v1\/(merchants\/|events\/conversions)/, 'merchants'],
  [/^\/api\/v1\/(events|auction|redirect|placements?)\//, 'readers'],
  [/^\/api\/v1\//, 'publishers'],
  [/./, 'readers'],
]

/** A file of any type. The description of its operation says which files it reads. */
const FILE_BODY = {
  required: false,
  content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
}

/** Objects with fewer properties are as easy to read in place. */
const NAMED_FROM_PROPERTIES = 3

/** The document with tags, named schemas and examples. Throws where an operation has no id. */
export function describeApi(document: object): object {
  const api = structuredClone(document) as JsonObject
  const names = new SchemaNames()
  // The dashboard's own routes are internal and may change with it.
  api.paths = Object.fromEntries(
    Object.entries(api.paths as JsonObject).filter(([path]) => !path.startsWith('/dashboard/')),
  )
  for (const [path, operation] of operationsOf(api)) {
    const id = operation.operationId
    if (typeof id !== 'string') throw new Error(`${path}: an operation without an id`)
    operation.tags ??= [AUDIENCES.find(([pattern]) => pattern.test(path))?.[1] ?? 'publishers']
    if (operation['x-takes-file'] === true) operation.requestBody = FILE_BODY
    delete operation['x-takes-file']
    for (const content of contentsOf(operation.requestBody)) {
      addExample(content)
      content.schema = names.named(content.schema as Json, `${capital(id)}Body`)
    }
    for (const [status, response] of Object.entries((operation.responses ?? {}) as JsonObject)) {
      for (const content of contentsOf(response)) {
        if (status.startsWith('2')) addExample(content)
        content.schema = names.envelope(content.schema as Json, nounOf(id), status)
      }
    }
  }
  const components = (api.components ?? {}) as JsonObject
  api.tags = Object.entries(TAGS).map(([name, description]) => ({ name, description }))
  api.components = { ...components, schemas: names.schemas() }
  return api
}

function* operationsOf(api: JsonObject): Generator<[path: string, operation: JsonObject]> {
  for (const [path, methods] of Object.entries(api.paths as JsonObject)) {
    for (const operation of Object.values(methods as JsonObject)) {
      yield [path, operation as JsonObject]
    }
  }
}

/** JSON contents of a body or a response. */
function contentsOf(holder: Json | undefined): JsonObject[] {
  const content = (holder as JsonObject | undefined)?.content as JsonObject | undefined
  const json = content?.['application/json'] as JsonObject | undefined
  return json === undefined ? [] : [json]
}

function addExample(content: JsonObject): void {
  content.example = exampleOf(content.schema as Schema) as Json
}

/** Gives equal schemas one name, and different ones different names. */
class SchemaNames {
  readonly #byText = new Map<string, string>()
  readonly #schemas = new Map<string, Json>()

  schemas(): JsonObject {
    return Object.fromEntries(
      [...this.#schemas].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    )
  }

  /** An answer: its entries have names, and so does the envelope of errors. */
  envelope(schema: Json, noun: string, status: string): Json {
    if (!isObject(schema)) return schema
    if (!status.startsWith('2')) return this.named(schema, 'ErrorAnswer')
    const properties = { ...(schema.properties as JsonObject | undefined) }
    const data = properties.data
    if (properties.info === undefined || !isObject(data)) return this.named(schema, noun)
    properties.info = this.named(properties.info, 'Info', 1)
    properties.data = { ...data, items: this.named(data.items as Json, noun) }
    return { ...schema, properties }
  }

  /** A reference to the schema under a name, if it is an object worth naming. */
  named(schema: Json, name: string, from = NAMED_FROM_PROPERTIES): Json {
    if (!isObject(schema)) return schema
    const inner = this.#inside(schema, name)
    const properties = Object.keys((inner.properties ?? {}) as JsonObject)
    if (properties.length < from) return inner
    const text = JSON.stringify(inner)
    const known = this.#byText.get(text) ?? this.#free(name)
    this.#byText.set(text, known)
    this.#schemas.set(known, inner)
    return { $ref: `#/components/schemas/${known}` }
  }

  /** The same schema with its own objects named after their fields. */
  #inside(schema: JsonObject, name: string): JsonObject {
    const inner = { ...schema }
    if (isObject(inner.properties)) {
      inner.properties = Object.fromEntries(
        Object.entries(inner.properties).map(([field, child]) => [
          field,
          this.named(child, `${name}${pascal(field)}`),
        ]),
      )
    }
    if (isObject(inner.items)) inner.items = this.named(inner.items, name)
    for (const union of ['anyOf', 'oneOf'] as const) {
      const forms = inner[union]
      if (Array.isArray(forms)) inner[union] = forms.map((form) => this.named(form, name))
    }
    return inner
  }

  #free(name: string): string {
    if (!this.#schemas.has(name)) return name
    for (let number = 2; ; number += 1) {
      if (!this.#schemas.has(`${name}${number}`)) return `${name}${number}`
    }
  }
}

const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const pascal = (field: string): string => field.split('_').map(capital).join('')

/** What an operation answers, from its id: `listMembers` has a Member, `readMe` a Me. */
function nounOf(id: string): string {
  const noun = id.replace(/^[a-z]+(?=[A-Z])/, '')
  const isList = /^(list|search|find)/.test(id)
  return isList ? noun.replace(/ies$/, 'y').replace(/(?<=[a-rt-z])s$/, '') : noun
}
