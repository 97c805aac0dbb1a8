/**
 * The market in one immutable snapshot: publishers, merchants, campaigns and disabled links.
 *
 * Rebuilt off the request path when the database notifies a change (and by polling), so that the
 * hot path needs no SQL for it.
 */
import { hash } from 'node:crypto'
import { PUBLISHER_COLUMNS, type PublisherRow } from '../accounts/publisher-store.ts'
import { CAMPAIGN_COLUMNS, type CampaignRow } from '../campaigns/campaign-store.ts'
import type { Merchant as MerchantRow } from '../catalog/merchant-store.ts'
import { isOnDomain, parseWebUrl, siteHost } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export type Publisher = Omit<PublisherRow, 'is_suspended' | 'datetime_created' | 'datetime_updated'>

export type Merchant = Pick<
  MerchantRow,
  'merch_id' | 'name' | 'domains' | 'click_param' | 'deep_link' | 'feed_imported_at'
>

export type Campaign = Omit<CampaignRow, 'paused_by' | 'datetime_created' | 'datetime_updated'>

export interface Market {
  /** Grows with every snapshot of this process. */
  readonly version: number
  /** Equal for equal snapshots, so a poll without news changes nothing. */
  readonly fingerprint: string
  readonly publishers: ReadonlyMap<number, Publisher>
  readonly publishersBySlug: ReadonlyMap<string, Publisher> // By lower-case slug.
  readonly merchants: ReadonlyMap<number, Merchant>
  readonly merchantsByDomain: ReadonlyMap<string, number>
  /** Equal while the same domains belong to merchants: pages ask again when it changes. */
  readonly merchantsVersion: string
  readonly campaigns: ReadonlyMap<number, Campaign>
  /**
   * Auction ids; few, because an operator names each. Sealed results are followed without the link.
   */
  readonly disabledLinks: ReadonlySet<string>
  readonly suspended: Suspended
}

/** Organizations that the operator has stopped: they get no auction and no paid click. */
export interface Suspended {
  readonly publishers: ReadonlySet<number>
  readonly merchants: ReadonlySet<number>
}

const NOBODY_SUSPENDED: Suspended = { publishers: new Set(), merchants: new Set() }

/** Reads the whole market in one database snapshot. */
export function loadMarket(db: Db, version: number): Promise<Market> {
  const read = async (tx: Db) => {
    const publishers = await tx.rows<Publisher>(sql`select ${PUBLISHER_COLUMNS} from publisher`)
    const merchants = await tx.rows<Merchant>(sql`
      select merch_id, name, click_param, deep_link, feed_imported_at,
        coalesce(domains, '{}') as domains
      from merchant left join (
        select merch_id, array_agg(domain order by position) as domains
        from merchant_domain group by merch_id
      ) as own using (merch_id)`)
    const campaigns = await tx.rows<Campaign>(
      sql`select ${CAMPAIGN_COLUMNS} from campaign order by campaign_id`,
    )
    const disabledLinks = await tx.rows<{ auction_id: string }>(
      sql`select auction_id from smart_link where state = 'disabled' order by auction_id`,
    )
    const suspended = await readSuspended(tx)
    return indexMarket({ version, publishers, merchants, campaigns, disabledLinks, suspended })
  }
  return db.transaction(read, { isSnapshot: true })
}

async function readSuspended(tx: Db): Promise<Suspended> {
  const rows = await tx.rows<{ pub_id: number | null; merch_id: number | null }>(sql`
    select pub_id, null::int as merch_id from publisher where is_suspended
    union all
    select null, merch_id from merchant where is_suspended
    order by pub_id, merch_id`)
  return {
    publishers: new Set(rows.flatMap(({ pub_id }) => pub_id ?? [])),
    merchants: new Set(rows.flatMap(({ merch_id }) => merch_id ?? [])),
  }
}

/** Long enough to distinguish one set of domains from the next. */
const VERSION_DIGITS = 8

/** Builds the look-ups of a snapshot. */
export function indexMarket(parts: {
  version: number
  publishers: readonly Publisher[]
  merchants: readonly Merchant[]
  campaigns: readonly Campaign[]
  disabledLinks: readonly { auction_id: string }[]
  suspended?: Suspended
}): Market {
  const { version, publishers, merchants, disabledLinks, suspended = NOBODY_SUSPENDED } = parts
  const campaigns = parts.campaigns.map((campaign) => withoutSuspended(campaign, suspended))
  const sets = [[...suspended.publishers], [...suspended.merchants]]
  return {
    version,
    fingerprint: hash(
      'sha1',
      JSON.stringify([publishers, merchants, campaigns, disabledLinks, sets]),
    ),
    publishers: new Map(publishers.map((item) => [item.pub_id, item])),
    publishersBySlug: new Map(publishers.map((item) => [item.slug.toLowerCase(), item])),
    merchants: new Map(merchants.map((item) => [item.merch_id, item])),
    merchantsByDomain: new Map(
      merchants.flatMap(({ merch_id, domains }) => domains.map((domain) => [domain, merch_id])),
    ),
    merchantsVersion: versionOf(merchants.flatMap(({ domains }) => domains)),
    campaigns: new Map(campaigns.map((item) => [item.campaign_id, item])),
    disabledLinks: new Set(disabledLinks.map((item) => item.auction_id)),
    suspended,
  }
}

/** The campaigns of a suspended merchant count as paused: they neither bid nor hold a budget. */
function withoutSuspended(campaign: Campaign, { merchants }: Suspended): Campaign {
  return merchants.has(campaign.merch_id) ? { ...campaign, state: 'paused' } : campaign
}

function versionOf(domains: readonly string[]): string {
  return hash('sha1', domains.toSorted().join(' ')).slice(0, VERSION_DIGITS)
}

/**
 * Whether a listing's page is still on a domain of its merchant: a domain may have moved to another
 * merchant since the import. A merchant unknown to the snapshot has given up no domain.
 */
export function isOwnPage(
  { merchants }: Pick<Market, 'merchants'>,
  { merch_id, url }: { merch_id: number; url: string },
): boolean {
  const domains = merchants.get(merch_id)?.domains
  const page = parseWebUrl(url)
  if (domains === undefined || page === null) return domains === undefined
  const host = siteHost(page)
  return domains.some((domain) => isOnDomain(host, domain))
}

/** The merchant whose domain covers a host (`www.`, any subdomain), or 0. */
export function merchantOfHost(market: Market, host: string): number {
  let domain = host.toLowerCase()
  for (;;) {
    const found = market.merchantsByDomain.get(domain)
    if (found !== undefined) return found
    const dot = domain.indexOf('.')
    if (dot < 0) return 0
    domain = domain.slice(dot + 1) // a.b.example, b.example, example.
  }
}
