/** Publishers in SQL: create, change, find and list. */
import { badRequest, type Fault, notFound } from '../platform/errors/api-errors.ts'
import { canBeSmallId } from '../platform/ids.ts'
import { micros } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { refusingTaken } from '../platform/postgres/refuse-taken.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { handOver } from './membership-store.ts'
import { normalPublisher, type PublisherSettings, publisherFaults } from './publisher.ts'

export interface Publisher extends PublisherSettings {
  readonly pub_id: number
  readonly is_suspended: boolean // The operator's stop: docs/spec/management.md#suspension
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

/** As the driver returns it: 64-bit columns as text. */
export interface PublisherRow extends Omit<Publisher, 'floor_micros'> {
  readonly floor_micros: string
}

/** The columns of `PublisherSettings`. */
const SETTINGS = sql`uid, name, slug, is_partner, share_ppm, domains, floor_micros,
  category_floors, tolerance_ppm, beta, epsilon_ppm, allow_merchants, block_merchants, allow_hosts,
  linkmate_scope, consent_default, is_price_required, time_zone`
/** The columns of `PublisherRow`, except its times and whether it is suspended. */
export const PUBLISHER_COLUMNS = sql`pub_id, ${SETTINGS}`
const COLUMNS = sql`${PUBLISHER_COLUMNS}, is_suspended, datetime_created, datetime_updated`

/** Throws a 400 that names every refused setting; nothing is written then. */
export async function insertPublisher(db: Db, wanted: PublisherSettings): Promise<Publisher> {
  const settings = await checked(db, wanted)
  const insert = () =>
    db.transaction(async (tx) => {
      const row = await tx.row<PublisherRow>(sql`
        insert into publisher (${SETTINGS}) ${rowOf(settings)} returning ${COLUMNS}`)
      const publisher = toPublisher(row as PublisherRow)
      const organization = { kind: 'publisher', id: publisher.pub_id } as const
      await handOver(tx, { organization, from: null, to: publisher.uid })
      return publisher
    })
  return refusingTaken(insert, () => takenSlug(settings))
}

/** Changes the given settings; throws a 404 for an unknown publisher. */
export function updatePublisher(
  db: Db,
  { pubId, changes }: { pubId: number; changes: Partial<PublisherSettings> },
): Promise<Publisher> {
  return db.transaction(async (tx) => {
    const before = await lockPublisher(tx, pubId)
    const settings = await checked(tx, { ...before, ...changes })
    const update = () =>
      tx.row<PublisherRow>(sql`
        update publisher set (${SETTINGS}) = (${rowOf(settings)}), datetime_updated = now()
        where pub_id = ${pubId} returning ${COLUMNS}`)
    const updated = await refusingTaken(update, () => takenSlug(settings))
    const organization = { kind: 'publisher', id: pubId } as const
    await handOver(tx, { organization, from: before.uid, to: settings.uid })
    return toPublisher(updated as PublisherRow)
  })
}

/** A publisher that nobody else changes until the transaction ends; throws a 404 for none. */
export async function lockPublisher(tx: Db, pubId: number): Promise<Publisher> {
  const row = canBeSmallId(pubId)
    ? await tx.row<PublisherRow>(
        sql`select ${COLUMNS} from publisher where pub_id = ${pubId} for update`,
      )
    : null
  if (row === null) throw notFound(`No publisher ${pubId}`)
  return toPublisher(row)
}

function rowOf(settings: PublisherSettings): Sql {
  return sql`
    select ${SETTINGS}
    from jsonb_populate_record(null::publisher, ${JSON.stringify(settings)}::jsonb)`
}

/** `pubId` may be any integer; one that no id can have finds nothing. */
export async function findPublisher(db: Db, pubId: number): Promise<Publisher | null> {
  if (!canBeSmallId(pubId)) return null
  const row = await db.row<PublisherRow>(
    sql`select ${COLUMNS} from publisher where pub_id = ${pubId}`,
  )
  return row === null ? null : toPublisher(row)
}

/** These publishers, in the order of their ids. */
export async function findPublishers(db: Db, pubIds: readonly number[]): Promise<Publisher[]> {
  const rows = await db.rows<PublisherRow>(sql`
    select ${COLUMNS} from publisher where pub_id = any(${pubIds}::int[]) order by pub_id`)
  return rows.map(toPublisher)
}

/** Slugs are case-insensitive. */
export async function findPublisherBySlug(db: Db, slug: string): Promise<Publisher | null> {
  const row = await db.row<PublisherRow>(
    sql`select ${COLUMNS} from publisher where lower(slug) = lower(${slug})`,
  )
  return row === null ? null : toPublisher(row)
}

/** The publishers that a user belongs to, or all if `uid` is null. */
export async function listPublishers(db: Db, { uid }: { uid: number | null }) {
  const rows = await db.rows<PublisherRow>(sql`
    select ${COLUMNS} from publisher
    where ${uid}::int is null
      or exists (select from membership m where m.uid = ${uid} and m.pub_id = publisher.pub_id)
    order by pub_id
  `)
  return rows.map(toPublisher)
}

async function checked(db: Db, wanted: PublisherSettings): Promise<PublisherSettings> {
  const settings = normalPublisher(wanted)
  const faults = publisherFaults(settings)
  for (const field of ['allow_merchant', 'block_merchant'] as const) {
    const unknown = await listUnknownMerchants(db, settings[`${field}s`])
    if (unknown.length > 0) faults.push({ field, rule: `no merchant ${unknown.join(', ')}` })
  }
  if (faults.length > 0) throw badRequest(faults)
  return settings
}

async function listUnknownMerchants(db: Db, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await db.rows<{ id: number }>(sql`
    select id from unnest(${ids}::int[]) as wanted (id)
    where not exists (select from merchant where merch_id = id)
  `)
  return rows.map((row) => row.id)
}

const takenSlug = ({ slug }: PublisherSettings): Fault => {
  return { field: 'slug', rule: `another publisher has ${slug}` }
}

function toPublisher(row: PublisherRow): Publisher {
  return { ...row, floor_micros: micros(Number(row.floor_micros)) }
}

/**
 * The exploration guard's change. If an operator has changed the share since `beforePpm` was read,
 * the operator's value stays.
 */
export async function setExploration(
  db: Db,
  change: {
    readonly pubId: number
    readonly beforePpm: number
    readonly epsilonPpm: number
  },
): Promise<void> {
  const { pubId, beforePpm, epsilonPpm } = change
  await db.run(sql`
    update publisher set epsilon_ppm = ${epsilonPpm}, datetime_updated = now()
    where pub_id = ${pubId} and epsilon_ppm = ${beforePpm}`)
}

/**
 * Records that the guard has processed this day; false if it already had, for example in a job that
 * died before it was marked as done. Compared for equality, because a clock may have been ahead.
 */
export async function takeExploredDay(tx: Db, day: string): Promise<boolean> {
  const taken = await tx.run(sql`
    insert into upkeep as known (task, done_until)
    values ('guard_exploration', ${day}::date + 1)
    on conflict (task) do update set done_until = excluded.done_until
    where known.done_until <> excluded.done_until`)
  return taken === 1
}
