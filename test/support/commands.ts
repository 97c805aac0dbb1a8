/** Runs a command in this process; returns its output and exit code. */
import { COMMANDS } from '../../src/cli/commands.ts'
import { runProgram } from '../../src/cli/program.ts'
import { type Config, readConfig } from '../../src/node/config.ts'
import type { Database } from '../../src/platform/postgres/postgres.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface CommandWorld {
  readonly db: Database
  readonly now: Date
  readonly config?: Config
}

export async function runCommand(
  args: readonly string[],
  { db, now, config = readConfig({}) }: CommandWorld,
): Promise<Ran> {
  const printed = { out: '', err: '' }
  const context = {
    config,
    database: async () => db,
    storage: () => Promise.reject(new Error('not in this test')),
    now: () => now,
    progress: (line: string) => io.stderr(`${line}\n`),
  }
  const io = {
    stdout: (text: string) => {
      printed.out += text
    },
    stderr: (text: string) => {
      printed.err += text
    },
    openContext: ({ isQuiet }: { isQuiet: boolean }) => ({
      context: isQuiet ? { ...context, progress: () => undefined } : context,
      isInterrupted: () => false,
      close: async () => undefined,
    }),
  }
  const code = await runProgram(COMMANDS, { args, io })
  return { code, ...printed }
}
