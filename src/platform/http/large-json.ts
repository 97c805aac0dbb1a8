/**
 * Parses large bodies on a separate thread: 1 MiB of 80,000 keys takes 40 ms, and every redirect
 * would wait for it. The thread returns only the fields of the route's schema, so a hostile body
 * leaves the caller no work in proportion to its size.
 */
import { Worker } from 'node:worker_threads'
import { ApiError, badRequest } from '../errors/api-errors.ts'
import type { PartSchema } from './known-fields.ts'
import type { LargeBody, ReducedBody, SmallBody } from './large-json-thread.ts'

const THREAD = new URL('./large-json-thread.ts', import.meta.url)
/** About one second of the thread's work. Calls beyond it are refused instead of queued. */
const WAITING_BYTES_MAX = 32 * 1_048_576
const BUSY = 'Too many large bodies wait; retry shortly'

interface Waiting extends PromiseWithResolvers<ReducedBody> {
  readonly bytes: number
}

export class LargeJson {
  readonly #waiting = new Map<number, Waiting>()
  #thread: Worker | null = null
  #bytes = 0
  #lastId = 0

  /**
   * The fields that `schema` names, and the names of others. Rejects with a 400, or with a 503
   * if too much is queued.
   */
  async reduce(body: Uint8Array, schema: PartSchema): Promise<ReducedBody> {
    const bytes = body.length
    if (this.#bytes + bytes > WAITING_BYTES_MAX) throw busy()
    this.#lastId += 1
    const [id, waiting] = [this.#lastId, { ...Promise.withResolvers<ReducedBody>(), bytes }]
    this.#waiting.set(id, waiting)
    this.#bytes += bytes
    this.#thread ??= this.#start()
    const order: LargeBody = { id, body, schema }
    this.#thread.postMessage(order)
    return waiting.promise
  }

  #start(): Worker {
    // Without this process's flags: a test runner's flags mean nothing to the thread.
    const thread = new Worker(THREAD, { execArgv: [] })
    // Under `node --watch` Node sends its own messages on this channel.
    thread.on('message', (small: SmallBody | { readonly id?: never }) => {
      const waiting = small.id === undefined ? undefined : this.#takeWaiting(small.id)
      if (waiting === undefined) return
      if ('rule' in small) waiting.reject(badRequest([{ field: 'body', rule: small.rule }]))
      else if ('text' in small) waiting.resolve(small)
    })
    const lose = () => {
      this.#thread = null
      for (const id of [...this.#waiting.keys()]) this.#takeWaiting(id)?.reject(busy())
    }
    thread.on('error', lose)
    thread.on('exit', lose)
    thread.unref()
    return thread
  }

  #takeWaiting(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    this.#bytes -= waiting?.bytes ?? 0
    return waiting
  }
}

function busy(): ApiError {
  return new ApiError('unavailable', { message: BUSY, headers: { 'retry-after': '1' } })
}
