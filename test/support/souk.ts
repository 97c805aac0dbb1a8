/** Runs the program as its users do: commands and a server, in separate processes. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

export const SOUK = join(import.meta.dirname, '../..', 'bin', 'souk.mjs')
/** For a busy machine; only a hanging start exceeds it. */
const READY_MS = 300_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

export type Environment = Record<string, string>

/** Runs `souk <args> --json` and returns its value. Rejects with stderr if it was refused. */
export async function souk<T>(env: Environment, ...args: readonly string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [SOUK, ...args, '--json'], {
    env: { ...process.env, ...env },
    maxBuffer: OUTPUT_BYTES_MAX,
  })
  return JSON.parse(stdout) as T
}

/** Runs a command that should exit with this code; returns its stdout and stderr. */
export async function soukExit(env: Environment, code: number, ...args: readonly string[]) {
  const child = spawn(process.execPath, [SOUK, ...args], { env: { ...process.env, ...env } })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (child.exitCode === null) await once(child, 'exit')
  assert.equal(child.exitCode, code, `${args.join(' ')}\n${stdout}\n${stderr}`)
  return { stdout, stderr }
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  let all = ''
  for await (const chunk of stream) all += chunk
  return all
}

export interface RunningSouk {
  readonly child: ChildProcess
  readonly url: string
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** kill -9. */
  kill(): Promise<void>
}

/** Starts `souk serve` and waits until it reports ready. */
export async function serve(env: Environment, { program = SOUK } = {}): Promise<RunningSouk> {
  const child = spawn(process.execPath, [program, 'serve'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await readyUrl(child)
  const ended = async () => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  return {
    child,
    url: url.replace('localhost', '127.0.0.1'),
    stop: async () => {
      child.kill('SIGTERM')
      await ended()
      return child.exitCode
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended()
    },
  }
}

/** The URL that a started server reports. */
export async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no stdout')
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS)
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const match = /^ready (http:\S+)/.exec(line)
      if (match?.[1] !== undefined) return match[1]
    }
    throw new Error('souk ended before it was ready')
  } finally {
    clearTimeout(timer)
    child.stdout.resume()
  }
}
