/** Endpoints for an operator's systems: liveness, readiness, metrics. */
import type { FastifyPluginAsync } from 'fastify'
import type { Node } from '../node/node.ts'
import { withTimeout } from '../platform/concurrency/timeout.ts'
import { UNCACHED } from '../platform/http/hot-http.ts'
import { ping } from '../platform/postgres/postgres.ts'
import { errorLogger } from '../platform/process/log.ts'

/** A load balancer checks every few seconds. A slower database counts as not ready. */
const READY_TIMEOUT_MS = 2_000

export const healthRoutes =
  (node: Node): FastifyPluginAsync =>
  async (app) => {
    // Each load balancer checks every second or so, which would hide all other log lines.
    const quiet = { logLevel: 'warn' } as const
    const hidden = { ...quiet, schema: { hide: true } } as const
    // Some proxies (Varnish) otherwise cache responses for minutes.
    app.addHook('onRequest', async (_request, reply) => {
      reply.headers(UNCACHED)
    })
    app.get('/healthz', hidden, async () => ({ ok: true }))
    // An orchestrator checks every second, so an outage is logged once.
    const logCause = errorLogger(node.log, 'not ready')
    app.get('/readyz', hidden, async (_request, reply) => {
      const isReady = await isStorageReady(node, logCause)
      return reply.status(isReady ? 200 : 503).send({ ok: isReady })
    })
    app.get('/metrics', hidden, async (_request, reply) => {
      const { registry } = node.metrics
      return reply.header('content-type', registry.contentType).send(await registry.metrics())
    })
  }

/** Uses the readers' connections, so that long reports do not make a node unready. */
async function isStorageReady(node: Node, logCause: (why: unknown) => void): Promise<boolean> {
  const { edgeDatabase, appender, eventLog, isHeld } = node
  try {
    await withTimeout(ping(edgeDatabase), READY_TIMEOUT_MS)
    return !appender.isLogUnreachable() && !eventLog.isUnreachable() && isHeld()
  } catch (error) {
    logCause(error)
    return false
  }
}
