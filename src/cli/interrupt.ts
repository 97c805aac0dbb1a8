/** What a command does that is told to stop: by Ctrl-C, by `kill`, by the terminal's end. */
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** After this the process ends whatever it still has to leave. */
const LEAVE_MS = 9_000
const SIGNALED = 128 // What a shell says of whom a signal ended, plus that signal's number.

/** Calls `leave` at the first such signal; once it has left, the process ends by that signal. */
export function whenInterrupted(leave: () => Promise<void>): void {
  let isLeaving = false
  const onSignal = (signal: NodeJS.Signals): void => {
    // Ctrl-C comes from the terminal and from the launcher: the second one cuts nothing short.
    if (isLeaving) return
    isLeaving = true
    const end = () => {
      for (const name of SIGNALS) process.off(name, onSignal)
      process.kill(process.pid, signal)
    }
    // By its code: whom a signal ends, nothing of what an exit still has to do is done.
    setTimeout(() => process.exit(SIGNALED + constants.signals[signal]), LEAVE_MS)
    void leave().finally(end)
  }
  for (const name of SIGNALS) process.on(name, onSignal)
}
