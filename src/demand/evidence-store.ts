/** The evidence of each pair of publisher and merchant, kept by the fold, read by every node. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import { addEvidence, type Evidence, noEvidence, pairKey } from './evidence.ts'
import { loadModel } from './model-store.ts'
import { delayOf, type PredictionModel } from './prediction-model.ts'

export interface PairEvidence {
  readonly pubId: number
  readonly merchId: number
  readonly evidence: Evidence
}

interface EvidenceRow {
  pub_id: number
  merch_id: number
  clicks: number
  unripe: number
  invalid: number
  orders: number
  log_value: number
  log_value_square: number
  as_of: Date
}

/** Lists the evidence of all pairs; some thousand rows in a large network. */
export async function loadEvidence(db: Db): Promise<PairEvidence[]> {
  const rows = await db.rows<EvidenceRow>(sql`select * from pair_evidence`)
  return rows.map(pairOf)
}

/**
 * Adds what happened to the pairs it happened to, inside the fold's transaction. Read, added and
 * written in this process: the money lane has one writer, and the arithmetic stays in one place.
 */
export async function addPairEvidence(tx: Db, added: readonly PairEvidence[]): Promise<void> {
  if (added.length === 0) return
  const model = await loadModel(tx)
  const found = await findPairs(tx, added)
  const pairs = new Map(found.map((pair) => [pairKey(pair), pair]))
  addToPairs(pairs, added, model)
  await upsertPairs(tx, [...pairs.values()])
}

/** Adds training samples to the evidence of their pairs; benchmarks learn through it as well. */
export function addToPairs(
  pairs: Map<string, PairEvidence>,
  added: readonly PairEvidence[],
  model: PredictionModel,
): void {
  for (const pair of added) {
    const known = pairs.get(pairKey(pair))?.evidence ?? noEvidence(pair.evidence.atMs)
    const evidence = addEvidence(known, pair.evidence, delayOf(model, pair.merchId))
    pairs.set(pairKey(pair), { ...pair, evidence })
  }
}

async function findPairs(tx: Db, pairs: readonly PairEvidence[]): Promise<PairEvidence[]> {
  const rows = await tx.rows<EvidenceRow>(sql`
    select * from pair_evidence
    where (pub_id, merch_id) in (select * from unnest(
      ${pairs.map(({ pubId }) => pubId)}::int[], ${pairs.map(({ merchId }) => merchId)}::int[]))`)
  return rows.map(pairOf)
}

async function upsertPairs(tx: Db, pairs: readonly PairEvidence[]): Promise<void> {
  // Rounding must not leave less than nothing of what was taken back.
  const column = (read: (evidence: Evidence) => number): number[] =>
    pairs.map(({ evidence }) => Math.max(0, read(evidence)))
  await tx.run(sql`
    insert into pair_evidence (pub_id, merch_id, clicks, unripe, invalid, orders, log_value,
      log_value_square, as_of)
    select * from unnest(
      ${pairs.map(({ pubId }) => pubId)}::int[],
      ${pairs.map(({ merchId }) => merchId)}::int[],
      ${column((of) => of.clicks)}::float8[],
      ${column((of) => of.unripe)}::float8[],
      ${column((of) => of.invalid)}::float8[],
      ${column((of) => of.orders)}::float8[],
      ${column((of) => of.logValue)}::float8[],
      ${column((of) => of.logValueSquare)}::float8[],
      ${pairs.map(({ evidence }) => new Date(evidence.atMs))}::timestamptz[])
    on conflict (pub_id, merch_id) do update set
      clicks = excluded.clicks, unripe = excluded.unripe, invalid = excluded.invalid,
      orders = excluded.orders, log_value = excluded.log_value,
      log_value_square = excluded.log_value_square, as_of = excluded.as_of`)
}

function pairOf(row: EvidenceRow): PairEvidence {
  return {
    pubId: row.pub_id,
    merchId: row.merch_id,
    evidence: {
      clicks: row.clicks,
      unripe: row.unripe,
      invalid: row.invalid,
      orders: row.orders,
      logValue: row.log_value,
      logValueSquare: row.log_value_square,
      atMs: row.as_of.getTime(),
    },
  }
}
