/** Starts the processes that benchmarks measure, and waits until they respond. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../test/support/free-port.ts'
import { deferAlways } from './interrupted.ts'

export interface Running {
  readonly child: ChildProcess
  readonly ready: string // the URL or port that it printed
}

export interface Service {
  readonly base: string
  readonly pid: number
  readonly dataDir: string
}

/** A service for one benchmark: fsync, receipts and logging on, rate limits off. */
export async function startService(
  stack: AsyncDisposableStack,
  env: Record<string, string> = {},
): Promise<Service> {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  const port = await freePort()
  const starting = startProcess(
    ['bin/souk.mjs', 'serve'],
    { SOUK_DATA: dataDir, PORT: String(port), RATE_LIMITS: '0', LOG_LEVEL: 'info', ...env },
    join(dataDir, 'log'),
  )
  deferAlways(stack, async () => {
    await stopStarted(starting)
    await rm(dataDir, { recursive: true, force: true })
  })
  const service = await starting
  const base = service.ready.replace('localhost', '127.0.0.1')
  return { base, pid: service.child.pid ?? 0, dataDir }
}

/** Starts a script on this Node. Resolves when it prints `ready <address>`. */
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

/** Stops a process and waits for its end. A process that never started has ended. */
export async function stopStarted(starting: Promise<Running>): Promise<void> {
  const started = await starting.catch(() => null)
  if (started === null) return
  const { child } = started
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}
