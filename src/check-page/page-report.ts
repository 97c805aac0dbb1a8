/** What the page tag’s debug script (tag/debug.ts) adds to `window.souk`, and what it reports. */

export interface DebugTools {
  /** What the tag makes of each link of the page; null while it is not at work. */
  report(): PageReport | null
  /** Draws around each link what becomes of it. */
  outline(): void
  /** What the page's security policy keeps the tag from, a sentence each. */
  probe(base: string, auctionUrl: string): Promise<string[]>
}

/** `auctioned` earns; `waiting` would, and says what it waits for; `left` stays as it is. */
export type LinkStatus = 'auctioned' | 'waiting' | 'left'

export interface LinkReport {
  readonly text: string
  readonly url: string
  readonly status: LinkStatus
  readonly why: string
  readonly is_raw: boolean
  readonly auction_id: string | null
  readonly redirect_url: string | null
  readonly destination: string | null
  readonly has_winner: boolean | null
  readonly product: string | null
  readonly merchant: string | null
  readonly price: string | null
}

export interface PageReport {
  readonly publisher_id: number
  readonly is_member: boolean
  readonly is_audit: boolean
  readonly consent: string
  readonly consent_source: string | null
  /** What keeps the tag from earning here, as far as the page itself decides it. */
  readonly blocked: readonly string[]
  readonly other_tags: readonly string[]
  readonly links: readonly LinkReport[]
}
