/** Parses large bodies on a separate thread, so that readers do not wait (large-json.ts). */
import { parentPort } from 'node:worker_threads'
import { decodeJson } from './decode-json.ts'
import { knownFields, type PartSchema, unknownFields } from './known-fields.ts'

/** The message to the thread. */
export interface LargeBody {
  readonly id: number
  readonly body: Uint8Array
  readonly schema: PartSchema
}

/** The known fields of a body as JSON, and the names of the first unknown ones. */
export interface ReducedBody {
  readonly text: string
  readonly unknown: readonly string[]
}

/** The thread's reply: the known fields, or the rule that the body breaks. */
export type SmallBody = { readonly id: number } & (ReducedBody | { readonly rule: string })

parentPort?.on('message', ({ id, body, schema }: LargeBody) => {
  const read = decodeJson(body)
  const small: SmallBody = 'rule' in read ? { id, ...read } : { id, ...reduced(schema, read.value) }
  parentPort?.postMessage(small)
})

function reduced(schema: PartSchema, value: unknown): ReducedBody {
  const text = JSON.stringify(knownFields(schema, value))
  return { text, unknown: unknownFields(schema, value) }
}
