/** For tests of who waits for a turn in vain: patience that does not keep the test waiting. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { CLIENT_PATIENCE_MS, Turns } from '../src/platform/turns.ts'

const HASTE = 500

/** Until the test ends, who waits for as long as a client does, at most, waits hardly at all. */
export function hurryTurns(t: TestContext): void {
  const { run } = Turns.prototype
  function runSoon(this: Turns, work: () => Promise<unknown>, patienceMs?: number | null) {
    assert.ok((patienceMs ?? 0) <= CLIENT_PATIENCE_MS)
    return run.call(this, work, patienceMs && patienceMs / HASTE)
  }
  t.mock.method(Turns.prototype, 'run', runSoon as typeof run)
}
