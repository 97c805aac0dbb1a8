/** Parses large bodies on a thread of its own, so that readers do not wait (large-json.ts). */
import { parentPort } from 'node:worker_threads'
import { decodeJson } from './decode-json.ts'
import { knownFields, type PartSchema } from './known-fields.ts'

/** The message to the thread. */
export interface LargeBody {
  readonly id: number
  readonly body: Uint8Array
  readonly schema: PartSchema
}

/** The thread's reply: JSON of the known fields, or the rule that the body breaks. */
export type SmallBody = { readonly id: number } & (
  | { readonly text: string }
  | { readonly rule: string }
)

parentPort?.on('message', ({ id, body, schema }: LargeBody) => {
  const read = decodeJson(body)
  const small: SmallBody =
    'rule' in read ? { id, ...read } : { id, text: JSON.stringify(knownFields(schema, read.value)) }
  parentPort?.postMessage(small)
})
