/** For tests of queue timeouts: shortens them so that the test does not wait. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  CLIENT_TIMEOUT_MS,
  ConcurrencyLimiter,
} from '../../src/platform/concurrency/concurrency-limiter.ts'

const HASTE = 500

/** Until the test ends, waits of up to a client's timeout end almost at once. */
export function shortenTimeouts(t: TestContext): void {
  const { run } = ConcurrencyLimiter.prototype
  function runSoon(
    this: ConcurrencyLimiter,
    work: () => Promise<unknown>,
    timeoutMs?: number | null,
  ) {
    assert.ok((timeoutMs ?? 0) <= CLIENT_TIMEOUT_MS)
    return run.call(this, work, timeoutMs && timeoutMs / HASTE)
  }
  t.mock.method(ConcurrencyLimiter.prototype, 'run', runSoon as typeof run)
}
