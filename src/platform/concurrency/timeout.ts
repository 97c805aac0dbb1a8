/** Waiting with a time limit. */

export class TimedOut extends Error {
  override name = 'TimedOut'
  readonly code = 'ETIMEDOUT'
}

/** Resolves like the promise, or rejects after `timeoutMs`. The work itself goes on unobserved. */
export function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(new TimedOut('no answer in time'))
  // An answer that arrived while this thread was busy is read before it counts as late.
  const timer = setTimeout(() => setImmediate(giveUp), timeoutMs)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
