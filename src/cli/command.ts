/** What a command is, and what it gets to work with. */
import type { Config } from '../config.ts'
import type { Storage } from '../open-storage.ts'
import type { Database } from '../platform/postgres.ts'
import type { OptionSpec } from './option.ts'

export interface CommandContext {
  readonly config: Config
  /** Opens the database on first use; it is closed when the command has ended. */
  database(): Promise<Database>
  /** The same before it is migrated; who opens it says how long a statement may take (for ever). */
  storage(options?: { readonly statementTimeoutMs: number }): Promise<Storage>
  readonly now: () => Date
  /** Shows progress on stderr; silent under --json. */
  progress(line: string): void
}

/** A command's own function: the JSON result, or undefined of one that prints itself (serve). */
export type RunCommand = (context: CommandContext, options: never) => Promise<unknown>

export interface CommandSpec {
  /** `campaign create`: words below each other in the help. */
  readonly name: string
  readonly help: string
  readonly argument?: string // a positional one, `<url>`, given to `run` as options.argument
  readonly options?: readonly OptionSpec[]
  /** Options of which exactly one is given: `['click', 'result']`. */
  readonly oneOf?: readonly string[]
  readonly run: RunCommand
  /** The result for people, where a table or a list of fields would not do. */
  readonly format?: (result: never, columns?: number) => string
  /** Results that end in exit code 1 although they are printed: differences, failed checks. */
  readonly isRefusal?: (result: never) => boolean
}

/** The commands of a module by name; it is loaded when one of them is run. */
export function commandsOf<Module>(load: () => Promise<Module>) {
  return (name: CommandsIn<Module>): RunCommand =>
    async (context, options) =>
      ((await load())[name] as RunCommand)(context, options)
}

type CommandsIn<Module> = {
  [Name in keyof Module]: Module[Name] extends RunCommand ? Name : never
}[keyof Module]

/** `isRefusal` of what compares. */
export const hasDifferences = ({ differences }: { differences: readonly unknown[] }): boolean =>
  differences.length > 0
