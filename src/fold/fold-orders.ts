/**
 * Turns orders, returns and decisions of the log into attributed orders, ledger entries and
 * figures.
 *
 * The money fold calls this for a run of events in log order, inside the transaction that advances
 * the lane's position (I3). Each event updates its order's account. The difference of the account's
 * figures before and after is posted on the event's own day.
 */

import { noteReopenedClicks } from '../budgets/open-click-store.ts'
import { EVENT_TYPE, type StoredEvent } from '../events/event.ts'
import { attribute } from '../orders/attribute.ts'
import type { Owner } from '../orders/order-account.ts'
import { applyEvent, type Found, type OrderEvent } from '../orders/order-event.ts'
import {
  emptyOrder,
  type FoundClick,
  findClicks,
  findOrders,
  keyText,
  type OrderKey,
  type OrderRecord,
  saveOrders,
} from '../orders/order-store.ts'
import { clickIdsOf, type OrderBody } from '../orders/read-order.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { addPairEvidence, type PairEvidence } from '../prediction/evidence-store.ts'
import type { FigureChange } from './figures.ts'
import { noPostings, postChange, writePostings } from './post-order.ts'
import { sampleChange } from './training-sample.ts'

export async function foldOrders(
  tx: Db,
  events: readonly StoredEvent[],
  changes: FigureChange[],
): Promise<void> {
  const all = events.map(readEvent)
  const orders = await findOrders(
    tx,
    all.map(({ key }) => key),
  )
  const named = all.flatMap(({ orderEvent }) =>
    orderEvent.type === EVENT_TYPE.order ? clickIdsOf(orderEvent.body) : [],
  )
  const clicks = await findClicks(tx, [...new Set(named)])
  const postings = noPostings(changes)
  const evidence: PairEvidence[] = []
  const reopened: string[] = []
  for (const item of all) {
    const before = orders.get(keyText(item.key)) ?? emptyOrder(item.key)
    const after = applyToRecord(before, item, clicks)
    orders.set(keyText(item.key), postChange(postings, item.event, { before, after }))
    evidence.push(...sampleChange(before, after))
    reopened.push(...clickLost(before, after))
  }
  await saveOrders(tx, [...orders.values()])
  await noteReopenedClicks(tx, reopened)
  await writePostings(tx, postings)
  await addPairEvidence(tx, evidence)
}

interface ParsedEvent {
  readonly event: StoredEvent
  readonly orderEvent: OrderEvent
  readonly key: OrderKey
}

function readEvent(event: StoredEvent): ParsedEvent {
  const { id, atMs, type, merchId, body } = event
  const orderEvent = { id, atMs, type, body: JSON.parse(body ?? 'null') } as OrderEvent
  return { event, orderEvent, key: { merchId: merchId ?? 0, orderId: orderEvent.body.order_id } }
}

/** The click that led to the order until now, and does so no more. */
function clickLost(before: OrderRecord, after: OrderRecord): string[] {
  const [was, is] = [before, after].map(({ account: { attribution } }) =>
    attribution === null || attribution.model === 'impression' ? null : attribution.owner.clickId,
  )
  return was == null || was === is ? [] : [was]
}

type Clicks = ReadonlyMap<string, FoundClick>

function applyToRecord(
  record: OrderRecord,
  { event, orderEvent }: ParsedEvent,
  clicks: Clicks,
): OrderRecord {
  const { account, merchId } = record
  if (orderEvent.type !== EVENT_TYPE.order)
    return { ...record, account: applyEvent(account, orderEvent) }
  const found = attributionOf(merchId, orderEvent.body, clicks)
  const [eventId, day] = [record.eventId ?? event.id, record.day ?? event.day]
  return { ...record, account: applyEvent(account, orderEvent, found), eventId, day }
}

function attributionOf(merchId: number, body: OrderBody, clicks: Clicks): Found {
  const touches = clickIdsOf(body).flatMap((id) => clicks.get(id)?.touch ?? [])
  const { attribution, evidence } = attribute(
    {
      merchId,
      orderedAtMs: body.report.ordered_at_ms,
      touchesUntilMs: body.report.touches_until_ms ?? body.report.ordered_at_ms,
      exactClickId: body.exact_click_id,
      rememberedClickIds: body.remembered_click_ids,
    },
    touches,
    { windowDays: body.window_days, isPostImpression: body.post_impression !== undefined },
    (body.post_impression?.seen ?? []).map((seen) => ({
      impressionId: seen.impression_id,
      atMs: seen.at_ms,
      merchId,
      clickId: seen.click_id,
    })),
  )
  const owner = clicks.get(attribution?.touchId ?? '')?.owner
  if (attribution === null || owner === undefined) return { attribution: null, evidence }
  const { model } = attribution
  const ratePpm = body.post_impression?.rate_ppm ?? 0
  return {
    attribution: { model, owner: model === 'impression' ? seenOwner(owner, ratePpm) : owner },
    evidence,
  }
}

/**
 * The owner of an impression: the page of the click in the same session. The merchant pays its own
 * rate for it, outside every campaign and its budget.
 */
function seenOwner(owner: Owner, ratePpm: number): Owner {
  return { ...owner, campaignId: null, terms: { model: 'cpa', ratePpm } }
}
