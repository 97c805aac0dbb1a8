/**
 * Page sessions whose impression this node has recorded: a repeat adds no row to the log, where the
 * fold would not count it (docs/spec/limits.md#page-impressions).
 */
import { LRUCache } from 'lru-cache'

/** Some 20 MB; a page that reloads does so within the last sessions of its node. */
const SESSIONS_MAX = 100_000

export class RecordedSessions {
  readonly #recorded = new LRUCache<string, Promise<void>>({ max: SESSIONS_MAX })

  /** Records a session's impression, or waits for the one that is recorded already. */
  async record(key: string, append: () => Promise<void>): Promise<void> {
    const known = this.#recorded.get(key)
    if (known !== undefined) return known
    const appending = append()
    this.#recorded.set(key, appending)
    try {
      await appending
    } catch (error) {
      this.#recorded.delete(key)
      throw error
    }
  }
}
