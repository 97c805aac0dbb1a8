/** `souk serve` and `souk demo`: run until a stop signal. */

import { type ServerOptions, startServer, untilStopped } from '../main.ts'
import { type Logger, makeLogger } from '../platform/process/log.ts'
import { buildBrowserParts } from '../server/browser-parts.ts'
import type { CommandContext } from './command.ts'

/**
 * After this time the process exits whatever is still open or opening, because supervisors kill it
 * after 10 s. Open requests and a healthy PostgreSQL need at most 6 s; a busy machine may need the
 * rest.
 */
const DRAIN_MS = 8_000

interface ServeOptions {
  readonly json?: boolean
  /** Of `souk demo`: commander sets it to false for `--no-history`. */
  readonly history?: boolean
}

/** Serves; prints `ready http://…` on standard output once it answers. */
export async function serveCommand(
  { config }: CommandContext,
  { json: isJson = false }: ServeOptions,
): Promise<undefined> {
  return run(config, { demo: null, isJson, logLevel: config.logLevel })
}

/** Serves, with the demo network if the database is empty, and prints one explaining screen. */
export async function demoCommand(
  { config, progress }: CommandContext,
  { json: isJson = false, history: hasHistory = true }: ServeOptions,
): Promise<undefined> {
  // A first start loads feeds and plays a history before it can show anything: seconds.
  progress('Starting PostgreSQL and the demo network …')
  // People read the screen; errors are still logged.
  const logLevel = config.logLevel === 'info' ? 'warn' : config.logLevel
  return run(config, { demo: { hasHistory }, isJson, logLevel })
}

async function run(
  config: CommandContext['config'],
  { demo, isJson, logLevel }: { demo: ServerOptions['demo']; isJson: boolean; logLevel: string },
): Promise<undefined> {
  const log = makeLogger({ level: logLevel })
  const stopped = untilStopped()
  const stopping = new AbortController()
  stopped.then(() => {
    stopping.abort()
    setTimeout(() => process.exit(0), DRAIN_MS).unref()
  })
  await buildOrWarn(log, stopping.signal)
  if (stopping.signal.aborted) return undefined
  const server = await startServer(config, { log, demo })
  const ready = `ready ${server.url}`
  // The one JSON value contains the same line, for scripts that wait for it.
  process.stdout.write(isJson ? `${JSON.stringify(ready)}\n` : `${ready}\n${server.screen}`)
  log.info({ signal: await stopped }, 'stopping')
  await server.close()
  return undefined
}

/** After an installation or an upgrade. Readers are served whatever the result. */
async function buildOrWarn(log: Logger, signal: AbortSignal): Promise<void> {
  try {
    await buildBrowserParts({ isOnlyIfStale: true, signal })
  } catch (error) {
    if (signal.aborted) return
    log.warn({ err: error }, 'dashboard, documentation and tags are not as in this version')
  }
}
