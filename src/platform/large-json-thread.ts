/** Reads large bodies away from the thread that answers readers (large-json.ts). */
import { parentPort } from 'node:worker_threads'
import { decodeJson } from './decode-json.ts'
import { knownFields, type PartSchema } from './known-fields.ts'

/** What the thread is given. */
export interface LargeBody {
  readonly id: number
  readonly body: Uint8Array
  readonly schema: PartSchema
}

/** What it returns: JSON of the fields that the schema knows, or what is wrong with the body. */
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
