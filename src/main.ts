/**
 * Start here: reads the configuration, opens the node, serves its roles, stops cleanly.
 */
import { startApp } from './app.ts'
import type { Config } from './config.ts'
import { openNode } from './node.ts'
import type { Logger } from './platform/log.ts'

export interface Server {
  readonly url: string
  close(): Promise<void>
}

/** Opens everything and listens; resolves when requests are answered. */
export async function startServer(
  config: Config,
  options: { log: Logger; now?: () => number },
): Promise<Server> {
  const node = await openNode(config, options)
  try {
    const app = await startApp(node)
    return {
      url: app.url,
      close: async () => {
        await app.close()
        await node.close()
      },
    }
  } catch (error) {
    await node.close()
    throw error
  }
}

/** Resolves with the signal that asked this process to stop. */
export function untilStopped(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  // For good, not once: Ctrl-C reaches this process from the terminal and from its launcher, and
  // the second of two signals must not cut the drain short.
  process.on('SIGTERM', resolve)
  process.on('SIGINT', resolve)
  return promise
}
