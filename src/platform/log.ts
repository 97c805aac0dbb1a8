/**
 * Structured logs: one JSON line each, on standard error, so that standard output stays free for
 * what a command prints. Secrets are cut out by field name, wherever they were put by mistake.
 */
import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino'
import { LogStream } from './log-stream.ts'

export type Logger = PinoLogger

const STANDARD_ERROR = 2

// Of a request, an error or a configuration object: at the top and one level down.
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'password_hash',
  'key',
  'secret',
  'secrets',
  'postback_secret',
  'sealingKeys',
  'databaseUrl',
  'natsUrl',
  'connectionString',
  'x-souk-signature',
]
const REDACTED = SECRET_FIELDS.flatMap((name) => [
  `["${name}"]`,
  `*["${name}"]`,
  `*.headers["${name}"]`,
])

/** `level` as in LOG_LEVEL; `stream` (standard error if not given) receives the lines. */
export function makeLogger({
  level,
  stream,
}: {
  level: string
  stream?: DestinationStream
}): Logger {
  const onLost = (lines: number) => log.warn({ lines }, 'lines of this log were lost')
  const log: Logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: REDACTED, censor: '[secret]' },
    },
    stream ?? new LogStream({ fd: STANDARD_ERROR, onLost }),
  )
  return log
}

/** What is tried every second says the same for as long as something is away. */
const REPEAT_MS = 60_000
/** More than fail in turns; of those that name an event each there is no end. */
const REMEMBERED_MAX = 100

/**
 * Tells errors: the same one again only after a minute, with how often it was passed over, so that
 * an hour without a database is not told in thousands of lines.
 */
export function errorTeller(
  log: Logger,
  what: string,
  nowMs: () => number = () => performance.now(),
): (error: unknown) => void {
  const told = new Map<string, { readonly atMs: number; repeats: number }>()
  return (error) => {
    const text = String(error)
    const before = told.get(text)
    if (before !== undefined && nowMs() - before.atMs < REPEAT_MS) {
      before.repeats += 1
      return
    }
    log.error({ err: error, ...(before && { repeats: before.repeats }) }, what)
    told.delete(text) // To stand last again.
    told.set(text, { atMs: nowMs(), repeats: 0 })
    const [oldest = ''] = told.keys()
    if (told.size > REMEMBERED_MAX) told.delete(oldest)
  }
}
