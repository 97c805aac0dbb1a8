/**
 * Builds the command line from the table of commands, runs one, and returns its exit code: 0 done,
 * 1 refused (with the reason on stderr), 2 usage error.
 */
import { Command, CommanderError, Option } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { FeedError } from '../catalog/feeds/feed-error.ts'
import { ConfigError } from '../node/config.ts'
import { ApiError } from '../platform/errors/api-errors.ts'
import { formatError } from '../platform/errors/format-error.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import {
  hasSqlState,
  isForbidden,
  isUnreachable,
  READ_ONLY,
} from '../platform/postgres/postgres.ts'
import type { CommandSpec } from './command.ts'
import type { OpenedContext } from './context.ts'
import { fileFault } from './file-fault.ts'
import type { OptionSpec } from './option.ts'
import { formatResult } from './print.ts'
import { terminalText } from './terminal-text.ts'

const DONE = 0
const REFUSED = 1
const WRONG_USAGE = 2

export interface ProgramIo {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  /** The width of the terminal; absent if there is none. */
  readonly columns?: number | undefined
  readonly openContext: (options: { isQuiet: boolean }) => OpenedContext
}

/** Runs the command that `args` name; resolves with the exit code. */
export async function runProgram(
  commands: readonly CommandSpec[],
  { args, io }: { args: readonly string[]; io: ProgramIo },
): Promise<number> {
  let exitCode = DONE
  const program = buildProgram(commands, io, async (spec, options) => {
    exitCode = await runCommand(spec, { options, io })
  })
  try {
    await program.parseAsync(helpAsOption(args, commands), { from: 'user' })
    return exitCode
  } catch (error) {
    // Help and version "fail" with code 0; everything else that commander throws is a usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE
    throw error
  }
}

/**
 * Turns `help user create` into `user create --help`, because commander's help reads one word and
 * also answers for unknown commands. With the option, it reports what is unknown.
 */
function helpAsOption(args: readonly string[], commands: readonly CommandSpec[]): string[] {
  const isGroup = (word?: string) => commands.some(({ name }) => name.startsWith(`${word} `))
  const place = isGroup(args[0]) ? 1 : 0
  const asked = args[place] === 'help' ? [...args.toSpliced(place, 1), '--help'] : [...args]
  const [first, second] = asked.filter((word) => !word.startsWith('-'))
  const isKnown =
    first === undefined ||
    (isGroup(first) && second === undefined) ||
    commands.some(({ name }) => name === first || name === `${first} ${second}`)
  return isKnown ? asked : asked.filter((word) => word !== '--help' && word !== '-h')
}

type Run = (spec: CommandSpec, options: Record<string, unknown>) => Promise<void>

function buildProgram(commands: readonly CommandSpec[], io: ProgramIo, run: Run): Command {
  const program = new Command('souk').description('An open exchange for commerce links.')
  const groups = new Map<string, Command>()
  configure(program, io).version(manifest.version)
  for (const spec of commands) {
    const [first = '', second] = spec.name.split(' ')
    const makeGroup = () =>
      configure(program.command(first), io).description(describeGroup(first, commands))
    const parent = second === undefined ? program : groups.getOrInsertComputed(first, makeGroup)
    const command = configure(parent.command(second ?? first).description(spec.help), io)
    if (spec.argument !== undefined) command.argument(spec.argument)
    for (const option of optionsOf(spec)) command.addOption(option)
    command.option('--json', 'print one JSON value on stdout and nothing else')
    command.allowExcessArguments(false).action(async () => {
      const [argument] = command.args
      requireOptions(command, spec)
      const options = withNulls(command.opts(), spec.options ?? [])
      await run(spec, { ...options, ...(argument === undefined ? {} : { argument }) })
    })
  }
  return program
}

/** A command's options; the help lists required ones first. */
function optionsOf({ options = [], oneOf = [] }: CommandSpec): Option[] {
  return options.map((spec) => {
    const option = toOption(spec)
    if (spec.isRequired) return option.helpGroup('Required:')
    return oneOf.includes(option.attributeName()) ? option.helpGroup('One of these:') : option
  })
}

/**
 * Reports all missing options at once; commander would name the first, and misspelled ones later.
 */
function requireOptions(command: Command, { options = [], oneOf = [] }: CommandSpec): void {
  const isGiven = (name: string) => command.getOptionValue(name) !== undefined
  const missing = options
    .filter((spec) => spec.isRequired && !isGiven(toOption(spec).attributeName()))
    .map(({ flags }) => flags)
  if (oneOf.length > 0 && oneOf.filter(isGiven).length !== 1) {
    missing.push(`either ${oneOf.map((name) => `--${name}`).join(' or ')}`)
  }
  if (missing.length > 0) command.error(`error: give ${missing.join(', ')}`)
}

function describeGroup(name: string, commands: readonly CommandSpec[]): string {
  const words = commands.map((spec) => spec.name.split(' ')).filter(([first]) => first === name)
  return words.map(([, second]) => second).join(', ')
}

function configure(command: Command, io: ProgramIo): Command {
  return command
    .exitOverride()
    .showHelpAfterError('(see --help)')
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
}

/** Commander turns the null of an empty value into ''; this restores it. */
function withNulls(
  values: Record<string, unknown>,
  options: readonly OptionSpec[],
): Record<string, unknown> {
  const isRead = new Set(
    options
      .filter(({ read }) => read !== undefined)
      .map((option) => toOption(option).attributeName()),
  )
  const entries = Object.entries(values)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === '' && isRead.has(name) ? null : value]),
  )
}

function toOption({ flags, help, read }: OptionSpec): Option {
  const option = new Option(flags, help)
  if (read !== undefined) option.argParser(read)
  return option
}

async function runCommand(
  spec: CommandSpec,
  { options, io }: { options: Record<string, unknown>; io: ProgramIo },
): Promise<number> {
  const isJson = options.json === true
  let opened: OpenedContext | null = null
  try {
    opened = io.openContext({ isQuiet: isJson })
    const result = await spec.run(opened.context, options as never)
    if (result !== undefined) {
      const format = spec.format ?? formatResult
      const output = isJson ? JSON.stringify(result) : format(result as never, io.columns)
      io.stdout(`${terminalText(output)}\n`)
    }
    if (spec.isRefusal?.(result as never) !== true) return DONE
    const why = spec.refusal?.(result as never)
    if (why !== undefined) io.stderr(`${terminalText(why)}\n`)
    return REFUSED
  } catch (error) {
    if (opened?.isInterrupted() !== true)
      io.stderr(`${terminalText(fileFault(error, options) ?? describe(error))}\n`)
    return REFUSED
  } finally {
    await opened?.close()
  }
}

function describe(error: unknown): string {
  if (error instanceof ApiError) {
    const faults = Array.isArray(error.data) ? error.data : []
    if (faults.length === 0) return error.message
    return faults.map(({ field, rule }) => `${field}: ${rule}`).join('\n')
  }
  const isPlain = [ConfigError, FeedError, Refusal].some((type) => error instanceof type)
  if (error instanceof Error && isPlain) return error.message
  if (isForbidden(error)) return `The database refuses DATABASE_URL: ${formatError(error)}`
  if (hasSqlState(error, READ_ONLY)) {
    return 'The database takes no writes, as a standby or by a setting: see souk doctor'
  }
  if (isUnreachable(error)) return `The database cannot be reached: ${formatError(error)}`
  // An unexpected error: the stack helps to fix it.
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
