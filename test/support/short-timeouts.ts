/** For tests of queue timeouts: shortens them so that the test does not wait. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { CLIENT_PATIENCE_MS, Turns } from '../../src/platform/concurrency/concurrency-limiter.ts'

const HASTE = 500

/** Until the test ends, waits of up to a client's timeout end almost at once. */
export function hurryTurns(t: TestContext): void {
  const { run } = Turns.prototype
  function runSoon(this: Turns, work: () => Promise<unknown>, patienceMs?: number | null) {
    assert.ok((patienceMs ?? 0) <= CLIENT_PATIENCE_MS)
    return run.call(this, work, patienceMs && patienceMs / HASTE)
  }
  t.mock.method(Turns.prototype, 'run', runSoon as typeof run)
}
