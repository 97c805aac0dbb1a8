/**
 * Bounds the budget that clicks from one address hold until the fold has judged them: without it,
 * unpaid clicks would hold their prices back and hide a small campaign from other readers.
 * docs/spec/budgets.md#reservations-by-address
 */
import { LRUCache } from 'lru-cache'
import { HOUR_MS } from '../platform/timestamp.ts'

/** The fold pays fewer: this leaves room for clicks that it refuses, such as double clicks. */
const OVER_PAID = 3
/** Pairs of address unit and campaign, in about 10 MB. The longest unused is forgotten first. */
const PAIRS_MAX = 50_000

export class AddressReservations {
  readonly #pairs = new LRUCache<string, { fromMs: number; count: number }>({ max: PAIRS_MAX })

  /** Counts one more reservation; false: the address has had its share of this hour. */
  take(
    of: { readonly campaignId: number; readonly address: string; readonly paidPerHour: number },
    nowMs: number,
  ): boolean {
    const key = `${of.campaignId} ${of.address}`
    const known = this.#pairs.get(key)
    if (known === undefined || Math.abs(nowMs - known.fromMs) >= HOUR_MS) {
      this.#pairs.set(key, { fromMs: nowMs, count: 1 })
      return true
    }
    if (known.count >= OVER_PAID * of.paidPerHour) return false
    known.count += 1
    return true
  }
}
