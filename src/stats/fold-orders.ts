/**
 * Orders, returns and decisions of the log become attributed orders, ledger entries and figures.
 *
 * Called by the money fold for a run of events in log order, inside the transaction that moves the
 * lane's position (I3). Each event is told to its order's account; the difference of the account's
 * figures before and after is what the event posts, on the event's own day (decisions 4.4).
 */
import { attribute, type TouchEvidence } from '../attribution/attribute.ts'
import {
  addDecision,
  addReport,
  addReturn,
  type DecisionBody,
  type OrderAttribution,
  type Owner,
} from '../attribution/order-account.ts'
import {
  emptyOrder,
  type FoundClick,
  findClicks,
  findOrders,
  keyText,
  type OrderKey,
  type OrderRecord,
  saveOrders,
} from '../attribution/order-store.ts'
import { clickIdsOf, type OrderBody, type ReturnBody } from '../attribution/read-order.ts'
import { addPairEvidence, type PairEvidence } from '../demand/evidence-store.ts'
import { EVENT_TYPE, MODEL, type StoredEvent } from '../events/event.ts'
import { micros } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import type { FigureChange } from './figures.ts'
import { lessonChange } from './order-lesson.ts'
import { noPostings, postChange, writePostings } from './post-order.ts'

export async function foldOrders(
  tx: Db,
  events: readonly StoredEvent[],
  changes: FigureChange[],
): Promise<void> {
  const told = events.map(readEvent)
  const orders = await findOrders(
    tx,
    told.map(({ key }) => key),
  )
  const named = told.flatMap((item) => (item.kind === 'order' ? clickIdsOf(item.body) : []))
  const clicks = await findClicks(tx, [...new Set(named)])
  const postings = noPostings(changes)
  const evidence: PairEvidence[] = []
  for (const item of told) {
    const before = orders.get(keyText(item.key)) ?? emptyOrder(item.key)
    const after = tellOrder(before, item, clicks)
    orders.set(keyText(item.key), postChange(postings, item.event, { before, after }))
    evidence.push(...lessonChange(before, after))
  }
  await saveOrders(tx, [...orders.values()])
  await writePostings(tx, postings)
  await addPairEvidence(tx, evidence)
}

type Told = { readonly event: StoredEvent; readonly key: OrderKey } & (
  | { readonly kind: 'order'; readonly body: OrderBody }
  | { readonly kind: 'return'; readonly body: ReturnBody }
  | { readonly kind: 'decision'; readonly body: DecisionBody }
)

function readEvent(event: StoredEvent): Told {
  const body = JSON.parse(event.body ?? 'null') as { order_id: string }
  const key = { merchId: event.merchId ?? 0, orderId: body.order_id }
  switch (event.type) {
    case EVENT_TYPE.order:
      return { event, key, kind: 'order', body: body as OrderBody }
    case EVENT_TYPE.orderReturn:
      return { event, key, kind: 'return', body: body as ReturnBody }
    case EVENT_TYPE.orderDecision:
      return { event, key, kind: 'decision', body: body as DecisionBody }
    default:
      throw new Error(`event ${event.id} of type ${event.type} is not about an order`)
  }
}

type Clicks = ReadonlyMap<string, FoundClick>

function tellOrder(record: OrderRecord, told: Told, clicks: Clicks): OrderRecord {
  const { event } = told
  switch (told.kind) {
    case 'order': {
      const report = { ...told.body.report, event_id: event.id }
      const found = attributionOf(told.key.merchId, told.body, clicks)
      const { account } = addReport(record.account, { report, ...found, atMs: event.atMs })
      return {
        ...record,
        account,
        eventId: record.eventId ?? event.id,
        day: record.day ?? event.day,
      }
    }
    case 'return': {
      const { order_id: _, ...goods } = told.body
      const fact = { ...goods, event_id: event.id, accepted_at_ms: event.atMs }
      return { ...record, account: addReturn(record.account, fact) }
    }
    case 'decision':
      return { ...record, account: addDecision(record.account, told.body, event.atMs) }
  }
}

function attributionOf(
  merchId: number,
  body: OrderBody,
  clicks: Clicks,
): { attribution: OrderAttribution | null; evidence: readonly TouchEvidence[] } {
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
 * Who showed the link: the page of the click in the same session. The merchant pays its own rate
 * for it, outside of every campaign and its budget.
 */
function seenOwner(owner: Owner, ratePpm: number): Owner {
  return { ...owner, campaignId: null, model: MODEL.cpa, priceMicros: micros(ratePpm) }
}
