/**
 * Retention: a day's views are deleted once a signed total of them exists. Money events stay
 * forever.
 *
 * Each step is a separate transaction and can be repeated, so a crash costs only the rest of the
 * night's work: totals first, then `dropping`, which makes the totals replace the events, then the
 * events in batches, then their space.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../platform/crypto/prepared-keys.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import {
  addTotals,
  deleteViews,
  digestOf,
  finishDrop,
  type LaneDay,
  listDaysOfOtherKeys,
  listDaysToDrop,
  listDaysWithoutTotal,
  lockViewDay,
  markDropping,
  SESSION_DAYS,
  saveViewDay,
  type ViewDay,
} from './view-totals-store.ts'

/** The sealing keys: the first one signs, all verify. */
export type Keys = readonly { readonly id: number; readonly key: Buffer }[]

export interface Retention {
  readonly nowMs: number
  readonly retentionDays: number
  readonly keys: Keys
}

/**
 * Writes due totals and deletes the events they replace; returns how many it deleted.
 *
 * Totals are written 30 days ahead: a session across midnight counts on its first day, which is
 * known only while the log still holds that day.
 */
export async function retireViews(db: Db, retention: Retention): Promise<number> {
  const { nowMs, retentionDays, keys } = retention
  const day = (ageDays: number) => utcDay(nowMs - ageDays * DAY_MS)
  for (const due of await listDaysWithoutTotal(db, day(retentionDays - SESSION_DAYS))) {
    await db.transaction((tx) => writeTotal(tx, due, keys))
  }
  await signAgain(db, keys)
  let dropped = 0
  const byDay = Map.groupBy(await listDaysToDrop(db, day(retentionDays)), (due) => due.day)
  for (const lanes of byDay.values()) dropped += await drop(db, lanes, keys)
  return dropped
}

/** Adds what a day's totals lack and signs them. Manipulated totals are never signed. */
async function writeTotal(tx: Db, { day, lane }: LaneDay, keys: Keys): Promise<void> {
  const known = await lockSigned(tx, { day, lane }, keys)
  const added = await addTotals(tx, { day, lane, after: known?.seq ?? '0' })
  const events = String(BigInt(known?.events ?? 0) + BigInt(added.events))
  const total = { day, lane, seq: added.seq, events }
  await saveViewDay(tx, { ...total, ...sign(keys, total, await digestOf(tx, total)) })
}

/** After a rotation of SOUK_SECRETS, nothing needs the old key from the next night on. */
async function signAgain(db: Db, keys: Keys): Promise<void> {
  for (const { day, lane } of await listDaysOfOtherKeys(db, keys[0]?.id ?? 0)) {
    await db.transaction(async (tx) => {
      const known = await lockSigned(tx, { day, lane }, keys)
      if (known === null) return
      await saveViewDay(tx, { ...known, ...sign(keys, known, await digestOf(tx, known)) })
    })
  }
}

async function drop(db: Db, lanes: readonly ViewDay[], keys: Keys): Promise<number> {
  const day = lanes[0]?.day ?? ''
  for (const lane of lanes) await db.transaction((tx) => lockSigned(tx, lane, keys))
  await markDropping(db, { day, lanes: lanes.map(({ lane }) => lane) })
  let dropped = 0
  for (const lane of lanes) dropped += await deleteViews(db, lane)
  await finishDrop(db, day)
  return dropped
}

/** Locks a day; throws if its totals do not match their signature. */
async function lockSigned(tx: Db, wanted: LaneDay, keys: Keys): Promise<ViewDay | null> {
  const known = await lockViewDay(tx, wanted)
  if (known === null) return null
  const problem = signatureProblem(keys, known, await digestOf(tx, known))
  if (problem !== null) throw new Error(`${problem}: nothing more is dropped, see souk reconcile`)
  return known
}

type Total = Omit<ViewDay, 'key_id' | 'signature'>

function sign(keys: Keys, total: Total, digest: string): Omit<ViewDay, keyof Total> {
  const [key] = keys
  if (key === undefined) throw new Error('there is no key to sign totals with')
  return { key_id: key.id, signature: macOf(key, total, digest) }
}

/** What is wrong with the signature of a day's totals; null if it matches. */
export function signatureProblem(keys: Keys, signed: ViewDay, digest: string): string | null {
  const { day, lane, key_id, signature } = signed
  const key = keys.find(({ id }) => id === key_id)
  const totals = `the totals of ${day}, lane ${lane}`
  if (key === undefined) return `${totals} are signed by key ${key_id}, which SOUK_SECRETS lacks`
  const expected = macOf(key, signed, digest)
  const isAsSigned = expected.length === signature.length && timingSafeEqual(expected, signature)
  return isAsSigned ? null : `${totals} are not what was signed by key ${key_id}`
}

function macOf({ key }: Keys[number], total: Total, digest: string): Buffer {
  const { day, lane, seq, events } = total
  const own = deriveKey(key, 'souk view totals')
  return createHmac('sha256', own).update([day, lane, seq, events, digest].join(' ')).digest()
}
