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
