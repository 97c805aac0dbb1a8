/** Texts as a stream whose first one is there: a failure before it is told by a status. */
import { Readable } from 'node:stream'

export async function begunStream(texts: AsyncGenerator<string>): Promise<Readable> {
  const first = await texts.next()
  return Readable.from(
    (async function* () {
      if (first.done !== true) yield first.value
      yield* texts
    })(),
  )
}
