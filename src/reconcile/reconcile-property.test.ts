/**
 * The fold and reconcile's SQL share no code. On random histories, in any order, both must give the
 * same figures.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import fc from '../../test/support/fast-check.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { historyArbitrary, RARE_HISTORIES, type Step } from '../../test/support/money-histories.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { EVENT_TYPE, type StoredEvent, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { listEarningsAccounts } from '../ledger/earnings-account.ts'
import { issueStatements } from '../ledger/statement-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { reconcile } from './reconcile.ts'

const db = await testDatabase()
const log = openFoldedLog({ after }, db)
const worlds = [await makePublisherWorld(db), await makePublisherWorld(db, 'other')] as const
const merchId = worlds[0].merchant.merch_id
const campaigns = [await worlds[0].addCampaign(), await worlds[0].addCampaign()]
const articles = [await worlds[0].addArticle('One'), await worlds[1].addArticle('Two')] as const
/** Viewable impressions so far, by the click of their page session. */
type Views = Map<string, { impression_id: string; at_ms: number; click_id: string }[]>

function eventOf(events: MoneyEvents, step: Step, atMs: number, views: Views): StoredEvent {
  switch (step.kind) {
    case 'click': {
      const article = articles[step.world as 0 | 1]
      return events.click(step.name, atMs, {
        merchId: step.isElsewhere ? worlds[1].merchant.merch_id : merchId,
        sessionKey: sessionOf(step.name),
        pubId: worlds[step.world as 0 | 1].publisher.pub_id,
        auctionId: article.auctionId,
        campaignId: step.campaign === null ? null : (campaigns[step.campaign as 0 | 1] ?? null),
        ...step.terms,
        sharePpm: step.sharePpm,
        reason: step.reason,
        resultNumber: Buffer.from(clickId(step.result), 'hex'),
        visitorKey: step.visitor === null ? null : Buffer.from(step.visitor.padEnd(16)),
      })
    }
    case 'order': {
      const dayStart = atMs - (atMs % DAY_MS)
      const report = {
        source: step.source as 'pixel' | 'import' | 's2s',
        updated_at_ms: atMs + step.updatedHours * HOUR_MS,
        ...(step.isDatedByDay
          ? { ordered_at_ms: dayStart, touches_until_ms: dayStart + DAY_MS - 1 }
          : {}),
        value_micros: step.valueMicros,
        currency: step.currency,
        value: ((step.valueMicros ?? 0) / 1e6).toFixed(2),
        ...(step.isTest ? { is_test: true as const } : {}),
        ...(step.isNet ? { is_net: true as const } : {}),
        lines: step.lines.map(([id, cents, quantity]) => orderLine(id, cents, quantity)),
        is_cancelled: step.isCancelled,
        hold: step.isHeld ? ('review' as const) : null,
      }
      return events.order(step.id, atMs, {
        merchId: step.isElsewhere ? worlds[1].merchant.merch_id : merchId,
        report,
        ...(step.exact === null ? {} : { exact: step.exact }),
        ...(step.remembered === null ? {} : { click: step.remembered }),
        ...(step.paysForSeen
          ? { postImpression: { rate_ppm: 31_007, seen: views.get(step.remembered ?? '') ?? [] } }
          : {}),
      })
    }
    case 'view':
      return viewEvent(events, step, atMs, views)
    case 'return': {
      const { returnId: return_id, product: product_id, line, amount, currency } = step
      const goods = line === null && product_id === null && amount === null ? { line: 0 } : {}
      const back =
        amount === null
          ? { quantity: step.quantity }
          : { quantity: 0, amount, ...(currency === null ? {} : { currency }) }
      return {
        ...events.goodsBack(step.id, atMs, { return_id, product_id, line, ...goods, ...back }),
        merchId,
      }
    }
    case 'decision':
      return { ...events.decision(step.id, atMs, step.decision), merchId }
    case 'reversal': {
      const body = JSON.stringify({ click_id: clickId(step.name), reason: 'bought' })
      return events.at(atMs, { type: EVENT_TYPE.reversal, body })
    }
    case 'payment': {
      const { reference, micros: amount_micros } = step
      const body = JSON.stringify({ reference, paid_on: '2026-03-01', amount_micros })
      return events.at(atMs, { type: EVENT_TYPE.payment, merchId, body })
    }
    case 'paymentReversal': {
      const body = JSON.stringify({ reference: step.reference, reason: 'bounced' })
      return events.at(atMs, { type: EVENT_TYPE.paymentReversal, merchId, body })
    }
    default:
      throw new Error('unknown kind')
  }
}

/** Intake names only valid impressions, and robots have none. */
function viewEvent(
  events: MoneyEvents,
  { name, reason }: Extract<Step, { kind: 'view' }>,
  atMs: number,
  views: Views,
): StoredEvent {
  const pubId = worlds[0].publisher.pub_id
  const event = events.at(atMs, {
    ...{ type: EVENT_TYPE.linkViewable, lane: viewLane(pubId), pubId, reason },
    ...{ auctionId: articles[0].auctionId, sessionKey: sessionOf(name) },
  })
  const seen = { impression_id: event.id, at_ms: atMs, click_id: clickId(name) }
  if (reason === REASON.ok) views.set(name, [...(views.get(name) ?? []), seen])
  return event
}

function sessionOf(name: string): Buffer {
  return Buffer.from(`session ${name}`.padEnd(16))
}

/** The state of each publisher's earnings at each merchant, and the ledger's balance. */
async function earnings(until: Date) {
  const accounts: string[] = []
  for (const { publisher } of worlds) {
    const pubId = publisher.pub_id
    for (const account of await listEarningsAccounts(db, { pubId, until })) {
      const { openMicros, dueMicros, dueSinceMs, releasedMicros } = account
      assert.equal(dueSinceMs === null, dueMicros === 0n)
      const earned = openMicros + dueMicros + releasedMicros
      if (earned !== 0n) accounts.push(`${pubId} ${account.merchId} ${earned}`)
    }
  }
  const ledger = await db.rows<{ earned: string }>(sql`
    select pub_id || ' ' || merch_id || ' ' || sum(amount_micros) as earned
    from ledger_line where account = 'publisher'
    group by pub_id, merch_id having sum(amount_micros) <> 0`)
  return [accounts.sort(), ledger.map(({ earned }) => earned).sort()]
}

const differences = async () => (await reconcile(db, { from: null, to: null })).differences

test("for any history, the fold, reconcile's SQL and publishers' accounts agree", async () => {
  const attributions = new Set<string>()
  await fc.assert(
    fc.asyncProperty(historyArbitrary, fc.nat(30), async (history, early) => {
      await db.run(sql`alter table ledger_transaction disable trigger user`)
      await db.run(sql`
        truncate event, click, merchant_order, order_line, order_return, order_return_line,
          stats_day, stats_change, ledger_line, ledger_transaction, click_debt, merchant_payment,
          statement, paid_payout, budget_account, link_day, seen_link, click_figure, figure_slot,
          figure_day, figure_span`)
      const events = new MoneyEvents()
      let atMs = START_MS
      const seen = new Set<string>()
      const views: Views = new Map()
      const all = history.flatMap(({ afterHours, step }) => {
        atMs += afterHours * HOUR_MS
        // The edge generates a click id once.
        if (step.kind === 'click' && seen.has(step.name)) return []
        if (step.kind === 'click') seen.add(step.name)
        return [eventOf(events, step, atMs, views)]
      })
      // Months get their statements, and more events follow.
      for (const [index, part] of [all.slice(0, early), all.slice(early)].entries()) {
        await log.record(...part)
        if (index > 0) assert.deepEqual(await differences(), [], 'reported after its statement')
        await issueStatements(db, { now: new Date(atMs + (index + 1) * 3000 * HOUR_MS) })
      }
      assert.deepEqual(await differences(), [])
      for (const hours of [0, 50, 3000]) {
        const [accounts, ledger] = await earnings(new Date(atMs + hours * HOUR_MS))
        assert.deepEqual(accounts, ledger)
      }
      const models = await db.rows<{ attribution: string }>(sql`
        select attribution from merchant_order where attribution is not null`)
      for (const { attribution } of models) attributions.add(attribution)
    }),
    {
      numRuns: RARE_HISTORIES.length + 30,
      examples: RARE_HISTORIES,
    },
  )
  assert.deepEqual([...attributions].toSorted(), ['exact', 'impression', 'visitor'])
})
