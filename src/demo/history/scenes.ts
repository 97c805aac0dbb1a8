/**
 * What the people of the demo network did on single days of its history: changes, decisions, and
 * payments. Each call runs through the operation that a dashboard calls.
 */
import type { Operation } from '../../accounts/operation.ts'
import { listSpending } from '../../budgets/budget-account.ts'
import { readAccount } from '../../ledger/debt-store.ts'
import { statementId } from '../../ledger/statement.ts'
import { approveOrderBy, rejectOrderBy } from '../../operator/held-order-operations.ts'
import type { OpenWriter } from '../../operator/money-writer.ts'
import { networkOperations } from '../../operator/operations.ts'
import { recordPaymentBy } from '../../operator/payment-operations.ts'
import { listPayoutRows } from '../../operator/payout-store.ts'
import type { IntakeDeps } from '../../orders/intake.ts'
import { decisionRefusal } from '../../orders/order-states.ts'
import { MICROS_PER_DOLLAR } from '../../platform/money/money.ts'
import { utcDay } from '../../platform/time/timestamp.ts'
import { type OrderDecision, requireOrder } from '../../reports/decide-order.ts'
import { findOrderId } from '../../reports/order-record-store.ts'
import { operationsForMerchants } from '../../server/operations-for-merchants.ts'
import { operationsForPublishers } from '../../server/operations-for-publishers.ts'
import { createWebhook } from '../../webhooks/create-webhook.ts'
import { issueWithNotices } from '../../webhooks/make-notices.ts'
import type { WebhookEvent, WebhookOwner } from '../../webhooks/webhook.ts'
import type { DemoState } from '../load.ts'
import { ARTICLES, MERCHANTS } from '../network.ts'
import { dateCampaign, dateLinkChange, dateWebhook } from './history-store.ts'
import type { PastNode } from './past-node.ts'
import { ADMIN, act, type Call, type Person } from './people.ts'
import type { LinksOf } from './play-visits.ts'

export interface Stage {
  readonly past: PastNode
  readonly state: DemoState
  readonly linksOf: LinksOf
  readonly intake: IntakeDeps
}

/** The campaign whose budget is spent: created and capped on these days. */
const EXTRA = { slug: 'basecamp-direct', fromDaysAgo: 48, spentDaysAgo: 27, bidDollars: 0.97 }
const DISABLED_DAYS_AGO = 12
export const WEBHOOKS_DAYS_AGO = 10
const MOVED_WEBHOOK_DAYS_AGO = 8
/** These shops pay every two weeks, the others once a month. */
const PAYING_BIWEEKLY = ['kettlework', 'basecamp-direct', 'windward-outfitters']
const BIWEEKLY = { days: 14, offset: 4 }
const PAY_DAY = 5 // of the month
/** This shop has not paid since. */
const LATE = { slug: 'edge-supply', sinceDaysAgo: 34 }
const PAYOUT_DAY = 8 // of the month
/** This publisher's latest payout is not made yet. */
const WAITING_PUBLISHER = 'trail-ledger'

/** Whether anything happens on this day, so that everything before it must be folded. */
export function hasScene(daysAgo: number, dayMs: number): boolean {
  const dayOfMonth = new Date(dayMs).getUTCDate()
  return (
    [
      EXTRA.fromDaysAgo,
      EXTRA.spentDaysAgo,
      DISABLED_DAYS_AGO,
      WEBHOOKS_DAYS_AGO,
      MOVED_WEBHOOK_DAYS_AGO,
    ].includes(daysAgo) ||
    [PAY_DAY, PAYOUT_DAY, STATEMENT_DAY].includes(dayOfMonth) ||
    daysAgo % BIWEEKLY.days === BIWEEKLY.offset
  )
}

/** Statements are issued in the second night of a month. */
const STATEMENT_DAY = 2

/** What happens on the morning of a day. */
export async function playScenes(stage: Stage, daysAgo: number): Promise<void> {
  const { clock } = stage.past
  const dayOfMonth = new Date(clock.nowMs).getUTCDate()
  if (dayOfMonth === STATEMENT_DAY) await issueWithNotices(stage.past.node.database, now(stage))
  if (daysAgo === EXTRA.fromDaysAgo) await createExtraCampaign(stage)
  if (daysAgo === EXTRA.spentDaysAgo) await capExtraCampaign(stage)
  if (daysAgo === DISABLED_DAYS_AGO) await disableLinks(stage)
  if (daysAgo === WEBHOOKS_DAYS_AGO) await createWebhooks(stage)
  if (daysAgo === MOVED_WEBHOOK_DAYS_AGO) await createMovedWebhook(stage)
  for (const { slug, name } of MERCHANTS) {
    const isBiweekly = PAYING_BIWEEKLY.includes(slug)
    const isDue = isBiweekly ? daysAgo % BIWEEKLY.days === BIWEEKLY.offset : dayOfMonth === PAY_DAY
    const isLate = slug === LATE.slug && daysAgo <= LATE.sinceDaysAgo
    if (isDue && !isLate) await pay(stage, slug, name)
  }
  if (dayOfMonth === PAYOUT_DAY) await payOut(stage)
}

const now = ({ past }: Stage) => new Date(past.clock.nowMs)

function run(stage: Stage, call: Call) {
  const { past, intake } = stage
  const { node, clock } = past
  // It waits for the fold as this node does, which knows at once.
  const open: OpenWriter = () => ({ ...intake, folded: () => past.untilFolded() })
  const operations: Operation[] = [
    ...[recordPaymentBy(open), approveOrderBy(open), rejectOrderBy(open)],
    ...operationsForPublishers(node),
    ...operationsForMerchants(node, intake),
    ...networkOperations(node, intake),
  ]
  return act(node.database, { operations, nowMs: clock.nowMs }, call)
}

function ownerOf({ state }: Stage): Person {
  return { ...ADMIN, email: state.email }
}

async function createExtraCampaign(stage: Stage): Promise<void> {
  const merch_id = stage.state.merchants[EXTRA.slug]
  const [created] = await run(stage, {
    ...{ id: 'createCampaign', by: ownerOf(stage), params: { merch_id } },
    body: { model: 'cpc', bid: EXTRA.bidDollars.toFixed(2) },
  })
  const at = { createdAt: now(stage), updatedAt: now(stage) }
  await dateCampaign(stage.past.node.database, Number(created?.campaign_id), at)
}

/** To the next whole dollar: less than a click is left. */
async function capExtraCampaign(stage: Stage): Promise<void> {
  const db = stage.past.node.database
  const merchId = stage.state.merchants[EXTRA.slug] ?? 0
  const spending = await listSpending(db, { today: utcDay(stage.past.clock.nowMs), merchId })
  const last = spending.toSorted((one, other) => one.campaign_id - other.campaign_id).at(-1)
  if (last === undefined) return
  const budget = Math.ceil(Number(last.spent_micros) / MICROS_PER_DOLLAR)
  await changeCampaign(stage, { merchId, campaignId: last.campaign_id }, { budget })
}

/** Amounts in whole dollars. */
async function changeCampaign(
  stage: Stage,
  { merchId, campaignId }: { readonly merchId: number; readonly campaignId: number },
  dollars: Readonly<Record<string, number>>,
): Promise<void> {
  const amounts = Object.entries(dollars).map(([name, amount]) => [name, amount.toFixed(2)])
  await run(stage, {
    ...{ id: 'updateCampaign', by: ownerOf(stage) },
    params: { merch_id: merchId, campaign_id: campaignId },
    body: Object.fromEntries(amounts),
  })
  const db = stage.past.node.database
  await dateCampaign(db, campaignId, { createdAt: null, updatedAt: now(stage) })
}

/** The caps that the campaigns have from now on; each is far above what a day has cost so far. */
export async function capCampaigns(stage: Stage): Promise<void> {
  for (const { slug, campaigns } of MERCHANTS) {
    const merchId = stage.state.merchants[slug] ?? 0
    const known = await listCampaignIds(stage, merchId)
    for (const [
      index,
      { dailyBudgetDollars: daily, budgetDollars: total },
    ] of campaigns.entries()) {
      const campaignId = known[index]
      if (campaignId === undefined || (daily ?? total) === undefined) continue
      await changeCampaign(
        stage,
        { merchId, campaignId },
        {
          ...(daily === undefined ? {} : { daily_budget: daily }),
          ...(total === undefined ? {} : { budget: total }),
        },
      )
    }
  }
}

async function listCampaignIds({ past }: Stage, merchId: number): Promise<number[]> {
  const all = [...past.node.edge.market.campaigns.values()]
  return all.filter((one) => one.merch_id === merchId).map((one) => one.campaign_id)
}

async function disableLinks(stage: Stage): Promise<void> {
  for (const article of ARTICLES) {
    for (const [index, { fate }] of article.picks.entries()) {
      const auctionId = stage.linksOf(article)[index]
      const pubId = stage.state.publishers[article.publisher]
      if (fate !== 'disabled' || auctionId === undefined || pubId === undefined) continue
      const of = { kind: 'publisher', id: pubId } as const
      await run(stage, {
        id: 'updateLinkSettings',
        by: { email: 'publisher-manager@souk.example', role: 'manager', of },
        params: { pub_id: pubId, link_id: auctionId },
        body: { state: 'disabled' },
      })
      await dateLinkChange(stage.past.node.database, auctionId, now(stage))
    }
  }
}

/** It is answered by the demo's own site. */
function createWebhooks(stage: Stage): Promise<void> {
  return addWebhook(stage, {
    owner: { pubId: stage.state.publishers.hearthside ?? 0 },
    page: 'hearthside',
    events: ['order.attributed', 'order.locked', 'order.returned', 'payout.ready'],
  })
}

/** Its page is not there, so its deliveries fail. */
function createMovedWebhook(stage: Stage): Promise<void> {
  const owner = { merchId: stage.state.merchants.kettlework ?? 0 }
  return addWebhook(stage, { owner, page: 'moved-away', events: ['order.attributed'] })
}

async function addWebhook(
  stage: Stage,
  hook: { readonly owner: WebhookOwner; readonly page: string; readonly events: WebhookEvent[] },
): Promise<void> {
  const db = stage.past.node.database
  const url = `http://127.0.0.1:${stage.state.sitePort}/hooks/${hook.page}`
  const { webhook } = await createWebhook(db, { owner: hook.owner, url, events: hook.events })
  await dateWebhook(db, webhook.webhook_id, now(stage))
}

/** A shop pays everything that is due. */
async function pay(stage: Stage, slug: string, name: string): Promise<void> {
  const { past, state } = stage
  const merchId = state.merchants[slug] ?? 0
  const { owed_usd } = await readAccount(past.node.database, { merchId, until: now(stage) })
  if (Number(owed_usd) < 1) return
  const day = utcDay(past.clock.nowMs)
  await run(stage, {
    ...{ id: 'recordPayment', by: ADMIN },
    body: {
      merch_id: merchId,
      amount_usd: (Math.ceil(Number(owed_usd) * 100) / 100).toFixed(2),
      paid_on: day,
      reference: `${name} ${day}`,
    },
  })
}

/** The operator pays out the statements that are due, except the latest of one publisher. */
async function payOut(stage: Stage): Promise<void> {
  const { past, state } = stage
  const rows = await listPayoutRows(past.node.database, { month: null, isPaid: false })
  const latest = rows
    .map(({ month }) => month)
    .toSorted()
    .at(-1)
  for (const { pub_id, month } of rows) {
    if (pub_id === state.publishers[WAITING_PUBLISHER] && month === latest) continue
    const statement_id = statementId(pub_id, month)
    const paid_on = utcDay(past.clock.nowMs)
    await run(stage, {
      ...{ id: 'confirmPayout', by: ADMIN, params: { statement_id } },
      body: { paid_on, reference: `SEPA ${statement_id}` },
    })
  }
}

/** The operator decides about an order, unless the network's rules refuse that by now. */
export async function decide(
  stage: Stage,
  order: { readonly slug: string; readonly orderId: string },
  decision: OrderDecision,
): Promise<void> {
  const merchId = stage.state.merchants[order.slug] ?? 0
  const key = { merchId, orderId: order.orderId }
  const db = stage.past.node.database
  const known = await requireOrder(db, { ...key, now: now(stage) })
  const current = { ...known, isReported: known.accepted_at !== null }
  const order_id = await findOrderId(db, key)
  if (order_id === null || decisionRefusal(current, decision.kind) !== null) return
  await run(stage, {
    ...{ by: ADMIN, params: { order_id } },
    ...(decision.kind === 'approve'
      ? { id: 'approveHeldOrder' }
      : { id: 'rejectHeldOrder', body: { reason: decision.reason } }),
  })
}
