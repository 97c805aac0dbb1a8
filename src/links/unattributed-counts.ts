/**
 * Counts wrapper redirects that name no known publisher, in memory, and writes the counts to the
 * database (docs/spec/links-and-tags.md#unattributed-wrapper-redirects).
 */

import { startPoller } from '../platform/concurrency/poller.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { addUnattributed, NO_NAMES, type UnattributedNames } from './unattributed-store.ts'

/** An error is still new to the person who makes it. */
const WRITE_MS = 5_000
/** Anybody can write any number of such links: beyond this, redirects count without names. */
const NAMES_MAX = 100
/** A slug has at most 64 characters, a host at most 253. */
const SLUG_LENGTH_MAX = 64
const HOST_LENGTH_MAX = 253

export interface UnattributedOptions {
  readonly db: Database
  readonly now: () => number
  readonly onCounted: () => void
  readonly onError: (error: unknown) => void
}

export class UnattributedCounts {
  readonly #options: UnattributedOptions
  readonly #timer: NodeJS.Timeout
  #counts = new Map<string, number>()

  constructor(options: UnattributedOptions) {
    this.#options = options
    const { onError } = options
    this.#timer = startPoller(() => this.#write(), { everyMs: WRITE_MS, onError })
  }

  count({ slug, host, targetHost }: UnattributedNames): void {
    const names = {
      slug: slug.slice(0, SLUG_LENGTH_MAX).toWellFormed().toLowerCase(),
      host: host.slice(0, HOST_LENGTH_MAX),
      targetHost: targetHost.slice(0, HOST_LENGTH_MAX),
    }
    this.#add(JSON.stringify(names), 1)
    this.#options.onCounted()
  }

  /** Stops the timer and writes the rest. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#write()
  }

  #add(names: string, redirects: number): void {
    const isKnown = this.#counts.has(names) || this.#counts.size < NAMES_MAX
    const key = isKnown ? names : JSON.stringify(NO_NAMES)
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + redirects)
  }

  async #write(): Promise<void> {
    const counts = this.#counts
    if (counts.size === 0) return
    this.#counts = new Map()
    const rows = [...counts].map(([names, redirects]) => ({
      ...(JSON.parse(names) as UnattributedNames),
      redirects,
    }))
    try {
      await addUnattributed(this.#options.db, { day: utcDay(this.#options.now()), rows })
    } catch (error) {
      for (const [names, redirects] of counts) this.#add(names, redirects)
      throw error
    }
  }
}
