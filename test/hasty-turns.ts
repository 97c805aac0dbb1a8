/** For tests of who waits for a turn in vain: patience that does not keep the test waiting. */
import type { TestContext } from 'node:test'
import { CLIENT_PATIENCE_MS } from '../src/platform/turns.ts'

const HASTY_MS = 20

/** Until the test ends, whoever has a client's patience, or nearly all of it left, has little. */
export function hurryTurns(t: TestContext): void {
  const { setTimeout: wait } = globalThis
  const isPatience = (ms = 0) => ms > 0.9 * CLIENT_PATIENCE_MS && ms <= CLIENT_PATIENCE_MS
  t.mock.method(globalThis, 'setTimeout', ((work: () => void, ms?: number) =>
    wait(work, isPatience(ms) ? HASTY_MS : ms)) as typeof wait)
}
