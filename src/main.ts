/** Start here: opens the node, serves its roles, stops cleanly. */

import type { Demo } from './demo/run-demo.ts'
import { type Config, ConfigError, onPort } from './node/config.ts'
import { makeDataFolder, spoolFolder } from './node/data-folder.ts'
import { type Node, openNode } from './node/node.ts'
import { freePort } from './platform/net/free-port.ts'
import { isUnreachable } from './platform/postgres/postgres.ts'
import type { Logger } from './platform/process/log.ts'
import { startApp } from './server/app.ts'
import { listenProblem } from './server/listen-problem.ts'

export interface Server {
  readonly url: string
  /** Text to print once the server answers; empty except for the demo. */
  readonly screen: string
  close(): Promise<void>
}

export interface ServerOptions {
  readonly log: Logger
  /** Adds the demo network, if the database is empty or contains it already; null: does not. */
  readonly demo: { readonly hasHistory: boolean } | null
}

/** A running fold finishes much sooner. A missing one must not delay the start. */
const FREED_TIMEOUT_MS = 5_000

/**
 * Opens everything and listens. Resolves when requests are answered. Retries once if the embedded
 * PostgreSQL dies during startup, for example when memory is short.
 */
export async function startServer(config: Config, options: ServerOptions): Promise<Server> {
  try {
    return await start(config, options)
  } catch (error) {
    if (config.databaseUrl !== null || !isUnreachable(error)) throw error
    options.log.warn({ err: error }, 'the start failed by the database: starting again')
    return start(config, options)
  }
}

async function start(given: Config, options: ServerOptions): Promise<Server> {
  const config = onPort(given, await takeMachine(given))
  const own = await openNode(config, options)
  const opened = new AsyncDisposableStack() // closes everything, even if one part fails to close
  opened.defer(() => own.close())
  const close = () => opened.disposeAsync()
  try {
    const { demo } = options
    const { node, screen } =
      demo === null ? { node: own, screen: '' } : await addDemo(own, demo, opened)
    const app = await startApp(node)
    opened.defer(() => app.close())
    await node.whenFreed(FREED_TIMEOUT_MS)
    return { url: app.url, screen, close }
  } catch (error) {
    await close().catch((cause) => options.log.error({ err: cause }, 'the start was not undone'))
    throw error
  }
}

async function addDemo(
  node: Node,
  { hasHistory }: { readonly hasHistory: boolean },
  opened: AsyncDisposableStack,
): Promise<Demo> {
  const { startDemo } = await import('./demo/run-demo.ts')
  const { loadDemoWithHistory } = await import('./demo/history/generate-history.ts')
  const demo = await startDemo(node, {
    createWithHistory: hasHistory ? loadDemoWithHistory : null,
  })
  opened.defer(() => demo.close())
  return demo
}

/**
 * The port to listen on, after checking the data folder and its spool. Runs before anything is
 * opened, so that a start that must fail fails at once with every fault.
 */
async function takeMachine(config: Config): Promise<number> {
  const port = ownPort(config)
  const folders = makeDataFolder(config.dataDir).then(() => makeDataFolder(spoolFolder(config)))
  const found = await Promise.allSettled([port, folders])
  const reasons = found.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  const problems = reasons.flatMap((reason) =>
    reason instanceof ConfigError ? reason.problems : [],
  )
  if (problems.length > 0) throw new ConfigError(problems)
  return port
}

function ownPort(config: Config): Promise<number> {
  return freePort(config).catch((error) => {
    throw listenProblem(config, error)
  })
}

/** Resolves with the signal that asked this process to stop. */
export function untilStopped(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  // Stays installed: Ctrl-C reaches this process from the terminal and from its launcher, and the
  // second signal must not cut the drain short.
  process.on('SIGTERM', resolve)
  process.on('SIGINT', resolve)
  process.on('SIGHUP', resolve) // The terminal, or the connection to the machine, was closed.
  return promise
}
