/**
 * Paces bodies whose sender is not known yet: they are read whole before their signature can be
 * checked. A flood of them shares one rate, so that the thread stays free for readers.
 */
import { pipeline, type Readable, Transform } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Bytes per second that one process takes of such bodies. A call alone waits 8 ms for its 1 MiB.
 * Without a limit 32 connections keep the thread busy with copying: redirects then take 84 ms in
 * the 95th percentile, with it 31 to 44 ms (bench/abuse.ts bodies).
 */
const BYTES_PER_SECOND = 128 * 1_048_576

let freeAtMs = 0

/** Waits until that many more bytes are due. */
async function due(bytes: number): Promise<void> {
  const nowMs = performance.now()
  freeAtMs = Math.max(freeAtMs, nowMs) + (bytes * 1_000) / BYTES_PER_SECOND
  await sleep(freeAtMs - nowMs)
}

/** The same bytes at the pace of all such bodies. */
export function paced(body: Readable): Readable {
  const pace = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      due(chunk.length).then(() => done(null, chunk), done)
    },
  })
  // An error or an early end of either ends the other; the reader of the bytes sees it there.
  pipeline(body, pace, () => undefined)
  return pace
}
