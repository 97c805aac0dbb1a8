/** The evidence of each pair of publisher and merchant, written by the fold, read by every node. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import {
  addEvidence,
  type Evidence,
  HALF_LIVES,
  type HalfLife,
  noEvidence,
  pairKey,
} from './evidence.ts'

export interface PairEvidence {
  readonly pubId: number
  readonly merchId: number
  readonly evidence: Evidence
}

/** Evidence of a pair, decayed by one of HALF_LIVES. */
interface HeldEvidence extends PairEvidence {
  readonly halfLife: HalfLife
}

interface EvidenceRow {
  pub_id: number
  merch_id: number
  half_life_days: HalfLife
  clicks: number
  squared_clicks: number
  unripe: number[]
  invalid: number
  orders: number
  value: number
  log_value: number
  log_value_square: number
  as_of: Date
}

/** Lists the evidence of all pairs at a half-life; some thousand rows in a large network. */
export async function loadEvidence(db: Db, halfLife: HalfLife): Promise<PairEvidence[]> {
  const rows = await db.rows<EvidenceRow>(sql`
    select * from pair_evidence where half_life_days = ${halfLife}`)
  return rows.map(pairOf)
}

/**
 * Adds samples to their pairs, inside the fold's transaction. Reads, adds and writes in this
 * process: the money lane has one writer, and the arithmetic stays in one place.
 */
export async function addPairEvidence(tx: Db, added: readonly PairEvidence[]): Promise<void> {
  if (added.length === 0) return
  const found = Map.groupBy(await findPairs(tx, added), ({ halfLife }) => halfLife)
  const held = HALF_LIVES.flatMap((halfLife) => {
    const pairs = new Map(found.get(halfLife)?.map((pair) => [pairKey(pair), pair]))
    addToPairs(pairs, added, halfLife)
    return [...pairs.values()].map((pair) => ({ ...pair, halfLife }))
  })
  await upsertPairs(tx, held)
}

/** Adds training samples to the evidence of their pairs; benchmarks use it too. */
export function addToPairs(
  pairs: Map<string, PairEvidence>,
  added: readonly PairEvidence[],
  halfLife: HalfLife,
): void {
  for (const pair of added) {
    const known = pairs.get(pairKey(pair))?.evidence ?? noEvidence(pair.evidence.atMs)
    pairs.set(pairKey(pair), { ...pair, evidence: addEvidence(known, pair.evidence, halfLife) })
  }
}

async function findPairs(tx: Db, pairs: readonly PairEvidence[]): Promise<HeldEvidence[]> {
  const rows = await tx.rows<EvidenceRow>(sql`
    select * from pair_evidence
    where (pub_id, merch_id) in (select * from unnest(
      ${pairs.map(({ pubId }) => pubId)}::int[], ${pairs.map(({ merchId }) => merchId)}::int[]))`)
  return rows.map(pairOf)
}

async function upsertPairs(tx: Db, pairs: readonly HeldEvidence[]): Promise<void> {
  // Rounding must not leave a negative count after a reversal.
  const column = (read: (evidence: Evidence) => number): number[] =>
    pairs.map(({ evidence }) => Math.max(0, read(evidence)))
  const unripe = pairs.map(({ evidence }) =>
    JSON.stringify(evidence.unripe.map((count) => Math.max(0, count))),
  )
  await tx.run(sql`
    insert into pair_evidence (pub_id, merch_id, half_life_days, clicks, squared_clicks, unripe,
      invalid, orders, value, log_value, log_value_square, as_of)
    select pub_id, merch_id, half_life_days, clicks, squared_clicks,
      translate(unripe, '[]', '{}')::float8[], invalid, orders, value, log_value,
      log_value_square, as_of
    from unnest(
      ${pairs.map(({ pubId }) => pubId)}::int[],
      ${pairs.map(({ merchId }) => merchId)}::int[],
      ${pairs.map(({ halfLife }) => halfLife)}::smallint[],
      ${column((of) => of.clicks)}::float8[],
      ${column((of) => of.squaredClicks)}::float8[],
      ${unripe}::text[],
      ${column((of) => of.invalid)}::float8[],
      ${column((of) => of.orders)}::float8[],
      ${column((of) => of.value)}::float8[],
      ${column((of) => of.logValue)}::float8[],
      ${column((of) => of.logValueSquare)}::float8[],
      ${pairs.map(({ evidence }) => new Date(evidence.atMs))}::timestamptz[]
    ) as held (pub_id, merch_id, half_life_days, clicks, squared_clicks, unripe, invalid, orders,
      value, log_value, log_value_square, as_of)
    on conflict (pub_id, merch_id, half_life_days) do update set
      clicks = excluded.clicks, squared_clicks = excluded.squared_clicks,
      unripe = excluded.unripe, invalid = excluded.invalid, orders = excluded.orders,
      value = excluded.value, log_value = excluded.log_value,
      log_value_square = excluded.log_value_square, as_of = excluded.as_of`)
}

function pairOf(row: EvidenceRow): HeldEvidence {
  return {
    pubId: row.pub_id,
    merchId: row.merch_id,
    halfLife: row.half_life_days,
    evidence: {
      clicks: row.clicks,
      squaredClicks: row.squared_clicks,
      unripe: row.unripe,
      invalid: row.invalid,
      orders: row.orders,
      value: row.value,
      logValue: row.log_value,
      logValueSquare: row.log_value_square,
      atMs: row.as_of.getTime(),
    },
  }
}
