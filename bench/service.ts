/** Processes that benchmarks measure: started here, and known to answer. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { createInterface } from 'node:readline'

export interface Running {
  readonly child: ChildProcess
  readonly ready: string // the address or port that it printed
}

/** Starts a script on this Node; resolves when it prints `ready <address>`. */
export async function startProcess(
  args: readonly string[],
  env: Record<string, string>,
  logFile?: string,
): Promise<Running> {
  const stderr = logFile === undefined ? 'inherit' : openSync(logFile, 'a')
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', stderr],
  })
  if (child.stdout === null) throw new Error('no stdout')
  for await (const line of createInterface({ input: child.stdout })) {
    const match = /^ready (\S+)/.exec(line)
    if (match?.[1] !== undefined) return { child, ready: match[1] }
  }
  throw new Error(`${args.join(' ')} ended before it was ready`)
}

/** Asks a process to end, and waits until it has. */
export async function stopProcess({ child }: Running): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}
