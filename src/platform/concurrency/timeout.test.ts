import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { TimedOut, withTimeout } from './timeout.ts'

const TIMEOUT_MS = 20

/** Blocks this thread, like garbage collection or another program would. */
const beBusy = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('an answer that arrived in time counts, even if this thread was busy until later', async () => {
  const answer = withTimeout(stat(import.meta.filename), TIMEOUT_MS)
  beBusy(25 * TIMEOUT_MS)
  assert.ok((await answer).isFile())
})

test('a late answer is a timeout, and an early failure is reported as it is', async () => {
  await assert.rejects(withTimeout(new Promise(() => undefined), TIMEOUT_MS), TimedOut)
  const failing = Promise.reject(new Error('broken'))
  await assert.rejects(withTimeout(failing, TIMEOUT_MS), /broken/)
})
