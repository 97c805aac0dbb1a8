/** How a command stops: on Ctrl-C, `kill`, or the end of the terminal. */
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** After this time the process exits, whatever is left to clean up. */
const EXIT_MS = 9_000
const SIGNALED = 128 // A shell reports 128 plus the signal's number.

/** Calls `leave` at the first such signal, then exits with that signal's code. */
export function whenInterrupted(leave: () => Promise<void>): void {
  let isLeaving = false
  const onSignal = (signal: NodeJS.Signals): void => {
    // Ctrl-C arrives from the terminal and from the launcher; the second one cuts nothing short.
    if (isLeaving) return
    isLeaving = true
    const end = () => {
      for (const name of SIGNALS) process.off(name, onSignal)
      process.kill(process.pid, signal)
    }
    // By exit code, because a signal would skip the exit handlers.
    setTimeout(() => process.exit(SIGNALED + constants.signals[signal]), EXIT_MS)
    void leave().finally(end)
  }
  for (const name of SIGNALS) process.on(name, onSignal)
}
