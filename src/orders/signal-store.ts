/** When each merchant's tag and server last reported something, in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export const SIGNALS = ['tag_page', 'tag_checkout', 'server_order', 'server_return'] as const
export type Signal = (typeof SIGNALS)[number]

/** Reports may arrive in any order, from several nodes. */
export async function writeSignal(
  db: Db,
  { merchId, kind, at }: { merchId: number; kind: Signal; at: Date },
): Promise<void> {
  await db.run(sql`
    insert into merchant_signal as known (merch_id, kind, last_at)
    values (${merchId}, ${kind}, ${at})
    on conflict (merch_id, kind) do update
    set last_at = greatest(known.last_at, excluded.last_at)`)
}

export async function readSignals(db: Db, merchId: number): Promise<Map<Signal, Date>> {
  const rows = await db.rows<{ kind: Signal; last_at: Date }>(sql`
    select kind, last_at from merchant_signal where merch_id = ${merchId}`)
  return new Map(rows.map(({ kind, last_at }) => [kind, last_at]))
}

/** How many reports of a merchant were refused since then. */
export async function countRefusals(
  db: Db,
  { merchId, since }: { merchId: number; since: Date },
): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from refused_intake
    where merch_id = ${merchId} and at >= ${since} and not is_accepted`)
  return row?.count ?? 0
}
