/** Merchants and their domains in SQL: created, changed, found and listed. */

import { handOver } from '../accounts/membership-store.ts'
import { newSecret } from '../platform/crypto/secrets.ts'
import { badRequest, notFound } from '../platform/errors/api-errors.ts'
import { canBeSmallId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { refusingTaken } from '../platform/postgres/refuse-taken.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { type MerchantSettings, merchantFaults, normalMerchant } from './merchant.ts'

export interface Merchant extends MerchantSettings {
  readonly merch_id: number
  readonly postback_secret: string
  readonly feed_imported_at: Date | null
  readonly feed_url: string | null // where it is fetched again
  readonly feed_error: string | null // why the last try failed
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

/** Of `MerchantSettings`, but for its domains. */
const SETTINGS = sql`uid, name, click_param, deep_link, window_days, origins,
  post_impression_rate_ppm, is_confirming, allows_second_rate, default_currency`
const COLUMNS = sql`merch_id, ${SETTINGS}, postback_secret, feed_imported_at, datetime_created,
  datetime_updated, array(
    select domain from merchant_domain d where d.merch_id = merchant.merch_id order by position
  ) as domains,
  (select url from feed_source f where f.merch_id = merchant.merch_id) as feed_url,
  (select error from feed_source f where f.merch_id = merchant.merch_id) as feed_error`

/** Throws a 400 that names every setting it refuses; nothing is written then. */
export function insertMerchant(db: Db, wanted: MerchantSettings): Promise<Merchant> {
  return db.transaction(async (tx) => {
    const settings = checked(wanted)
    const row = await tx.row<{ merch_id: number }>(sql`
      insert into merchant (postback_secret, ${SETTINGS})
      select ${newSecret()}, settings.* from (${rowOf(settings)}) as settings
      returning merch_id`)
    const merchId = row?.merch_id ?? 0
    const organization = { kind: 'merchant', id: merchId } as const
    await handOver(tx, { organization, from: null, to: settings.uid })
    await replaceDomains(tx, { merchId, domains: settings.domains })
    return requireMerchant(tx, merchId)
  })
}

/**
 * Changes the settings given and leaves the others; throws a 404 for an unknown merchant. A new
 * secret takes the place of the old one at once: who has a leaked one must not sign with it longer.
 */
export function updateMerchant(
  db: Db,
  {
    merchId,
    changes,
    isNewSecret = false,
  }: { merchId: number; changes: Partial<MerchantSettings>; isNewSecret?: boolean },
): Promise<Merchant> {
  return db.transaction(async (tx) => {
    await tx.run(sql`select from merchant where merch_id = ${merchId} for update`)
    const before = await requireMerchant(tx, merchId)
    const settings = checked({ ...before, ...changes })
    await tx.run(sql`
      update merchant set (${SETTINGS}) = (${rowOf(settings)}), datetime_updated = now(),
        postback_secret = ${isNewSecret ? newSecret() : before.postback_secret}
      where merch_id = ${merchId}`)
    const organization = { kind: 'merchant', id: merchId } as const
    await handOver(tx, { organization, from: before.uid, to: settings.uid })
    if (settings.domains.join() !== before.domains.join()) {
      await replaceDomains(tx, { merchId, domains: settings.domains })
    }
    return requireMerchant(tx, merchId)
  })
}

function rowOf(settings: MerchantSettings): Sql {
  return sql`
    select ${SETTINGS}
    from jsonb_populate_record(null::merchant, ${JSON.stringify(settings)}::jsonb)`
}

/** `merchId` may be any integer: numbers that no id has are nobody's. */
export async function findMerchant(db: Db, merchId: number): Promise<Merchant | null> {
  if (!canBeSmallId(merchId)) return null
  return db.row(selectMerchants(sql`merch_id = ${merchId}`))
}

export function listMerchants(db: Db): Promise<Merchant[]> {
  return db.rows(sql`${selectMerchants(sql`true`)} order by merch_id`)
}

/** The names of all merchants, or of these, by id. */
export async function listMerchantNames(
  db: Db,
  ids: Iterable<number> | null = null,
): Promise<Map<number, string>> {
  const wanted = ids === null ? sql`true` : sql`merch_id = any(${[...ids]}::int[])`
  const rows = await db.rows<{ merch_id: number; name: string }>(sql`
    select merch_id, name from merchant where ${wanted} order by merch_id`)
  return new Map(rows.map(({ merch_id, name }) => [merch_id, name]))
}

/** The merchants that a user belongs to. */
export async function listMerchantIdsOf(db: Db, uid: number): Promise<number[]> {
  const rows = await db.rows<{ merch_id: number }>(sql`
    select merch_id from membership where uid = ${uid} and merch_id is not null order by merch_id`)
  return rows.map(({ merch_id }) => merch_id)
}

function selectMerchants(condition: Sql): Sql {
  return sql`select ${COLUMNS} from merchant where ${condition}`
}

/** Throws a 404 that names the merchant when there is none. */
export async function requireMerchant(db: Db, merchId: number): Promise<Merchant> {
  const merchant = await findMerchant(db, merchId)
  if (merchant === null) throw notFound(`No merchant ${merchId}`)
  return merchant
}

function checked(wanted: MerchantSettings): MerchantSettings {
  const settings = normalMerchant(wanted)
  const faults = merchantFaults(settings)
  if (faults.length > 0) throw badRequest(faults)
  return settings
}

async function replaceDomains(
  tx: Db,
  { merchId, domains }: { merchId: number; domains: readonly string[] },
): Promise<void> {
  // One after the other: two who want each other's domain would wait for each other.
  await tx.run(sql`lock table merchant_domain in share row exclusive mode`)
  await tx.run(sql`delete from merchant_domain where merch_id = ${merchId}`)
  const insert = () =>
    tx.run(sql`
      insert into merchant_domain (domain, merch_id, position)
      select domain, ${merchId}::int, position
      from unnest(${domains}::text[]) with ordinality as wanted (domain, position)
    `)
  await refusingTaken(insert, (detail) => {
    const taken = /\(domain\)=\((.*?)\)/.exec(detail)?.[1]
    return { field: 'domain', rule: `another merchant has ${taken ?? 'it'}` }
  })
}
