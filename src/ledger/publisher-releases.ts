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
  /** When a debt was covered as a whole, by its key; null while it is not. */
  readonly paidAt: (key: string) => number | null
  /** Whether something that is due is still owed under a key. */
  readonly isOwed: (key: string) => boolean
}

export async function findPublisherReleases(
  db: Db,
  { pubId, until }: { readonly pubId: number; readonly until: Date },
): Promise<PublisherReleases> {
  const releases: MerchantRelease[] = []
  const owed = new Set<string>()
  for (const merchId of await listMerchantsOf(db, pubId)) {
    const settled = await settleMerchant(db, { merchId, until })
    for (const { debt } of settled.open) owed.add(debt.key)
    for (const release of settled.releases) {
      if (release.pubId === pubId) releases.push({ ...release, merchId })
    }
  }
  releases.sort((a, b) => a.atMs - b.atMs || a.merchId - b.merchId || (a.key < b.key ? -1 : 1))
  const paid = new Map(
    releases.filter(({ isWhole }) => isWhole).map(({ key, atMs }) => [key, atMs]),
  )
  return { releases, paidAt: (key) => paid.get(key) ?? null, isOwed: (key) => owed.has(key) }
}
