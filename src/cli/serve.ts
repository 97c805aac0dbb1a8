/** `souk serve` and `souk demo`: run until told to stop. */
import { buildBrowserParts } from '../browser-parts.ts'
import { startServer, untilStopped } from '../main.ts'
import { type Logger, makeLogger } from '../platform/log.ts'
import type { CommandContext } from './command.ts'

/**
 * After this the process ends whatever is still open, or opening: a start may be told to stop too
 * (operator's interface: within 10 s, after which most that run it kill it). Requests under way and
 * a PostgreSQL that is well need 6 of them at most; a busy machine takes its time for the last.
 */
const DRAIN_MS = 8_000

interface ServeOptions {
  readonly json?: boolean
}

/** Serves; prints `ready http://…` on standard output once it answers. */
export async function serveCommand(
  { config }: CommandContext,
  { json: isJson = false }: ServeOptions,
): Promise<undefined> {
  return run(config, { isDemo: false, isJson, logLevel: config.logLevel })
}

/** Serves, with the demo network when the database is empty; explains itself on one screen. */
export async function demoCommand(
  { config, progress }: CommandContext,
  { json: isJson = false }: ServeOptions,
): Promise<undefined> {
  // A first start loads feeds before it has anything to show: seconds, on a busy machine many.
  progress('Starting PostgreSQL and the demo network …')
  // People read the screen; what goes wrong still shows.
  const logLevel = config.logLevel === 'info' ? 'warn' : config.logLevel
  return run(config, { isDemo: true, isJson, logLevel })
}

async function run(
  config: CommandContext['config'],
  { isDemo, isJson, logLevel }: { isDemo: boolean; isJson: boolean; logLevel: string },
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
  const server = await startServer(config, { log, isDemo })
  const ready = `ready ${server.url}`
  // The one JSON value says the same line, for those who wait for it.
  process.stdout.write(isJson ? `${JSON.stringify(ready)}\n` : `${ready}\n${server.screen}`)
  log.info({ signal: await stopped }, 'stopping')
  await server.close()
  return undefined
}

/** After an installation or an upgrade. Readers are served whatever comes of it. */
async function buildOrWarn(log: Logger, signal: AbortSignal): Promise<void> {
  try {
    await buildBrowserParts({ isOnlyIfStale: true, signal })
  } catch (error) {
    if (signal.aborted) return
    log.warn({ err: error }, 'dashboard, API reference and tags are not as in this version')
  }
}
