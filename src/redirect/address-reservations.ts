/**
 * Bounds the budget that clicks from one address hold until the fold has judged them: without it,
 * unpaid clicks would hold their prices back and hide a small campaign from other readers.
 * docs/spec/budgets.md#reservations-by-address
 */
import { LRUCache } from 'lru-cache'

/**
 * In this time an address may reserve what its campaign pays it in an hour: three times as much in
 * all, which leaves room for clicks that the fold refuses, such as double clicks.
 */
const WINDOW_MS = 20 * 60_000
/** Pairs of address unit and campaign, in about 10 MB. The longest unused is forgotten first. */
const PAIRS_MAX = 50_000

export class AddressReservations {
  readonly #pairs = new LRUCache<string, { fromMs: number; count: number }>({ max: PAIRS_MAX })

  /** Counts one more reservation; false: the address has had its share. */
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
