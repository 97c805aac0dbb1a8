/** What an operator's machines ask: does it live, can it serve, what are its figures. */
import type { FastifyPluginAsync } from 'fastify'
import type { Node } from './node.ts'
import { UNCACHED } from './platform/hot-http.ts'
import { errorTeller } from './platform/log.ts'
import { withPatience } from './platform/patience.ts'
import { ping } from './platform/postgres.ts'

/** A load balancer asks every few seconds: a storage that answers later than this is not ready. */
const READY_TIMEOUT_MS = 2_000

export const healthRoutes =
  (node: Node): FastifyPluginAsync =>
  async (app) => {
    // Asked every second or so by each load balancer: among these lines no other was found.
    const quiet = { logLevel: 'warn' } as const
    const hidden = { ...quiet, schema: { hide: true } } as const
    // Some proxies keep for minutes what says nothing of it (Varnish), and tell it as today's.
    app.addHook('onRequest', async (_request, reply) => {
      reply.headers(UNCACHED)
    })
    app.get('/healthz', hidden, async () => ({ ok: true }))
    // An orchestrator asks every second: an outage is no news each time.
    const tellWhy = errorTeller(node.log, 'not ready')
    app.get('/readyz', hidden, async (_request, reply) => {
      const isReady = await isStorageReady(node, tellWhy)
      return reply.status(isReady ? 200 : 503).send({ ok: isReady })
    })
    app.get('/metrics', hidden, async (_request, reply) => {
      const { registry } = node.metrics
      return reply.header('content-type', registry.contentType).send(await registry.metrics())
    })
  }

/** Asked as readers ask: reports that keep every other connection make no node unready. */
async function isStorageReady(node: Node, tellWhy: (why: unknown) => void): Promise<boolean> {
  const { edgeDatabase, appender, eventLog, isHeld } = node
  try {
    await withPatience(ping(edgeDatabase), READY_TIMEOUT_MS)
    return !appender.isLogAway() && !eventLog.isAway() && isHeld()
  } catch (error) {
    tellWhy(error)
    return false
  }
}
