/**
 * `Idempotency-Key`: a retried creation answers what the first one did (decisions 4.1).
 *
 * The key is taken and the answer kept in the very transaction that does the work. A second call
 * at the same moment waits for the first one's commit, and then finds its answer; if the first one
 * fails, nothing of it is left and the second does the work.
 */
import { hash } from 'node:crypto'
import { deleteWhere } from '../platform/delete-in-batches.ts'
import { ApiError } from '../platform/errors.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import { HOUR_MS } from '../platform/timestamp.ts'

/** Decisions 4.1. */
const KEPT_HOURS = 24

/**
 * Does `work` once per key of an API key within 24 hours, and answers its first result after that.
 *
 * The same key with another body is a 409. A null key does the work as it comes.
 */
export async function once<T>(
  db: Db,
  call: { tokenId: number; key: string | null; body: unknown; status: number },
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const { tokenId, key, status } = call
  if (key === null) return work(db)
  const bodyHash = hash('sha256', JSON.stringify(call.body, inOneOrder), 'buffer')
  return db.transaction(async (tx) => {
    const isFirst = await takeKey(tx, { tokenId, key, bodyHash })
    if (!isFirst) return readKept<T>(tx, { tokenId, key, bodyHash })
    const result = await work(tx)
    await tx.run(sql`
      update idempotent_response set status = ${status}, body = ${JSON.stringify(result)}
      where token_id = ${tokenId} and idempotency_key = ${key}
    `)
    return result
  })
}

/** A retry may write the members of an object in another order: that says nothing (RFC 8259, 4). */
function inOneOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value)
  return Object.fromEntries(members.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

interface KeyUse {
  readonly tokenId: number
  readonly key: string
  readonly bodyHash: Buffer
}

/** Deletes the answers that no retry is given any more; how many it found. */
export function deletePastResponses(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - KEPT_HOURS * HOUR_MS)
  return deleteWhere(db, 'idempotent_response', sql`created_at < ${before}`)
}

/** Also one whose time is over; the others of that age are a schedule's to forget. */
async function takeKey(tx: Db, { tokenId, key, bodyHash }: KeyUse): Promise<boolean> {
  const taken = await tx.run(sql`
    insert into idempotent_response as kept (token_id, idempotency_key, body_hash)
    values (${tokenId}, ${key}, ${bodyHash})
    on conflict (token_id, idempotency_key) do update
    set body_hash = excluded.body_hash, status = null, body = null, created_at = now()
    where kept.created_at < now() - make_interval(hours => ${KEPT_HOURS})
  `)
  return taken === 1
}

async function readKept<T>(tx: Db, { tokenId, key, bodyHash }: KeyUse): Promise<T> {
  const kept = await tx.row<{ body_hash: Buffer; body: string | null }>(sql`
    select body_hash, body from idempotent_response
    where token_id = ${tokenId} and idempotency_key = ${key}
  `)
  if (kept === null || kept.body === null || !kept.body_hash.equals(bodyHash)) {
    throw new ApiError('idempotencyConflict')
  }
  return JSON.parse(kept.body) as T
}
