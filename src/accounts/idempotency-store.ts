/**
 * `Idempotency-Key`: a repeated creation returns the response of the first call.
 *
 * The transaction that does the work also stores the key and the response. A concurrent second call
 * waits for the first one's commit and returns its response. If the first call fails, nothing of it
 * remains, and the second call does the work.
 */
import { hash } from 'node:crypto'
import { ApiError } from '../platform/errors/api-errors.ts'
import { deleteWhere } from '../platform/postgres/delete-in-batches.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { HOUR_MS } from '../platform/time/timestamp.ts'

/** Long enough for any client's retries. */
const KEPT_HOURS = 24

/**
 * Runs `work` once per caller and idempotency key within 24 hours. Later calls get the first
 * result.
 *
 * The same key with another body is a 409. A null key runs the work without any check. `toStored`
 * leaves out of a result what may not be stored, such as a secret.
 */
export async function once<T>(
  db: Db,
  call: {
    caller: string
    key: string | null
    body: unknown
    status: number
    toStored?: (result: T) => T
  },
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const { caller, key, status, toStored = (result: T) => result } = call
  if (key === null) return work(db)
  const bodyHash = hash('sha256', JSON.stringify(call.body, inOneOrder), 'buffer')
  return db.transaction(async (tx) => {
    const isFirst = await takeKey(tx, { caller, key, bodyHash })
    if (!isFirst) return readKept<T>(tx, { caller, key, bodyHash })
    const result = await work(tx)
    await tx.run(sql`
      update idempotent_response set status = ${status}, body = ${JSON.stringify(toStored(result))}
      where caller = ${caller} and idempotency_key = ${key}
    `)
    return result
  })
}

/** The order of an object's members has no meaning (RFC 8259, 4), and a retry may change it. */
function inOneOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value)
  return Object.fromEntries(members.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

interface KeyUse {
  readonly caller: string // `callerName`
  readonly key: string
  readonly bodyHash: Buffer
}

/** Deletes expired responses. Returns their number. */
export function deletePastResponses(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - KEPT_HOURS * HOUR_MS)
  return deleteWhere(db, 'idempotent_response', sql`created_at < ${before}`)
}

/** Also replaces an expired key. A schedule deletes the other expired ones. */
async function takeKey(tx: Db, { caller, key, bodyHash }: KeyUse): Promise<boolean> {
  const taken = await tx.run(sql`
    insert into idempotent_response as kept (caller, idempotency_key, body_hash)
    values (${caller}, ${key}, ${bodyHash})
    on conflict (caller, idempotency_key) do update
    set body_hash = excluded.body_hash, status = null, body = null, created_at = now()
    where kept.created_at < now() - make_interval(hours => ${KEPT_HOURS})
  `)
  return taken === 1
}

async function readKept<T>(tx: Db, { caller, key, bodyHash }: KeyUse): Promise<T> {
  const kept = await tx.row<{ body_hash: Buffer; body: string | null }>(sql`
    select body_hash, body from idempotent_response
    where caller = ${caller} and idempotency_key = ${key}
  `)
  if (kept === null || kept.body === null || !kept.body_hash.equals(bodyHash)) {
    throw new ApiError('idempotencyConflict')
  }
  return JSON.parse(kept.body) as T
}
