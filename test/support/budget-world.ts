/**
 * Campaigns whose budgets a simulated fleet spends, and the truth about each: what may be charged,
 * what was reserved, what was paid. Part of src/budgets/budget-simulation.test.ts.
 */
import assert from 'node:assert/strict'
import { applyBudgets, openAccounts } from '../../src/budgets/budget-account.ts'
import { dayNumberOf, dayText } from '../../src/budgets/lease-terms.ts'
import type { Db } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import type { Random } from './seeded-random.ts'

/** The account of a campaign's whole life; other accounts are named by their day. */
const LIFE = 'life'

export interface World {
  readonly campaignId: number
  readonly priceMaxMicros: number
  readonly readersPerTick: number
  dailyCap: number | null
  totalCap: number | null
  /** The most that may ever be charged, by account; Infinity without a cap. */
  readonly ceilings: Map<string, number>
  /** Reserved for clicks that exist or may still appear, by account. */
  readonly reserved: Map<string, number>
  /** Paid by the judge so far, by account. */
  readonly paid: Map<string, number>
  readonly judgedResults: Set<number>
}

export interface WorldRange {
  readonly firstCampaign: number // Given, so that one fleet alone replays as it ran among others.
  readonly count: number
}

/** Creates campaigns with all kinds of caps, with accounts for yesterday, today and tomorrow. */
export async function createWorlds(
  db: Db,
  random: Random,
  { firstCampaign, count, startMs }: WorldRange & { startMs: number },
): Promise<World[]> {
  const worlds = Array.from({ length: count }, (_, index) =>
    makeWorld(random, firstCampaign + index),
  )
  await db.run(sql`
    insert into campaign
      (campaign_id, merch_id, model, bid_micros, daily_budget_micros, budget_micros)
    overriding system value
    select id, 1, 'cpc', price, daily, total from unnest(
      ${worlds.map((world) => world.campaignId)}::int[],
      ${worlds.map((world) => world.priceMaxMicros)}::bigint[],
      ${worlds.map((world) => world.dailyCap)}::bigint[],
      ${worlds.map((world) => world.totalCap)}::bigint[]) as world (id, price, daily, total)`)
  const today = dayNumberOf(startMs)
  const days = [today - 1, today, today + 1].map(dayText)
  await openAccounts(
    db,
    worlds.flatMap(({ campaignId }) => days.map((day) => ({ campaignId, day }))),
  )
  for (const { ceilings, dailyCap, totalCap } of worlds) {
    ceilings.set(LIFE, totalCap ?? Number.POSITIVE_INFINITY)
    for (const day of days) ceilings.set(day, dailyCap ?? Number.POSITIVE_INFINITY)
  }
  return worlds
}

function makeWorld(random: Random, campaignId: number): World {
  const price = 10_000 + Math.floor(random() * 500_000)
  const clicks = 1 + Math.floor(random() ** 2 * 80)
  const cap = Math.floor(price * clicks * (1 + random() * 0.3))
  const kind = random()
  const both = Math.floor(cap * (0.5 + random()))
  return {
    campaignId,
    priceMaxMicros: price,
    readersPerTick: random() ** 2 * 2,
    dailyCap: kind < 0.8 ? cap : null,
    totalCap: kind < 0.3 ? both : kind < 0.8 ? null : cap,
    ceilings: new Map(),
    reserved: new Map(),
    paid: new Map(),
    judgedResults: new Set(),
  }
}

/** The claim itself: at no time do chargeable clicks exceed a cap. */
export function countReserved(world: World, day: string, changeMicros: number): void {
  for (const account of [LIFE, day]) {
    const reserved = (world.reserved.get(account) ?? 0) + changeMicros
    world.reserved.set(account, reserved)
    const ceiling = world.ceilings.get(account) ?? 0
    assert(reserved <= ceiling, `campaign ${world.campaignId} reserved ${reserved} of ${ceiling}`)
  }
}

export function countPaid(world: World, day: string, micros: number): void {
  for (const account of [LIFE, day]) {
    world.paid.set(account, (world.paid.get(account) ?? 0) + micros)
  }
}

interface AccountRow {
  readonly campaign_id: number
  readonly day: string | null
  readonly settled_micros: string
  readonly escrow_micros: string
}

/** Invariant B1, and settled = truth, for every account of every world. */
export async function checkAccounts(db: Db, worlds: readonly World[]): Promise<AccountRow[]> {
  const rows = await db.rows<AccountRow>(sql`
    select campaign_id, day, settled_micros, escrow_micros from budget_account
    where campaign_id = any(${worlds.map(({ campaignId }) => campaignId)}::int[])`)
  const byId = new Map(worlds.map((world) => [world.campaignId, world]))
  for (const row of rows) {
    const world = byId.get(row.campaign_id)
    const account = row.day ?? LIFE
    assert.equal(Number(row.settled_micros), world?.paid.get(account) ?? 0, 'settled is not truth')
    assert(usedOf(row) <= (world?.ceilings.get(account) ?? 0), 'B1: settled + escrow over the cap')
  }
  return rows
}

const usedOf = (row: AccountRow): number => Number(row.settled_micros) + Number(row.escrow_micros)

/** Escrow equals the open leases, and is zero once all of them are closed. */
export async function checkEscrow(
  db: Db,
  worlds: readonly World[],
  { isAllClosed }: { isAllClosed: boolean },
): Promise<void> {
  const leased = await db.rows<{ campaign_id: number; day: string | null; micros: string }>(sql`
    select campaign_id, day, sum(granted_micros - reserved_folded_micros) as micros from lease
    where closed_at is null
      and campaign_id = any(${worlds.map(({ campaignId }) => campaignId)}::int[])
    group by grouping sets ((campaign_id, day), (campaign_id))`)
  const held = new Map(leased.map((row) => [`${row.campaign_id} ${row.day}`, row.micros]))
  for (const row of await checkAccounts(db, worlds)) {
    const expected = held.get(`${row.campaign_id} ${row.day}`) ?? '0'
    assert.equal(row.escrow_micros, expected, 'escrow is not what open leases hold')
    assert(!isAllClosed || row.escrow_micros === '0', 'money stayed in escrow')
  }
}

/** A few merchants raise or lower their budgets, some below what is already spent. */
export async function changeBudgets(
  db: Db,
  random: Random,
  { worlds, fromDay }: { worlds: readonly World[]; fromDay: string },
): Promise<void> {
  const used = new Map(
    (await checkAccounts(db, worlds)).map((row) => [
      `${row.campaign_id} ${row.day ?? LIFE}`,
      usedOf(row),
    ]),
  )
  for (const world of worlds) {
    if (random() > 0.1) continue
    const factor = 0.2 + random() * 1.5
    const scaled = (cap: number | null) => cap && Math.max(1, Math.floor(cap * factor))
    world.dailyCap = scaled(world.dailyCap)
    world.totalCap = scaled(world.totalCap)
    await db.transaction(async (tx) => {
      await tx.run(sql`update campaign set daily_budget_micros = ${world.dailyCap},
        budget_micros = ${world.totalCap} where campaign_id = ${world.campaignId}`)
      await applyBudgets(tx, world.campaignId, fromDay)
    })
    for (const account of world.ceilings.keys()) {
      const cap = (account === LIFE ? world.totalCap : world.dailyCap) ?? Number.POSITIVE_INFINITY
      // Existing leases may still be spent; nothing beyond them.
      world.ceilings.set(account, Math.max(cap, used.get(`${world.campaignId} ${account}`) ?? 0))
    }
  }
}
