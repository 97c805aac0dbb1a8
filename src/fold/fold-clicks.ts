/**
 * Clicks of the log become judged clicks, ledger entries, settled leases and daily figures.
 *
 * Called by the money fold for a run of clicks in log order, inside the transaction that moves the
 * lane's position (I3): everything here happens once or not at all.
 */

import { bookSpend, closeLostLeases, type LostLease } from '../budgets/book-spend.ts'
import { type LateClick, noteLateClicks } from '../budgets/open-click-store.ts'
import type { StoredEvent } from '../events/event.ts'
import { isPerOrder, termsOf } from '../events/pay-terms.ts'
import { REASON } from '../events/reason.ts'
import { clickEntry } from '../ledger/entries.ts'
import { insertLedgerEntries } from '../ledger/store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { clickEvidence } from '../prediction/evidence.ts'
import { addPairEvidence, type PairEvidence } from '../prediction/evidence-store.ts'
import type { FigureChange } from './figures.ts'
import {
  ADDRESS_WINDOW_MS,
  type ClickHistory,
  type JudgedClick,
  judgeClicks,
  READER_WINDOW_MS,
  SCANNER_WINDOW_MS,
  type ValidClick,
} from './judge-clicks.ts'

export async function foldClicks(
  tx: Db,
  events: readonly StoredEvent[],
  changes: FigureChange[],
): Promise<void> {
  const history = await findHistory(tx, events)
  const clicks = judgeClicks(events, history)
  const articles = await findArticles(tx, clicks)
  const articleOf = (click: JudgedClick) => articles.get(click.event.auctionId ?? '') ?? 0
  await insertClicks(tx, clicks, articleOf)
  await noteLateClicks(tx, clicks.flatMap(openClick))
  for (const click of clicks) changes.push(figureChange(click, articleOf(click)))
  const paid = clicks.filter(({ merchantCostMicros }) => merchantCostMicros > 0)
  const entries = paid.map((click) => ledgerEntry(click, articleOf(click)))
  await insertLedgerEntries(tx, entries)
  await bookSpend(
    tx,
    clicks
      .filter(({ event }) => event.campaignId !== null)
      .map(({ event, isLate, merchantCostMicros }) => ({
        campaignId: event.campaignId ?? 0,
        day: event.day,
        leaseId: event.leaseId ?? '0',
        reservedMicros: isLate ? 0 : (event.reservedMicros ?? 0),
        merchantCostMicros,
      })),
  )
  await closeLostLeases(tx, lostLeases(clicks, history))
  await addPairEvidence(tx, clicks.flatMap(evidenceOf))
}

/** The leases that clicks asked more of than they had, and the place of the first such click. */
function lostLeases(clicks: readonly JudgedClick[], { leaseRests }: ClickHistory): LostLease[] {
  const lost = new Map<string, LostLease>()
  for (const { event, isLate } of clicks) {
    const { leaseId, seq } = event
    if (!isLate || leaseId === null || !leaseRests.has(leaseId) || lost.has(leaseId)) continue
    lost.set(leaseId, { leaseId, seq })
  }
  return [...lost.values()]
}

/** A click whose order the merchant will owe. */
function openClick({ event, reason }: JudgedClick): LateClick[] {
  const { merchId, clickId, atMs } = event
  if (reason !== REASON.ok || !isPerOrder(termsOf(event))) return []
  return merchId === null || clickId === null ? [] : [{ merchId, clickId, atMs }]
}

/**
 * What a click says about its pair; one that is not paid says nothing. Robots and repeats click
 * before they see any shop, at no cost: held against the shop, they would let anybody lower the
 * quality of a rival, and whose quality is lower pays more for a click.
 */
function evidenceOf({ event, reason }: JudgedClick): PairEvidence[] {
  const { pubId, merchId, atMs } = event
  if (reason !== REASON.ok || pubId === null || merchId === null || merchId === 0) return []
  return [{ pubId, merchId, evidence: clickEvidence(atMs, { isValid: true }) }]
}

async function findHistory(tx: Db, events: readonly StoredEvent[]): Promise<ClickHistory> {
  const results = events.flatMap(({ resultNumber }) => resultNumber ?? [])
  const leased = events.filter(({ leaseId }) => leaseId !== null)
  const leases = leased.map(({ leaseId }) => leaseId)
  const campaigns = leased.map(({ campaignId }) => campaignId)
  const reserved = await tx.rows<{ result_number: Buffer }>(sql`
    select result_number from click where is_reserved and result_number = any(${results}::bytea[])`)
  // A lease that the database lost holds nothing any more: it was restored from a backup, or a
  // standby took over that had not heard of it yet. A lease that it knows may have lost grants.
  const open = await tx.rows<{ lease_id: string; rest: string }>(sql`
    select distinct lease_id, granted_micros - reserved_folded_micros as rest
    from unnest(${leases}::bigint[], ${campaigns}::int[]) as input (lease_id, campaign_id)
    join lease using (lease_id, campaign_id)
    where closed_at is null`)
  return {
    reservedResults: new Set(reserved.map((row) => row.result_number.toString('hex'))),
    validClicks: await findValidClicks(tx, events),
    leaseRests: new Map(open.map(({ lease_id, rest }) => [lease_id, Number(rest)])),
  }
}

/** Asks the index for each key: joined, the planner would read all clicks of the last days. */
const PROBED = sql`offset 0`

/**
 * The valid clicks that share a key with these, each once. An address unit that thousands of
 * readers share has many clicks a day, so only those that a rule can look at are read.
 */
async function findValidClicks(tx: Db, events: readonly StoredEvent[]): Promise<ValidClick[]> {
  const visitors = events.flatMap(({ visitorKey }) => visitorKey ?? [])
  const ruled = events.filter(({ agentKey, reason }) => agentKey !== null && reason === REASON.ok)
  const addresses = ruled.map(({ addressKey }) => addressKey)
  const campaigns = ruled.map(({ campaignId }) => campaignId ?? 0)
  const withoutCookie = ruled.filter(({ visitorReturned }) => visitorReturned !== 1)
  const agents = withoutCookie.map(({ agentKey }) => agentKey)
  const agentAddresses = withoutCookie.map(({ addressKey }) => addressKey)
  const firstMs = Math.min(...events.map(({ atMs }) => atMs))
  const before = (ms: number) => new Date(firstMs - ms)
  const columns = sql`event_id, visitor_key, agent_key, address_key, visitor_returned,
    coalesce(campaign_id, 0) as campaign_id, auction_id, at`
  const rows = await tx.rows<{
    visitor_key: Buffer | null
    agent_key: Buffer | null
    address_key: Buffer | null
    visitor_returned: boolean | null
    campaign_id: number
    auction_id: string
    at: Date
  }>(sql`
    select ${columns} from click
    where visitor_key = any(${visitors}::bytea[]) and reason = 0
      and at > ${before(READER_WINDOW_MS)}
    union
    select found.* from (
      select distinct * from unnest(${addresses}::bytea[], ${campaigns}::int[])
    ) as ruled (of_address, of_campaign)
    cross join lateral (
      select ${columns} from click
      where address_key = of_address and coalesce(campaign_id, 0) = of_campaign
        and reason = 0 and at > ${before(ADDRESS_WINDOW_MS)} ${PROBED}
    ) as found
    union
    select found.* from (
      select distinct * from unnest(${agentAddresses}::bytea[], ${agents}::bytea[])
    ) as ruled (of_address, of_agent)
    cross join lateral (
      select ${columns} from click
      where address_key = of_address and agent_key = of_agent
        and reason = 0 and visitor_returned is not true
        and at > ${before(SCANNER_WINDOW_MS)} ${PROBED}
    ) as found`)
  return rows.map((row) => ({
    visitorKey: row.visitor_key?.toString('hex') ?? null,
    agentKey: row.agent_key?.toString('hex') ?? null,
    addressKey: row.address_key?.toString('hex') ?? null,
    isVisitorReturned: row.visitor_returned === true,
    campaignId: row.campaign_id,
    auctionId: row.auction_id,
    atMs: row.at.getTime(),
  }))
}

async function findArticles(
  tx: Db,
  clicks: readonly JudgedClick[],
): Promise<ReadonlyMap<string, number>> {
  const auctions = [...new Set(clicks.flatMap(({ event }) => event.auctionId ?? []))]
  const rows = await tx.rows<{ auction_id: string; article_id: number }>(sql`
    select auction_id, article_id from smart_link where auction_id = any(${auctions}::bigint[])`)
  return new Map(rows.map((row) => [row.auction_id, row.article_id]))
}

type ArticleOf = (click: JudgedClick) => number

const CLICK_COLUMNS = sql`event_id, click_id, result_number, day, at, pub_id, article_id,
  auction_id, merch_id, campaign_id, offer_id, model, terms_amount, share_ppm, merchant_cost_micros,
  publisher_earnings_micros, reason, is_reserved, visitor_key, session_key, address_key, agent_key,
  visitor_returned`

/** With each click its offer's version, in one statement: an import may replace it any time. */
async function insertClicks(tx: Db, clicks: readonly JudgedClick[], articleOf: ArticleOf) {
  const column = <T>(read: (click: JudgedClick) => T): T[] => clicks.map(read)
  await tx.run(sql`
    with said as (
      select offer_id, from_generation, product_id, category_id, brand, title, price_micros
      from current_offer
      where offer_id = any(${clicks.flatMap(({ event }) => event.offerId ?? [])}::bigint[])
    ), kept as (
      insert into clicked_offer select * from said on conflict do nothing
    )
    insert into click (${CLICK_COLUMNS}, offer_generation)
    select input.*, said.from_generation from unnest(
      ${column(({ event }) => event.id)}::bigint[],
      ${column(({ event }) => event.clickId)}::bytea[],
      ${column(({ event }) => event.resultNumber)}::bytea[],
      ${column(({ event }) => event.day)}::date[],
      ${column(({ event }) => new Date(event.atMs))}::timestamptz[],
      ${column(({ event }) => event.pubId ?? 0)}::int[],
      ${column(articleOf)}::int[],
      ${column(({ event }) => event.auctionId ?? '0')}::bigint[],
      ${column(({ event }) => event.merchId ?? 0)}::int[],
      ${column(({ event }) => event.campaignId)}::int[],
      ${column(({ event }) => event.offerId)}::bigint[],
      ${column(({ event }) => event.model ?? 0)}::smallint[],
      ${column(({ event }) => event.termsAmount ?? 0)}::bigint[],
      ${column(({ event }) => event.sharePpm ?? 0)}::int[],
      ${column((click) => click.merchantCostMicros)}::bigint[],
      ${column((click) => click.publisherEarningsMicros)}::bigint[],
      ${column((click) => click.reason)}::smallint[],
      ${column((click) => click.isReserved)}::boolean[],
      ${column(({ event }) => event.visitorKey)}::bytea[],
      ${column(({ event }) => event.sessionKey)}::bytea[],
      ${column(({ event }) => (event.agentKey === null ? null : event.addressKey))}::bytea[],
      ${column(({ event }) => event.agentKey)}::bytea[],
      ${column(({ event }) => event.visitorReturned)}::int[]::boolean[]
    ) as input (${CLICK_COLUMNS})
    left join said using (offer_id)`)
}

function ledgerEntry({ event, merchantCostMicros }: JudgedClick, articleId: number) {
  const parties = { merchId: event.merchId ?? 0, pubId: event.pubId ?? 0, articleId }
  const clickIdHex = event.clickId?.toString('hex') ?? ''
  return clickEntry(event, parties, {
    clickIdHex,
    merchantCostMicros,
    sharePpm: event.sharePpm ?? 0,
  })
}

function figureChange({ event, reason, publisherEarningsMicros }: JudgedClick, articleId: number) {
  return {
    cause: 'click',
    eventId: event.id,
    atMs: event.atMs,
    day: event.day,
    clickId: event.clickId?.toString('hex') ?? '',
    pubId: event.pubId ?? 0,
    articleId,
    merchId: event.merchId ?? 0,
    clicks: Number(reason === REASON.ok),
    invalidClicks: Number(reason !== REASON.ok),
    makesRow: reason === REASON.ok || reason === REASON.unfunded,
    earningsMicros: publisherEarningsMicros,
  } satisfies FigureChange
}
