/** Stops servers and removes folders when a benchmark is interrupted. */
import { whenInterrupted } from '../src/cli/interrupt.ts'

const tasks: (() => Promise<void>)[] = []

/** Runs the work once: when the stack is disposed, or earlier on Ctrl-C or `kill`. */
export function deferAlways(stack: AsyncDisposableStack, work: () => Promise<void>): void {
  let doing: Promise<void> | null = null
  // An interrupted benchmark fails because its resources are gone. Its stack then waits here.
  const task = () => (doing ??= work())
  stack.defer(task)
  tasks.push(task)
  if (tasks.length > 1) return
  whenInterrupted(async () => {
    await Promise.allSettled(tasks.map((each) => each()))
  })
}
