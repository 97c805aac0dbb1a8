/**
 * Bounds the budget that unjudged clicks from one address reserve. Otherwise unpaid clicks would
 * hold reservations and hide a small campaign from other readers.
 * docs/spec/budgets.md#reservations-by-address
 */
import { LRUCache } from 'lru-cache'

/**
 * In this window an address may reserve as many clicks as its campaign pays it per hour. That is
 * three times the paid rate, which leaves room for unpaid clicks such as double clicks.
 */
const WINDOW_MS = 20 * 60_000
/** Pairs of address unit and campaign, in about 10 MB. The least recently used is dropped first. */
const PAIRS_MAX = 50_000

export class AddressReservations {
  readonly #pairs = new LRUCache<string, { fromMs: number; count: number }>({ max: PAIRS_MAX })

  /** Counts one more reservation; false when the address has used its share. */
  take(
    of: { readonly campaignId: number; readonly address: string; readonly paidPerHour: number },
    nowMs: number,
  ): boolean {
    const key = `${of.campaignId} ${of.address}`
    const known = this.#pairs.get(key)
    if (known === undefined || Math.abs(nowMs - known.fromMs) >= WINDOW_MS) {
      this.#pairs.set(key, { fromMs: nowMs, count: 1 })
      return true
    }
    if (known.count >= of.paidPerHour) return false
    known.count += 1
    return true
  }
}
