/** What of a publisher's earnings was released or taken back by a time, over all its merchants. */
import type { Db } from '../platform/postgres.ts'
import { listMerchantsOf, settleMerchant } from './debt-store.ts'
import type { Release } from './release.ts'

export interface MerchantRelease extends Release {
  readonly merchId: number
}

export interface PublisherReleases {
  /** In the order in which they happened. */
  readonly releases: readonly MerchantRelease[]
  /**
   * When a line of an order was paid for, by its key; null while it is not. One that owes nothing,
   * a gift or what came back in time, is paid with the others of its order.
   */
  readonly paidAt: (key: string) => number | null
}

/** Of one merchant, when that is all that is asked for: each one’s debts stand by themselves. */
export async function findPublisherReleases(
  db: Db,
  of: { readonly pubId: number; readonly merchId?: number; readonly until: Date },
): Promise<PublisherReleases> {
  const { pubId, merchId: only, until } = of
  const releases: MerchantRelease[] = []
  const owed = new Set<string>()
  for (const merchId of only === undefined ? await listMerchantsOf(db, pubId) : [only]) {
    const settled = await settleMerchant(db, { merchId, until })
    for (const { debt } of settled.open) owed.add(orderOf(debt.key))
    for (const release of settled.releases) {
      if (release.pubId === pubId) releases.push({ ...release, merchId })
    }
  }
  releases.sort((a, b) => a.atMs - b.atMs || a.merchId - b.merchId || (a.key < b.key ? -1 : 1))
  const lines = new Map<string, number>()
  const orders = new Map<string, number>()
  for (const { key, atMs, isWhole } of releases) {
    if (!isWhole || isGoodsBack(key)) continue
    lines.set(key, atMs)
    orders.set(orderOf(key), Math.max(atMs, orders.get(orderOf(key)) ?? atMs))
  }
  const orderPaidAt = (order: string) => (owed.has(order) ? null : (orders.get(order) ?? null))
  return { releases, paidAt: (key) => lines.get(key) ?? orderPaidAt(orderOf(key)) }
}

/** Keys of lines begin with the order and the merchant, in which colons and blanks are escaped. */
function orderOf(key: string): string {
  return key.split(':', 2).join(':')
}

/** Its key has the return's id behind that of the line. */
function isGoodsBack(key: string): boolean {
  return key.includes(' ')
}
