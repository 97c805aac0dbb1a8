/**
 * Quotas on the bytes that anonymous clients can make us store (docs/spec/limits.md#storage): by
 * address unit and hour, and by organization and UTC day. Past a quota rows are counted and not
 * stored.
 *
 * A node decides in memory, at once, so no race overruns it. Nodes add their bytes to the
 * database's totals every second: together they exceed an organization's quota by no more than
 * the others took in that second.
 */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors/api-errors.ts'
import { addressUnit } from '../net/client-address.ts'
import { HOUR_MS, utcDay } from '../time/timestamp.ts'

/** More addresses than this forget the one that has been quiet for longest. */
const ADDRESSES_MAX = 100_000

export interface QuotaTerms {
  /** In the hour that begins with the first row; rows where `isRows`, else bytes. */
  readonly addressMax: number
  readonly isRows?: boolean
  readonly organizationBytesMax: number
}

/** Rows that somebody wants stored. */
export interface Wanted {
  readonly address: string
  readonly organizationId: number
  readonly rows: number
  readonly bytes: number
}

/** An organization's day as the database has it, or what is to be added to it. */
export interface StoredBytes {
  readonly day: string
  readonly kind: string
  readonly organizationId: number
  readonly bytes: number
  readonly leftOut: number
}

interface Day {
  readonly day: string
  readonly kind: string
  readonly organizationId: number
  total: number // of all nodes, as of the last answer of the database
  own: number // of this node, and not in the total yet
  leftOut: number // likewise
}

type Window = { used: number; readonly endsMs: number }

export interface StorageQuotasOptions<Kind extends string> {
  readonly terms: Readonly<Record<Kind, QuotaTerms>> | null // null: no quotas
  readonly now: () => number
  readonly onLeftOut: (kind: Kind, rows: number) => void
  /** Adds to the database's totals; resolves with them. */
  readonly add: (changes: readonly StoredBytes[]) => Promise<StoredBytes[]>
}

export class StorageQuotas<Kind extends string> {
  readonly #options: StorageQuotasOptions<Kind>
  readonly #windows = new LRUCache<string, Window>({ max: ADDRESSES_MAX })
  readonly #days = new Map<string, Day>()
  #exchanging: Promise<void> | null = null

  constructor(options: StorageQuotasOptions<Kind>) {
    this.#options = options
  }

  /** Whether the rows may be stored; if so they count, if not they are counted as left out. */
  take(kind: Kind, wanted: Wanted): boolean {
    const { terms } = this.#options
    if (terms === null) return true
    const day = this.#dayOf(kind, wanted.organizationId)
    if (day.total + day.own + wanted.bytes > terms[kind].organizationBytesMax) {
      this.leaveOut(kind, wanted)
      return false
    }
    if (!this.takeOfAddress(kind, wanted)) return false
    day.own += wanted.bytes
    return true
  }

  /** The same for the address alone: the caller asks the database for the organization's. */
  takeOfAddress(kind: Kind, wanted: Wanted): boolean {
    const { terms, now } = this.#options
    if (terms === null) return true
    const { addressMax, isRows } = terms[kind]
    const window = this.#windowOf(kind, wanted.address, now())
    const used = window.used + (isRows ? wanted.rows : wanted.bytes)
    if (used > addressMax) {
      this.leaveOut(kind, wanted)
      return false
    }
    window.used = used
    return true
  }

  /** Counts rows that are not stored. */
  leaveOut(kind: Kind, { organizationId, rows }: Wanted): void {
    this.#dayOf(kind, organizationId).leftOut += rows
    this.#options.onLeftOut(kind, rows)
  }

  organizationBytesMax(kind: Kind): number {
    return this.#options.terms?.[kind].organizationBytesMax ?? Number.MAX_SAFE_INTEGER
  }

  /** Throws a 429 where the rows may not be stored. */
  require(kind: Kind, wanted: Wanted): void {
    if (this.take(kind, wanted)) return
    const { terms, now } = this.#options
    const { endsMs } = this.#windowOf(kind, wanted.address, now())
    const seconds = String(Math.max(1, Math.ceil((endsMs - now()) / 1_000)))
    throw new ApiError('rateLimited', {
      message: 'The storage quota of this address or organization is used up',
      headers: {
        'retry-after': seconds,
        'ratelimit-limit': String(terms?.[kind].addressMax),
        'ratelimit-remaining': '0',
        'ratelimit-reset': seconds,
      },
    })
  }

  /** Brings this node's bytes to the database, and the other nodes' here. */
  exchange(): Promise<void> {
    this.#exchanging ??= this.#exchange().finally(() => {
      this.#exchanging = null
    })
    return this.#exchanging
  }

  async #exchange(): Promise<void> {
    const sent = [...this.#days.values()].map((day) => ({ of: day, ...day, bytes: day.own }))
    const changes = sent.filter(({ own, leftOut }) => own + leftOut > 0)
    if (changes.length > 0) {
      const totals = await this.#options.add(
        changes.map(({ day, kind, organizationId, bytes, leftOut }) => {
          return { day, kind, organizationId, bytes, leftOut }
        }),
      )
      for (const { of, own, leftOut } of changes) {
        of.own -= own
        of.leftOut -= leftOut
        of.total += own
      }
      this.learn(totals)
    }
    const today = utcDay(this.#options.now())
    for (const [key, { day, own, leftOut }] of this.#days) {
      if (day < today && own + leftOut === 0) this.#days.delete(key)
    }
  }

  /** Totals of all nodes. */
  learn(totals: readonly StoredBytes[]): void {
    for (const { day, kind, organizationId, bytes } of totals) {
      this.#day({ day, kind, organizationId }).total = bytes
    }
  }

  #windowOf(kind: string, address: string, nowMs: number): Window {
    const key = `${kind} ${addressUnit(address)}`
    const known = this.#windows.get(key)
    if (known !== undefined && nowMs < known.endsMs && nowMs >= known.endsMs - HOUR_MS) return known
    const window = { used: 0, endsMs: nowMs + HOUR_MS }
    this.#windows.set(key, window)
    return window
  }

  #dayOf(kind: string, organizationId: number): Day {
    return this.#day({ day: utcDay(this.#options.now()), kind, organizationId })
  }

  #day(of: Pick<Day, 'day' | 'kind' | 'organizationId'>): Day {
    return this.#days.getOrInsertComputed(`${of.day} ${of.kind} ${of.organizationId}`, () => {
      return { ...of, total: 0, own: 0, leftOut: 0 }
    })
  }
}
