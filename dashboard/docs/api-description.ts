/** The parts of openapi.json that the reference shows. */
import { exampleOf, type Schema } from './schema-fields.ts'

export interface OpenApi {
  readonly info: { readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'place'>>>>>
}

export interface Operation {
  readonly place: { readonly method: string; readonly path: string }
  readonly operationId: string
  readonly tags: readonly string[]
  readonly 'x-permission'?: string | null
  readonly summary?: string
  readonly description?: string
  readonly servers?: readonly { readonly url: string }[]
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Answer>>
}

export interface Answer {
  readonly description?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Content
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly example?: unknown
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

/** Every operation, in the order of the description. */
export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      place: { method: method.toUpperCase(), path },
    })),
  )
}

/** The schema of the first content type. */
export function schemaOf(content: Content | undefined): Schema | undefined {
  return Object.values(content ?? {})[0]?.schema
}

/** Whether a body is a file instead of JSON. */
export const isFile = (body?: Schema): body is Schema => body?.format === 'binary'

/** Whether the example call sends a parameter: it is required, or one of a group is. */
export const isSent = ({ required, example }: Parameter) =>
  required === true || example !== undefined

export const sampleOf = ({ name, schema, example }: Parameter): unknown =>
  example ?? exampleOf(schema, name)

export const hasHeader = ({ parameters = [] }: Operation, header: string) =>
  parameters.some(({ in: place, name }) => place === 'header' && name === header)

export const isSigned = (operation: Operation) => hasHeader(operation, 'x-souk-signature')

/** Whether calls without a key are refused. */
export const needsKey = ({ security = [] }: Operation) =>
  security.length > 0 && security.every((one) => Object.keys(one).length > 0)
