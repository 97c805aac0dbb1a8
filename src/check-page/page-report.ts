/** What the page tag’s debug script (tag/debug.ts) adds to `window.souk`, and its report. */

export interface DebugTools {
  /** The tag's decision for each link of the page; null while the tag is inactive. */
  report(): PageReport | null
  /** Draws the decision around each link. */
  outline(): void
  /** What the page's security policy blocks, one sentence each. */
  probe(base: string, auctionUrl: string): Promise<string[]>
}

/** `auctioned` earns; `waiting` will earn, with the reason it waits; `left` stays unchanged. */
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
