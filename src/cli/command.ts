/** The definition of a command, and the context it runs in. */
import type { Config } from '../node/config.ts'
import type { Storage } from '../node/open-storage.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import type { OptionSpec } from './option.ts'

export interface CommandContext {
  readonly config: Config
  /** Opens the database on first use; it is closed when the command ends. */
  database(): Promise<Database>
  /** The same before migration; the caller sets the statement timeout (default: none). */
  storage(options?: { readonly statementTimeoutMs: number }): Promise<Storage>
  readonly now: () => Date
  /** Prints progress on stderr; silent with --json. */
  progress(line: string): void
}

/** The command's function: returns the JSON result, or undefined if it prints by itself (serve). */
export type RunCommand = (context: CommandContext, options: never) => Promise<unknown>

export interface CommandSpec {
  /** Such as `campaign create`. */
  readonly name: string
  readonly help: string
  readonly argument?: string // A positional argument, `<url>`, passed to `run` as options.argument.
  readonly options?: readonly OptionSpec[]
  /** Options of which exactly one is given: `['click', 'result']`. */
  readonly oneOf?: readonly string[]
  readonly run: RunCommand
  /** The result for people, if a table or a list of fields would not do. */
  readonly format?: (result: never, columns?: number) => string
  /** Results that are printed but exit with code 1: differences, failed checks. */
  readonly isRefusal?: (result: never) => boolean
  /** Says on stderr why such a result is one, where the result does not show it. */
  readonly refusal?: (result: never) => string
}

/** The commands of a module by name; the module is loaded when one of them runs. */
export function commandsOf<Module>(load: () => Promise<Module>) {
  return (name: CommandsIn<Module>): RunCommand =>
    async (context, options) =>
      ((await load())[name] as RunCommand)(context, options)
}

type CommandsIn<Module> = {
  [Name in keyof Module]: Module[Name] extends RunCommand ? Name : never
}[keyof Module]

/** `isRefusal` of commands that compare. */
export const hasDifferences = ({ differences }: { differences: readonly unknown[] }): boolean =>
  differences.length > 0
