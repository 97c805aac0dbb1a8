/** Reverses clicks found invalid later, by their id, or all clicks of an auction result. */

import type { Change } from '../accounts/audit-store.ts'
import { appendMoney, REASON_LENGTH_MAX } from '../events/append-money.ts'
import { EVENT_TYPE, type LogEvent } from '../events/event.ts'
import type { ReversalBody } from '../fold/fold-reversals.ts'
import { listEntriesOfEvents } from '../ledger/store.ts'
import type { IntakeDeps } from '../orders/intake.ts'
import { badRequest, type Fault, notFound, wrongState } from '../platform/errors/api-errors.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { textFaults } from '../platform/text/characters.ts'
import { findClicksToReverse, listClicksReversedBy } from './click-store.ts'

const HEX_32 = /^[0-9a-f]{32}$/

export interface WantedReversal {
  readonly clickId: string | null // exactly one of the two is given
  readonly resultNumber: string | null
  readonly reason: string
}

type ReversalField = 'click' | 'result'

export interface AcceptedReversal {
  readonly field: ReversalField
  readonly clickIds: readonly string[]
  readonly events: readonly LogEvent[]
}

/**
 * Accepts a reversal. Resolves when it is durable; the fold then reverses the payment.
 *
 * Throws a 400 for an invalid request, a 404 for an unknown click, and a 409 when all clicks were
 * reversed before.
 */
export async function acceptReversal(
  deps: IntakeDeps,
  wanted: WantedReversal,
): Promise<AcceptedReversal> {
  const key = checked(wanted)
  const reason = wanted.reason.trim()
  const clicks = await findClicksToReverse(deps.db, key)
  if (clicks.length === 0) throw notFound('No such click')
  const open = clicks.filter(({ isReversed }) => !isReversed)
  if (open.length === 0) throw wrongState(reversedAlready(key.field))
  const news = open.map(({ clickId, pubId, merchId }) => {
    const body: ReversalBody = { click_id: clickId, reason }
    return { pubId, merchId, body }
  })
  const events = await appendMoney(deps, EVENT_TYPE.reversal, news)
  return { field: key.field, clickIds: open.map(({ clickId }) => clickId), events }
}

/**
 * The clicks and ledger entries of a folded reversal. Throws a 409 when another reversal of the
 * same clicks came earlier in the log.
 */
export async function showReversal(db: Db, { field, clickIds, events }: AcceptedReversal) {
  const eventIds = events.map(({ id }) => id)
  const clicks = await listClicksReversedBy(db, { clickIds, eventIds })
  if (clicks.length === 0) throw wrongState(reversedAlready(field))
  const lines = await listEntriesOfEvents(db, eventIds)
  return {
    clicks,
    entries: [...Map.groupBy(lines, ({ idempotency_key: entry }) => entry)].map(([entry, of]) => ({
      entry,
      kind: of[0]?.kind ?? '',
      day: of[0]?.day ?? '',
      corrects: of[0]?.corrects ?? null,
      lines: of.map((line) => ({
        account: line.account,
        merch_id: line.merch_id,
        pub_id: line.pub_id,
        article_id: line.article_id,
        amount_usd: formatExact(line.amount_micros),
      })),
    })),
  }
}

/** The entry of a reversal in the audit log. */
export function reversalChange({ clickId, resultNumber, reason }: WantedReversal): Change {
  const target = clickId === null ? `result:${resultNumber}` : `click:${clickId}`
  return { action: 'click.reverse', target: target.toLowerCase(), after: { reason } }
}

const reversedAlready = (field: ReversalField): Fault => ({
  field,
  rule: 'was reversed before; at most once per click',
})

interface ReversalRequest {
  readonly click?: unknown
  readonly result?: unknown
  readonly reason?: unknown
}

/**
 * Faults that schemas cannot express: exactly one of two fields is required, and text must not be
 * blank.
 */
export function reversalFaults(request: ReversalRequest | null): Fault[] {
  const { click = null, result = null, reason } = request ?? {}
  const blank = typeof reason === 'string' ? textFaults('reason', reason, REASON_LENGTH_MAX) : []
  // Neither would reverse nothing, and with both one would be ignored.
  if ((click === null) !== (result === null)) return blank
  return [{ field: 'click', rule: 'either a click or a result must be given' }, ...blank]
}

function checked({ clickId, resultNumber, reason }: WantedReversal) {
  const field: ReversalField = clickId === null ? 'result' : 'click'
  const faults = reversalFaults({ click: clickId, result: resultNumber, reason })
  if (faults.length > 0) throw badRequest(faults)
  const id = (clickId ?? resultNumber ?? '').toLowerCase()
  if (!HEX_32.test(id)) {
    throw badRequest([{ field, rule: 'must be 32 hexadecimal characters' }])
  }
  return { field, clickId: clickId && id, resultNumber: resultNumber && id }
}
