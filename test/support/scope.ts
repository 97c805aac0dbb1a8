/** Closes what a test opened, in reverse order. */
import type { TestContext } from 'node:test'
import type { Scope } from './database.ts'

export function scopeOf(t: TestContext): Scope {
  const stack = new AsyncDisposableStack()
  t.after(() => stack.disposeAsync())
  return { after: (work) => stack.defer(work) }
}
