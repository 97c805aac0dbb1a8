/**
 * A stream of texts that waits for the first one, so that an early failure can still set the
 * status.
 */
import { Readable } from 'node:stream'

export async function startedStream(texts: AsyncGenerator<string>): Promise<Readable> {
  const first = await texts.next()
  return Readable.from(
    (async function* () {
      if (first.done !== true) yield first.value
      yield* texts
    })(),
  )
}
