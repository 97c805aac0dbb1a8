/** The endpoint by which the operator reverses payments for invalid clicks. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { writeAudit } from '../accounts/audit-store.ts'
import { NETWORK } from '../accounts/permission.ts'
import {
  holderOf,
  type KeyGuard,
  NEEDS_KEY,
  needPermission,
  requireRight,
} from '../accounts/require-key.ts'
import { waitUntilFolded } from '../fold/lane-store.ts'
import { auditedAppend } from '../orders/audited-append.ts'
import type { IntakeDeps } from '../orders/intake.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { type Db, isUnreachable } from '../platform/postgres/postgres.ts'
import {
  type AcceptedReversal,
  acceptReversal,
  reversalChange,
  reversalFaults,
  showReversal,
} from './reverse-clicks.ts'
import { ReversalBody, ReversalRecord } from './schema.ts'

/** Figures are visible within this time after an event. */
const FOLD_TIMEOUT_MS = 5_000

export const reversalRoutes =
  (deps: IntakeDeps & { readonly keys: KeyGuard }): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys: deps.keys, permission: 'network.write' })
    app.post(
      '/api/v1/reversals/',
      {
        config: { rules: ({ body }) => reversalFaults(body as object | null) },
        schema: {
          operationId: 'reverseClicks',
          summary: 'Reverses the payments of invalid clicks, once per click',
          description:
            'Only the key of an operator may do this. One of click, the id of a click, and ' +
            'result, the number of a result, must be sent. A 202 is accepted and durable; its ' +
            'entries are made as soon as a worker is at work.',
          security: NEEDS_KEY,
          body: ReversalBody,
          response: {
            201: envelope(ReversalRecord),
            202: envelope(ReversalRecord),
          },
        },
      },
      async (request, reply) => {
        requireRight(request, NETWORK)
        const { click = null, result = null, reason } = request.body
        const wanted = { clickId: click, resultNumber: result, reason }
        const context = { caller: holderOf(request), organization: NETWORK, requestId: request.id }
        const accepted = await acceptReversal(
          auditedAppend(deps, (tx) => writeAudit(tx, context, reversalChange(wanted))),
          wanted,
        )
        const { status, shown } = await folded(deps.db, accepted)
        return reply.code(status).send(ok(status, shown))
      },
    )
  }

/** 202: the reversal is durable and will be folded, even if its entries cannot be shown yet. */
async function folded(
  db: Db,
  accepted: AcceptedReversal,
): Promise<{ status: 201 | 202; shown: Awaited<ReturnType<typeof showReversal>> }> {
  try {
    if (await waitUntilFolded(db, accepted.events, { timeoutMs: FOLD_TIMEOUT_MS })) {
      return { status: 201, shown: await showReversal(db, accepted) }
    }
  } catch (error) {
    if (!isUnreachable(error)) throw error
  }
  return { status: 202, shown: { clicks: [...accepted.clickIds], entries: [] } }
}
