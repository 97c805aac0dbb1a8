/**
 * Something asked again and again, whether or not it was answered the last time.
 */

/** One that hangs must not be the last; more of them would take every connection of a pool. */
const UNANSWERED_MAX = 2

/** Asks each `everyMs`, but not while two have no answer yet; what fails is asked again. */
export function startPulse(
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
