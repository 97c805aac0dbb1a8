/** A link of the page, as the tag found it and as it left it. */
import type { Verdict } from './find-links.ts'

export type Anchor = HTMLAnchorElement | HTMLAreaElement

export interface Link {
  _anchor: Anchor
  /** Its address as the page wrote it. */
  _text: string | null
  /** The same, absolute. */
  _href: string
  _verdict: Verdict
  /** The page wants no auction for it, and nothing changed: audit mode, or `rel="noauction"`. */
  _isLeft: boolean
  /** True when LinkMate was asked for the smart link. */
  _raw?: boolean
  _id?: string
  /** Undefined in a place of its own; told of before in that of another anchor. */
  _isViewed?: boolean | undefined
  _result?: AuctionResult
  /** How its address begins that the outcome gave it. */
  _outcome?: string | undefined
  /** Ends the watch for a reader who sees it. */
  _unwatch?: () => void
  /** What an outcome has changed: attributes before and after, and texts. */
  _changes?: [Attributes, Attributes, ReplacedText[]]
}

/** The values of what an outcome changes. */
export type Attributes = (string | null)[]

/** An element whose text was replaced, what it held, and what it says instead. */
export type ReplacedText = [Element, Node[], string]

/** Interface 2.5, and whether anybody won. */
export interface AuctionResult {
  id: string
  auction_id: string
  redirect_url: string
  /** false: nobody bid, and the product is that of the original page. */
  has_winner?: boolean | undefined
  product?: {
    name?: string
    price?: string
    is_in_stock?: boolean
    merchant?: { name?: string }
  }
  tracker_urls?: { impression?: string[]; viewable_impression?: string[] }
}
