/** A link of the page: its original state and the changes that the tag made. */
import type { Verdict } from './find-links.ts'

export type Anchor = HTMLAnchorElement | HTMLAreaElement

export interface Link {
  _anchor: Anchor
  /** Its `href` as the page wrote it. */
  _text: string | null
  /** The same as an absolute URL. */
  _href: string
  _verdict: Verdict
  /** The link is counted but not changed: audit mode, or `rel="noauction"`. */
  _isLeft: boolean
  /** True when LinkMate was asked for a smart link. */
  _raw?: boolean
  _id?: string
  /**
   * Undefined before its impression is sent; set when another anchor in the same place was counted.
   */
  _isViewed?: boolean | undefined
  _result?: AuctionResult
  /** The start of the URL that the outcome set. */
  _outcome?: string | undefined
  /** Stops watching whether the reader sees the link. */
  _unwatch?: () => void
  /** The changes of an outcome: attributes before and after, and texts. */
  _changes?: [Attributes, Attributes, ReplacedText[]]
}

/** The values that an outcome changes. */
export type Attributes = (string | null)[]

/** An element whose text was replaced, with the old and the new text. */
export type ReplacedText = [Element, Node[], string]

/** The auction's response, and whether it has a winner. */
export interface AuctionResult {
  id: string
  auction_id: string
  redirect_url: string
  /** false: nobody bid, and the product is the original page's. */
  has_winner?: boolean | undefined
  product?: {
    name?: string
    price?: string
    is_in_stock?: boolean
    merchant?: { name?: string }
  }
  tracker_urls?: { impression?: string[]; viewable_impression?: string[] }
}
