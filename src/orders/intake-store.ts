/** Requests received from merchants, and refused reports, in SQL. */

import type { Fault } from '../platform/errors/api-errors.ts'
import { takeStoredBytes } from '../platform/limits/storage-quota-store.ts'
import { deleteWhere } from '../platform/postgres/delete-in-batches.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { utcDay } from '../platform/time/timestamp.ts'

/** Retries with an Idempotency-Key may come for 24 hours; signatures need minutes. */
const REQUEST_KEPT = '24 hours'
/** A request unfinished after this time has died, and its retry may proceed. */
const WORKING_SECONDS_MAX = 60
export const REFUSAL_KEPT = '90 days'
const STRAY_REFUSAL_KEPT = '7 days'
/** Warnings stored per merchant and hour. A repeated mistake shows in a few. */
const WARNED_PER_HOUR_MAX = 20

export interface SignedRequest {
  readonly merchId: number
  readonly signature: Buffer
  readonly idempotencyKey: string | null
  readonly bodyHash: Buffer
  readonly at: Date
}

export type Claim =
  | { readonly kind: 'answered'; readonly response: string }
  | { readonly kind: 'claimed' | 'working' | 'replayed' | 'other_body' }

export interface StoredAnswer {
  readonly request: SignedRequest
  readonly response: string
}

/**
 * Claims those of the requests that nobody has claimed, for this process. Returns them.
 *
 * Rows are inserted in one order: two processes may receive the same requests at once, and would
 * otherwise deadlock.
 */
export async function insertRequests(
  db: Db,
  requests: readonly SignedRequest[],
): Promise<SignedRequest[]> {
  const sorted = requests.toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))
  const rows = await db.rows<{ merch_id: number; signature: Buffer; key: string | null }>(sql`
    insert into intake_request (merch_id, signature, idempotency_key, body_hash, at)
    select * from unnest(
      ${sorted.map(({ merchId }) => merchId)}::int[],
      ${sorted.map(({ signature }) => signature)}::bytea[],
      ${sorted.map(({ idempotencyKey }) => idempotencyKey)}::text[],
      ${sorted.map(({ bodyHash }) => bodyHash)}::bytea[],
      ${sorted.map(({ at }) => at)}::timestamptz[]
    )
    on conflict do nothing
    returning merch_id, signature, idempotency_key as key`)
  const claimed = new Set(
    rows.map(({ merch_id: merchId, signature, key: idempotencyKey }) =>
      sortKey({ merchId, signature, idempotencyKey }),
    ),
  )
  // Of two identical requests only one is claimed.
  return sorted.filter((request) => claimed.delete(sortKey(request)))
}

function sortKey(request: Pick<SignedRequest, 'merchId' | 'signature' | 'idempotencyKey'>): string {
  const { merchId, signature, idempotencyKey } = request
  return JSON.stringify([merchId, idempotencyKey ?? '', signature.toString('hex')])
}

/**
 * The state of the request that this one repeats. A retry under the same key usually has a new
 * signature, because its time is new. A retry without a key has the same bytes and signature, and
 * counts as received only if it was answered: a database failure in between leaves it undone.
 */
export async function claimAgain(db: Db, request: SignedRequest): Promise<Claim> {
  if (await claimPastKey(db, request)) return { kind: 'claimed' }
  const { merchId, idempotencyKey, bodyHash } = request
  const isSame =
    idempotencyKey === null
      ? sql`signature = ${request.signature} and status is null and body_hash = ${bodyHash}`
      : sql`idempotency_key = ${idempotencyKey}`
  const known = await db.row<{
    signature: Buffer
    body_hash: Buffer
    status: number | null
    response: string | null
  }>(sql`
    select signature, body_hash, status, response from intake_request
    where merch_id = ${merchId} and ${isSame}`)
  // The signature was used before, and answered or sent without this key.
  if (known === null) return { kind: 'replayed' }
  if (!known.body_hash.equals(bodyHash)) return { kind: 'other_body' }
  if (known.status !== null) {
    await spendSignature(db, request, known.status)
    return { kind: 'answered', response: known.response ?? '' }
  }
  const isTaken = await takeOver(db, request, known.signature)
  return { kind: isTaken ? 'claimed' : 'working' }
}

/**
 * Takes over the claim of a process that died. The claim then has the retry's signature, and is
 * free again if the retry fails. The first signature stays used.
 */
function takeOver(db: Db, request: SignedRequest, claimedBy: Buffer): Promise<boolean> {
  const { merchId, signature, at } = request
  return db.transaction(async (tx) => {
    const taken = await tx.run(sql`
      update intake_request set at = ${at}, signature = ${signature}
      where merch_id = ${merchId} and signature = ${claimedBy} and status is null
        and at < ${at}::timestamptz - make_interval(secs => ${WORKING_SECONDS_MAX})
        and not exists (
          select from intake_request other where other.merch_id = ${merchId}
            and other.signature = ${signature} and other.signature <> ${claimedBy}
        )`)
    if (taken === 0) return false
    await spendSignature(tx, { ...request, signature: claimedBy }, GIVEN_UP)
    return true
  })
}

const ACCEPTED = 201
/** The status of a signature whose request was never answered. */
const GIVEN_UP = 503

/**
 * A retry's signature also works once. Otherwise it would count as new without the key, which is
 * not signed.
 */
async function spendSignature(db: Db, request: SignedRequest, status: number): Promise<void> {
  const { merchId, signature, bodyHash, at } = request
  await db.run(sql`
    insert into intake_request (merch_id, signature, body_hash, status, at)
    values (${merchId}, ${signature}, ${bodyHash}, ${status}, ${at})
    on conflict do nothing`)
}

/** Claims a request with an expired key. A schedule deletes the other expired ones. */
async function claimPastKey(db: Db, request: SignedRequest): Promise<boolean> {
  const { merchId, idempotencyKey, at } = request
  const forgotten = await db.run(sql`
    delete from intake_request
    where merch_id = ${merchId} and idempotency_key = ${idempotencyKey} and ${isPast(at)}`)
  return forgotten === 1 && (await insertRequests(db, [request])).length === 1
}

/** Stores the responses of accepted requests for their retries. */
export async function finishRequests(db: Db, answers: readonly StoredAnswer[]): Promise<void> {
  await db.run(sql`
    update intake_request as kept set status = ${ACCEPTED}, response = input.response
    from unnest(
      ${answers.map(({ request }) => request.merchId)}::int[],
      ${answers.map(({ request }) => request.signature)}::bytea[],
      ${answers.map(({ response }) => response)}::text[]
    ) as input (merch_id, signature, response)
    where kept.merch_id = input.merch_id and kept.signature = input.signature`)
}

/** Deletes the claim of a failed request, so that a corrected one may use the key again. */
export async function dropRequest(db: Db, { merchId, signature }: SignedRequest): Promise<void> {
  await db.run(sql`
    delete from intake_request
    where status is null and merch_id = ${merchId} and signature = ${signature}`)
}

/** Deletes requests too old for a retry. Returns their number. */
export function deleteOldRequests(db: Db, now: Date): Promise<number> {
  return deleteWhere(db, 'intake_request', isPast(now))
}

function isPast(now: Date): Sql {
  return sql`at < ${now}::timestamptz - ${REQUEST_KEPT}::interval`
}

/**
 * Deletes refusals too old to be corrected: those of a merchant after the longest time in which an
 * order may be reported, others after a week.
 */
export function deleteOldRefusals(db: Db, now: Date): Promise<number> {
  const isOld = sql`
    at < ${now}::timestamptz - ${REFUSAL_KEPT}::interval
    or (merch_id is null and at < ${now}::timestamptz - ${STRAY_REFUSAL_KEPT}::interval)`
  return deleteWhere(db, 'refused_intake', isOld)
}

export interface RefusedIntake {
  readonly at: Date
  readonly merchId: number | null
  readonly endpoint: string
  readonly reason: string
  readonly faults: readonly Fault[]
  readonly body: string
  readonly origin: string | null
  readonly isProven: boolean // signed by the merchant's server; others may come from anybody
  readonly isAccepted?: boolean // the report counts, and the faults are warnings
}

/** The size of a refusal's row without its texts, with its indexes. */
const REFUSAL_ROW_BYTES = 300

export function storedRefusalSize(
  { reason, faults }: Omit<RefusedIntake, 'body'>,
  body: Uint8Array,
): number {
  return REFUSAL_ROW_BYTES + body.length + reason.length + JSON.stringify(faults).length
}

/**
 * Stores a refused report unchanged. False if the merchant's daily quota is used up. The quota is
 * taken in the same transaction, so concurrent calls cannot exceed it.
 */
export function insertRefusal(
  db: Db,
  refusal: RefusedIntake,
  {
    kind,
    bytes,
    bytesMax,
  }: { readonly kind: string; readonly bytes: number; readonly bytesMax: number },
): Promise<boolean> {
  const { at, merchId, endpoint, reason, faults, body, origin, isProven } = refusal
  const isAccepted = refusal.isAccepted ?? false
  return db.transaction(async (tx) => {
    if (isAccepted && (await isWarnedEnough(tx, refusal))) return true
    const taken = { day: utcDay(at), kind, organizationId: merchId ?? 0, bytes }
    if (!(await takeStoredBytes(tx, taken, bytesMax))) return false
    // Escapes characters that PostgreSQL's text cannot contain.
    const text = body.toWellFormed().replaceAll('\0', '\\u0000')
    await tx.run(sql`
      insert into refused_intake
        (at, merch_id, endpoint, reason, faults, body, origin, is_proven, is_accepted)
      values (${at}, ${merchId}::int, ${endpoint}, ${reason}, ${JSON.stringify(faults)}::jsonb,
        ${text}, ${origin}, ${isProven}, ${isAccepted})`)
    return true
  })
}

/** Whether enough warnings of this hour are stored. Further ones are only counted. */
async function isWarnedEnough(tx: Db, { at, merchId }: RefusedIntake): Promise<boolean> {
  const row = await tx.row<{ is_enough: boolean }>(sql`
    select count(*) >= ${WARNED_PER_HOUR_MAX} as is_enough from (
      select from refused_intake
      where merch_id = ${merchId} and not is_proven and is_accepted
        and at > ${at}::timestamptz - interval '1 hour'
      limit ${WARNED_PER_HOUR_MAX}
    ) as recent`)
  return row?.is_enough ?? false
}

export interface RefusalRow extends Omit<RefusedIntake, 'merchId' | 'isProven' | 'isAccepted'> {
  readonly refused_id: string
  readonly is_accepted: boolean
}

/**
 * The latest refusals of a merchant, newest first: at most `limit` signed ones, and as many others.
 */
export function listRefusals(
  db: Db,
  { merchId, limit }: { merchId: number; limit: number },
): Promise<RefusalRow[]> {
  const latest = (isProven: boolean) => sql`
    select refused_id, at, endpoint, reason, faults, body, origin, is_accepted from refused_intake
    where merch_id = ${merchId} and is_proven = ${isProven}
    order by at desc, refused_id desc limit ${limit}`
  return db.rows(sql`
    select * from ((${latest(true)}) union all (${latest(false)})) as refusals
    order by at desc, refused_id desc`)
}
