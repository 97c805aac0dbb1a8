/** Calls a function at an interval, whether or not the last call has finished. */

/** One hanging call must not stop the polling; more of them would use up a pool's connections. */
const UNANSWERED_MAX = 2

/**
 * Calls `ask` every `everyMs`, except while two calls are unfinished. A failure does not stop it.
 */
export function startPoller(
  ask: () => Promise<unknown>,
  { everyMs, onError }: { everyMs: number; onError: (error: unknown) => void },
): NodeJS.Timeout {
  let unanswered = 0
  const timer = setInterval(async () => {
    if (unanswered === UNANSWERED_MAX) return
    unanswered += 1
    await ask().catch(onError)
    unanswered -= 1
  }, everyMs)
  return timer.unref()
}
