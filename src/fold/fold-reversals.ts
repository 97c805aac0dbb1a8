/**
 * Reversals of clicks found invalid later: the payment is reversed once, on the day of the
 * reversal, and pending orders of these clicks are rejected.
 */

import { returnToBudget } from '../budgets/budget-account.ts'
import type { StoredEvent } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { clickEntry, reversalEntry } from '../ledger/entries.ts'
import { addReversal } from '../orders/order-account.ts'
import { findOrdersOfClicks, keyText, saveOrders } from '../orders/order-store.ts'
import { type Micros, micros } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { clickEvidence, negativeEvidence } from '../prediction/evidence.ts'
import { addPairEvidence, type PairEvidence } from '../prediction/evidence-store.ts'
import type { FigureChange } from './figures.ts'
import { noPostings, type Postings, postChange, writePostings } from './post-order.ts'
import { sampleChange } from './training-sample.ts'

/** The body of a reversal event. */
export interface ReversalBody {
  readonly click_id: string // 32 hex characters
  readonly reason: string
}

interface ReversedClick {
  readonly click_id: Buffer
  readonly event_id: string
  readonly day: string
  readonly at: Date
  readonly pub_id: number
  readonly article_id: number
  readonly merch_id: number
  readonly campaign_id: number | null
  readonly share_ppm: number
  readonly merchant_cost_micros: string
  readonly publisher_earnings_micros: string
  readonly reason: number
}

export async function foldReversals(
  tx: Db,
  events: readonly StoredEvent[],
  changes: FigureChange[],
): Promise<void> {
  const evidence: PairEvidence[] = []
  for (const event of events) {
    const { click_id, reason } = JSON.parse(event.body ?? 'null') as ReversalBody
    const click = await reverseClick(tx, { event, clickId: click_id, reason })
    // Unknown or already reversed, so there is nothing left to reverse.
    if (click === null) continue
    const postings = noPostings(changes)
    await postReversal(tx, postings, { event, click })
    evidence.push(...evidenceChange(click))
    evidence.push(...(await rejectOrders(tx, postings, { event, clickId: click_id })))
    await writePostings(tx, postings)
  }
  await addPairEvidence(tx, evidence)
}

/**
 * The click never showed a reader's interest. It affects the merchant's evidence only if it was
 * paid: unpaid clicks cost nothing to fake, and reversing thousands of them would otherwise harm
 * the merchant.
 */
function evidenceChange(click: ReversedClick): PairEvidence[] {
  if (click.reason !== REASON.ok || click.merch_id === 0) return []
  const pair = { pubId: click.pub_id, merchId: click.merch_id }
  const atMs = click.at.getTime()
  const taken = { ...pair, evidence: negativeEvidence(clickEvidence(atMs, { isValid: true })) }
  if (click.merchant_cost_micros === '0') return [taken]
  return [taken, { ...pair, evidence: clickEvidence(atMs, { isValid: false }) }]
}

function reverseClick(
  tx: Db,
  reversal: { readonly event: StoredEvent; readonly clickId: string; readonly reason: string },
): Promise<ReversedClick | null> {
  return tx.row(sql`
    update click set reversal_event_id = ${reversal.event.id},
      reversed_at = ${new Date(reversal.event.atMs)}, reverse_reason = ${reversal.reason}
    where click_id = ${Buffer.from(reversal.clickId, 'hex')} and reversed_at is null
    returning click_id, event_id, day, at, pub_id, article_id, merch_id, campaign_id, share_ppm,
      merchant_cost_micros, publisher_earnings_micros, reason`)
}

async function postReversal(
  tx: Db,
  postings: Postings,
  { event, click }: { readonly event: StoredEvent; readonly click: ReversedClick },
): Promise<void> {
  // A click that never counted returns nothing.
  if (click.reason !== REASON.ok) return
  const { pub_id: pubId, article_id: articleId, merch_id: merchId } = click
  const paid: Micros = micros(Number(click.merchant_cost_micros))
  postings.changes.push({
    cause: 'reversal',
    eventId: event.id,
    atMs: event.atMs,
    day: event.day,
    clickId: click.click_id.toString('hex'),
    pubId,
    articleId,
    merchId,
    clicks: -1,
    invalidClicks: 1,
    earningsMicros: 0 - Number(click.publisher_earnings_micros),
  })
  if (paid === 0) return
  const original = clickEntry(
    { id: click.event_id, day: click.day, atMs: click.at.getTime() },
    { merchId, pubId, articleId },
    {
      clickIdHex: click.click_id.toString('hex'),
      merchantCostMicros: paid,
      sharePpm: click.share_ppm,
    },
  )
  postings.entries.push(reversalEntry(event, original))
  const campaignId = click.campaign_id ?? 0
  await returnToBudget(tx, { campaignId, day: click.day, micros: paid }, event.day)
}

async function rejectOrders(
  tx: Db,
  postings: Postings,
  { event, clickId }: { readonly event: StoredEvent; readonly clickId: string },
): Promise<PairEvidence[]> {
  const evidence: PairEvidence[] = []
  const orders = await findOrdersOfClicks(tx, [clickId])
  for (const before of orders.values()) {
    const after = { ...before, account: addReversal(before.account, event.atMs) }
    evidence.push(...sampleChange(before, after))
    orders.set(keyText(before), postChange(postings, event, { before, after }))
  }
  if (orders.size > 0) await saveOrders(tx, [...orders.values()])
  return evidence
}
