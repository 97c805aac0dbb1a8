/**
 * Structured logs: one JSON line each, on standard error, so that standard output stays free for
 * what a command prints. Secrets are cut out by field name, wherever they were put by mistake.
 */
import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino'

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
  stream = pino.destination({ fd: STANDARD_ERROR, sync: false }),
}: {
  level: string
  stream?: DestinationStream
}): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: REDACTED, censor: '[secret]' },
    },
    stream,
  )
}

/** What is tried every second says the same for as long as something is away. */
const REPEAT_MS = 60_000

/**
 * Tells errors: one like the last only after a minute, with how many were passed over, so that an
 * hour without a database is not told in thousands of lines.
 */
export function errorTeller(
  log: Logger,
  what: string,
  nowMs: () => number = () => performance.now(),
): (error: unknown) => void {
  let last = { text: '', atMs: 0, repeats: 0 }
  return (error) => {
    const text = String(error)
    const isSame = text === last.text
    if (isSame && nowMs() - last.atMs < REPEAT_MS) {
      last.repeats += 1
      return
    }
    log.error({ err: error, ...(isSame ? { repeats: last.repeats } : {}) }, what)
    last = { text, atMs: nowMs(), repeats: 0 }
  }
}
