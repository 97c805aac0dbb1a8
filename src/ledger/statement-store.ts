/** Statements in SQL: issued once a month is over, listed, and their movements. */
import { MONEY_LANE } from '../events/event.ts'
import { firstUnfoldedDay } from '../events/unfolded-days-store.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { micros } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { nextMonth, previousMonth } from '../platform/time/calendar.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { listMerchantsOf, matchMerchantDebts } from './debt-store.ts'
import { type Movement, makeStatements, monthOf, type Statement } from './statement.ts'

/** One day after the month's end, so that events from spools are in the log by then. */
const GRACE_MS = DAY_MS

/** The last month whose statements are issued, or will be by the next nightly run. */
export function lastIssuableMonth(now: Date): string {
  return previousMonth(monthOf(now.getTime() - GRACE_MS))
}

export interface IssuedStatement extends Statement {
  readonly pubId: number
  readonly issuedAt: Date
}

/**
 * Issues the missing statements up to the last complete month and returns them. All publishers'
 * statements appear at once, or a payout file written meanwhile would miss some. `onIssued`
 * receives them within the transaction, so what follows from them commits together.
 */
export async function issueStatements(
  db: Db,
  {
    now,
    onIssued = async () => undefined,
  }: {
    readonly now: Date
    readonly onIssued?: (tx: Db, issued: readonly IssuedStatement[]) => Promise<unknown>
  },
): Promise<IssuedStatement[]> {
  const position = await moneyPosition(db)
  const missing = await makeMissing(db, now)
  return db.transaction(async (tx) => {
    const issued: IssuedStatement[] = []
    const others = new Set<number>()
    for (const statement of missing) {
      // The next statement continues from the one that another process issued, not from ours.
      if (others.has(statement.pubId)) continue
      if (await insertStatement(tx, statement, position)) issued.push(statement)
      else others.add(statement.pubId)
    }
    await onIssued(tx, issued)
    return issued
  })
}

/** Each publisher's missing statements, the oldest first. */
async function makeMissing(db: Db, now: Date): Promise<IssuedStatement[]> {
  const lastMonth = lastIssuableMonth(now)
  const publishers = await db.rows<{ pub_id: number }>(sql`
    select pub_id from publisher order by pub_id`)
  const statements = await readStatements(db, sql`true`)
  const issued = Map.groupBy(statements, ({ pubId }) => pubId)
  const lacking = publishers
    .map(({ pub_id }) => pub_id)
    .filter((pubId) => (issued.get(pubId)?.at(-1)?.month ?? '') < lastMonth)
  if (lacking.length === 0) return []
  await requireFolded(db, lastMonth)
  const movements = await listMovements(db, now, lacking)
  const closedMonth = statements.at(-1)?.month // They are ordered by month.
  return lacking.flatMap((pubId) => {
    const own = movements.get(pubId) ?? []
    const missing = makeStatements(own, lastMonth, issued.get(pubId), closedMonth)
    return missing.map((statement) => ({ ...statement, pubId, issuedAt: now }))
  })
}

/**
 * After days without a worker, the nightly jobs run at once while the fold may not have reached the
 * end of the month; its rest would be paid a month later. Events that were set aside do not block
 * this.
 */
async function requireFolded(db: Db, month: string): Promise<void> {
  const dayFrom = await firstUnfoldedDay(db, [MONEY_LANE])
  const waiting = await db.row(sql`
    select from event join lane using (lane)
    where lane = ${MONEY_LANE} and seq > position and day >= ${dayFrom}
      and day < ${`${nextMonth(month)}-01`} limit 1`)
  if (waiting === null) return
  throw new Refusal(`events of ${month} are not folded yet: try again once a worker has done so`)
}

/**
 * Releases and reversals per publisher, as one sum per month, because there may be millions. Each
 * of their merchants is settled once, however many publishers it owes. Other merchants are skipped:
 * a publisher that never earned lacks a statement every night.
 */
async function listMovements(
  db: Db,
  until: Date,
  pubIds: readonly number[],
): Promise<Map<number, Movement[]>> {
  const sums = new Map<string, { pubId: number; atMs: number; earningsMicros: number }>()
  for (const merchId of await listMerchantsOf(db, pubIds)) {
    const { releases } = await matchMerchantDebts(db, { merchId, until })
    for (const { pubId, atMs, earningsMicros } of releases) {
      const key = `${pubId} ${monthOf(atMs)} ${earningsMicros < 0}`
      const sum = sums.getOrInsertComputed(key, () => ({ pubId, atMs, earningsMicros: 0 }))
      sum.earningsMicros += earningsMicros
    }
  }
  const movements = [...sums.values()].map((sum) => {
    return { ...sum, earningsMicros: micros(sum.earningsMicros) }
  })
  return Map.groupBy(movements, ({ pubId }) => pubId)
}

/** Read first, so everything folded by then is in the statements, and perhaps a little more. */
async function moneyPosition(db: Db): Promise<string> {
  const row = await db.row<{ position: string }>(sql`
    select position from lane where lane = ${MONEY_LANE}`)
  if (row === null) throw new Error('there is no money lane')
  return row.position
}

/** False if another process issued it just now. */
async function insertStatement(
  db: Db,
  statement: IssuedStatement,
  position: string,
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into statement (pub_id, month, opening_micros, released_micros, reversed_micros,
      payout_micros, closing_micros, issued_at, position)
    values (${statement.pubId}, ${`${statement.month}-01`}, ${statement.openingMicros},
      ${statement.releasedMicros}, ${statement.reversedMicros}, ${statement.payoutMicros},
      ${statement.closingMicros}, ${statement.issuedAt}, ${position})
    on conflict do nothing`)
  return inserted === 1
}

interface StatementRow {
  readonly pub_id: number
  readonly month: string
  readonly opening_micros: string
  readonly released_micros: string
  readonly reversed_micros: string
  readonly payout_micros: string
  readonly closing_micros: string
  readonly issued_at: Date
}

/** A publisher's statements, oldest first. */
export function listStatements(db: Db, pubId: number): Promise<IssuedStatement[]> {
  return readStatements(db, sql`pub_id = ${pubId}`)
}

/** All publishers' statements of a month, `2026-03`. */
export function listStatementsOfMonth(db: Db, month: string): Promise<IssuedStatement[]> {
  return readStatements(db, sql`month = ${`${month}-01`}`)
}

async function readStatements(db: Db, condition: Sql): Promise<IssuedStatement[]> {
  const rows = await db.rows<StatementRow>(sql`
    select * from statement where ${condition} order by month, pub_id`)
  const amount = (text: string) => micros(Number(text))
  return rows.map((row) => ({
    pubId: row.pub_id,
    month: row.month.slice(0, 7),
    openingMicros: amount(row.opening_micros),
    releasedMicros: amount(row.released_micros),
    reversedMicros: amount(row.reversed_micros),
    payoutMicros: amount(row.payout_micros),
    closingMicros: amount(row.closing_micros),
    issuedAt: row.issued_at,
  }))
}
