import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { OutOfPatience, withPatience } from './patience.ts'

const PATIENCE_MS = 20

/** Keeps this thread from everything else, as a collection of garbage or another program does. */
const beBusy = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('an answer that came in time counts, though this thread was busy until it was late', async () => {
  const answer = withPatience(stat(import.meta.filename), PATIENCE_MS)
  beBusy(25 * PATIENCE_MS)
  assert.ok((await answer).isFile())
})

test('what does not come in time is out of reach, and a failure that does is told', async () => {
  await assert.rejects(withPatience(new Promise(() => undefined), PATIENCE_MS), OutOfPatience)
  const failing = Promise.reject(new Error('broken'))
  await assert.rejects(withPatience(failing, PATIENCE_MS), /broken/)
})
