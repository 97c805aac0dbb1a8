/** Waiting with a time limit. */

export class OutOfPatience extends Error {
  override name = 'OutOfPatience'
  readonly code = 'ETIMEDOUT'
}

/** Resolves like the promise, or rejects after `patienceMs`. The work itself goes on unobserved. */
export function withPatience<T>(promise: Promise<T>, patienceMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(new OutOfPatience('no answer in time'))
  // An answer that arrived while this thread was busy is read before it counts as late.
  const timer = setTimeout(() => setImmediate(giveUp), patienceMs)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
