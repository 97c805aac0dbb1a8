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
  /** Replaced secrets; each still signs until its end. */
  readonly former_secrets: readonly FormerSecret[]
  readonly is_suspended: boolean // The operator's stop: docs/spec/management.md#suspension
  readonly feed_imported_at: Date | null
  readonly feed_url: string | null // where it is fetched again
  readonly feed_error: string | null // why the last attempt failed or removed no offer
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

export interface FormerSecret {
  readonly secret: string
  readonly ends_at_ms: number
}

/** Of `MerchantSettings`, but for its domains. */
const SETTINGS = sql`uid, name, click_param, deep_link, window_days, origins,
  post_impression_rate_ppm, is_confirming, allows_second_rate, default_currency`
const COLUMNS = sql`merch_id, ${SETTINGS}, postback_secret, is_suspended, feed_imported_at,
  datetime_created, datetime_updated, array(
    select domain from merchant_domain d where d.merch_id = merchant.merch_id order by position
  ) as domains,
  (select coalesce(json_agg(json_build_object('secret', secret,
      'ends_at_ms', extract(epoch from ends_at) * 1000) order by ends_at desc), '[]')
    from former_postback_secret f where f.merch_id = merchant.merch_id) as former_secrets,
  (select url from feed_source f where f.merch_id = merchant.merch_id) as feed_url,
  (select error from feed_source f where f.merch_id = merchant.merch_id) as feed_error`

/** Throws a 400 that names every refused setting, before anything is written. */
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
 * Changes the given settings and keeps the others; throws a 404 for an unknown merchant. A new
 * secret ends all earlier ones at once, so that a leaked one stops working.
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
    const before = await lockMerchant(tx, merchId)
    const settings = checked({ ...before, ...changes })
    if (isNewSecret) {
      await tx.run(sql`delete from former_postback_secret where merch_id = ${merchId}`)
    }
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

/** Locks the merchant until the transaction ends; a 404 if unknown. */
export async function lockMerchant(tx: Db, merchId: number): Promise<Merchant> {
  if (canBeSmallId(merchId)) {
    await tx.run(sql`select from merchant where merch_id = ${merchId} for update`)
  }
  return requireMerchant(tx, merchId)
}

/** Replaced secrets that may sign beside the current one: each costs a check per request. */
export const FORMER_SECRETS_MAX = 5

/**
 * Gives a merchant a new secret; its old one ends at `endsAt`, and those that have ended by `now`
 * are deleted. The caller holds the merchant's lock.
 */
export async function replaceSecret(
  tx: Db,
  { merchId, now, endsAt }: { merchId: number; now: Date; endsAt: Date },
): Promise<string> {
  const secret = newSecret()
  await tx.run(sql`
    delete from former_postback_secret where merch_id = ${merchId} and ends_at <= ${now}`)
  await tx.run(sql`
    insert into former_postback_secret (merch_id, secret, ends_at)
    select merch_id, postback_secret, ${endsAt} from merchant where merch_id = ${merchId}`)
  await tx.run(sql`
    update merchant set postback_secret = ${secret}, datetime_updated = now()
    where merch_id = ${merchId}`)
  return secret
}

/** The secrets that a merchant's server may sign with. */
export function signingSecrets(
  { postback_secret, former_secrets }: Pick<Merchant, 'postback_secret' | 'former_secrets'>,
  nowMs: number,
): string[] {
  const former = former_secrets.filter(({ ends_at_ms }) => ends_at_ms > nowMs)
  return [postback_secret, ...former.map(({ secret }) => secret)]
}

function rowOf(settings: MerchantSettings): Sql {
  return sql`
    select ${SETTINGS}
    from jsonb_populate_record(null::merchant, ${JSON.stringify(settings)}::jsonb)`
}

/** `merchId` may be any integer; an unknown one finds nothing. */
export async function findMerchant(db: Db, merchId: number): Promise<Merchant | null> {
  if (!canBeSmallId(merchId)) return null
  return db.row(selectMerchants(sql`merch_id = ${merchId}`))
}

/** These merchants, in the order of their ids. */
export function findMerchants(db: Db, merchIds: readonly number[]): Promise<Merchant[]> {
  const wanted = selectMerchants(sql`merch_id = any(${merchIds}::int[])`)
  return db.rows(sql`${wanted} order by merch_id`)
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

function selectMerchants(condition: Sql): Sql {
  return sql`select ${COLUMNS} from merchant where ${condition}`
}

/** Throws a 404 that names the missing merchant. */
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
  // One after the other: two merchants that claim each other's domain would deadlock.
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
