/**
 * Structured logs: one JSON line each, on standard error, because commands print their results on
 * standard output. Secrets are redacted by field name, in case they are logged by mistake.
 */
import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino'
import { LogStream } from './log-stream.ts'

export type Logger = PinoLogger

const STANDARD_ERROR = 2

// In a request, an error or a configuration object: at the top and one level down.
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
  'mail',
  'oidc',
  'token',
  'connectionString',
  'x-souk-signature',
]
const REDACTED = SECRET_FIELDS.flatMap((name) => [
  `["${name}"]`,
  `*["${name}"]`,
  `*.headers["${name}"]`,
])

/** `level` as in LOG_LEVEL; `stream` receives the lines (default: standard error). */
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

/** An operation that is retried every second fails with the same error while something is down. */
const REPEAT_MS = 60_000
/** More than the operations that fail in turn. Errors that name an event each are unbounded. */
const REMEMBERED_MAX = 100

/**
 * Logs errors, but the same one only once a minute, with the number of repetitions. An hour without
 * a database then gives dozens of lines instead of thousands.
 */
export function errorLogger(
  log: Logger,
  what: string,
  nowMs: () => number = () => performance.now(),
): (error: unknown) => void {
  const logged = new Map<string, { readonly atMs: number; repeats: number }>()
  return (error) => {
    const text = String(error)
    const before = logged.get(text)
    if (before !== undefined && nowMs() - before.atMs < REPEAT_MS) {
      before.repeats += 1
      return
    }
    log.error({ err: error, ...(before && { repeats: before.repeats }) }, what)
    logged.delete(text) // Moves it to the end of the map.
    logged.set(text, { atMs: nowMs(), repeats: 0 })
    const [oldest = ''] = logged.keys()
    if (logged.size > REMEMBERED_MAX) logged.delete(oldest)
  }
}
