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

export interface CommandSpec<Options> {
  /** `campaign create`: words below each other in the help. */
  readonly name: string
  readonly help: string
  readonly argument?: string // a positional one, `<url>`, given to `run` as options.argument
  readonly options: readonly OptionSpec[]
  /** Options of which exactly one is given: `['click', 'result']`. */
  readonly oneOf?: readonly string[]
  /** The JSON result, or undefined for a command that prints for itself (serve, demo). */
  run(context: CommandContext, options: Options): Promise<unknown>
  /** The result for people, where a table or a list of fields would not do. */
  readonly format?: (result: unknown, columns?: number) => string
  /** Results that end in exit code 1 although they are printed: differences, failed checks. */
  readonly isRefusal?: (result: unknown) => boolean
}

/** Forgets the type of the options, so that all commands fit into one table. */
export function command<Options>(spec: CommandSpec<Options>): CommandSpec<unknown> {
  return spec as CommandSpec<unknown>
}

/** The options type that a command's function takes. */
export type OptionsOf<F> = F extends (context: never, options: infer O) => unknown ? O : never
