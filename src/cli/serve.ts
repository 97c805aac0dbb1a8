/** `souk serve` and `souk demo`: run until told to stop. */
import { startServer, untilStopped } from '../main.ts'
import { makeLogger } from '../platform/log.ts'
import type { CommandContext } from './command.ts'

/** After this the process ends whatever is still open (operator's interface: within 10 s). */
const DRAIN_MS = 9_000

/** Serves; prints `ready http://…` on standard output once it answers. */
export async function serveCommand({ config }: CommandContext): Promise<undefined> {
  const log = makeLogger({ level: config.logLevel })
  const stopped = untilStopped()
  const server = await startServer(config, { log })
  process.stdout.write(`ready ${server.url}\n`)
  log.info({ signal: await stopped }, 'stopping')
  const deadline = setTimeout(() => process.exit(0), DRAIN_MS)
  await server.close()
  clearTimeout(deadline)
  return undefined
}
