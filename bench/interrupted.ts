/** What a benchmark that is interrupted must not leave behind: servers that run on, and folders. */
import { whenInterrupted } from '../src/cli/interrupt.ts'

const tasks: (() => Promise<void>)[] = []

/** Does the work once: when the stack is disposed of, or before by Ctrl-C or `kill`. */
export function deferAlways(stack: AsyncDisposableStack, work: () => Promise<void>): void {
  let doing: Promise<void> | null = null
  // Interrupted, the benchmark fails on what was taken from under it: its stack then waits here.
  const task = () => (doing ??= work())
  stack.defer(task)
  tasks.push(task)
  if (tasks.length > 1) return
  whenInterrupted(async () => {
    await Promise.allSettled(tasks.map((each) => each()))
  })
}
