/** Waiting that ends: what is not there in time counts as out of reach. */

export class OutOfPatience extends Error {
  override name = 'OutOfPatience'
  readonly code = 'ETIMEDOUT'
}

/** What the promise comes to; rejects when that takes longer, and the work then goes on unseen. */
export function withPatience<T>(promise: Promise<T>, patienceMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(new OutOfPatience('no answer in time'))
  // An answer that came while this thread was busy is read before it counts as late.
  const timer = setTimeout(() => setImmediate(giveUp), patienceMs)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
