import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { OutOfPatience, withPatience } from './timeout.ts'

const PATIENCE_MS = 20

/** Blocks this thread, like garbage collection or another program would. */
const beBusy = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('an answer that arrived in time counts, even if this thread was busy until later', async () => {
  const answer = withPatience(stat(import.meta.filename), PATIENCE_MS)
  beBusy(25 * PATIENCE_MS)
  assert.ok((await answer).isFile())
})

test('a late answer is a timeout, and an early failure is reported as it is', async () => {
  await assert.rejects(withPatience(new Promise(() => undefined), PATIENCE_MS), OutOfPatience)
  const failing = Promise.reject(new Error('broken'))
  await assert.rejects(withPatience(failing, PATIENCE_MS), /broken/)
})
