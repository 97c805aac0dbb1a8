/** A publisher's releases and reversals by a time, merchant by merchant. */
import type { Db } from '../platform/postgres/postgres.ts'
import { listMerchantsOf, matchPublisherDebts } from './debt-store.ts'
import { type MatchedDebts, ownKeyOf, type Release } from './release.ts'

export interface MerchantRelease extends Release {
  readonly merchId: number
}

/** When a line of an order was paid for, by its key; null while it is not. */
export type PaidAt = (orderProductId: string) => number | null

/** Each merchant's debts are independent, so each is matching on first use. */
export interface PublisherReleases {
  /** The releases of all merchants, in order of time. */
  all(): Promise<readonly MerchantRelease[]>
  /**
   * A line that costs nothing (a gift, or a return in time) is paid with its order's other lines.
   */
  paidAtOf(merchId: number): Promise<PaidAt>
}

export function openReleases(
  db: Db,
  { pubId, until }: { readonly pubId: number; readonly until: Date },
): PublisherReleases {
  const matching = new Map<number, Promise<OwnReleases>>()
  const match = async (merchId: number) =>
    ownReleases(await matchPublisherDebts(db, { merchId, pubId, until }), { pubId, merchId })
  const matchedOf = (merchId: number) => matching.getOrInsertComputed(merchId, match)
  return {
    async all() {
      const releases: MerchantRelease[] = []
      for (const merchId of await listMerchantsOf(db, [pubId])) {
        for (const release of (await matchedOf(merchId)).releases) releases.push(release)
      }
      return releases.sort(byTime)
    },
    paidAtOf: async (merchId) => (await matchedOf(merchId)).paidAt,
  }
}

interface OwnReleases {
  readonly releases: readonly MerchantRelease[]
  readonly paidAt: PaidAt
}

/** A publisher's part of one merchant's releases. */
function ownReleases(
  matched: MatchedDebts,
  { pubId, merchId }: { readonly pubId: number; readonly merchId: number },
): OwnReleases {
  const owed = new Set(matched.open.map(({ debt }) => orderOf(debt.key)))
  const releases = matched.releases
    .filter((release) => release.pubId === pubId)
    .map((release) => ({ ...release, merchId }))
  const lines = new Map<string, number>()
  const orders = new Map<string, number>()
  for (const { key, atMs, isWhole } of releases) {
    if (!isWhole || key !== ownKeyOf(key)) continue // A reversal pays for no line.
    lines.set(key, atMs)
    orders.set(orderOf(key), atMs) // They are ordered by time, so the last one stays.
  }
  const orderPaidAt = (order: string) => (owed.has(order) ? null : (orders.get(order) ?? null))
  return { releases, paidAt: (key) => lines.get(key) ?? orderPaidAt(orderOf(key)) }
}

function byTime(a: MerchantRelease, b: MerchantRelease): number {
  return a.atMs - b.atMs || a.merchId - b.merchId || (a.key < b.key ? -1 : 1)
}

/** A line's key starts with the order and the merchant, in which colons and blanks are escaped. */
function orderOf(key: string): string {
  return key.split(':', 2).join(':')
}
