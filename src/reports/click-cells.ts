/** Report cells that describe a click, shared by the clicks and orders reports. */
import { hash } from 'node:crypto'
import { MODEL, type Model } from '../events/event.ts'
import { DEVICE, deviceWord } from '../events/user-agent.ts'
import { formatExact } from '../platform/money/money.ts'
import type { CsvCell } from '../platform/text/csv.ts'
import type { ClickEvent } from './click-event-store.ts'

/** The columns of the click, its link, article, product and parties. */
export interface ClickFacts extends ClickEvent {
  readonly click_id: Buffer | null // Null for an impression.
  readonly at: Date
  readonly pub_id: number
  readonly visitor_key: Buffer | null
  readonly session_key: Buffer | null
  readonly auction_id: string | null
  readonly model: Model | null
  readonly article_url: string | null
  readonly article_name: string | null
  readonly is_exclusive: boolean | null
  readonly is_article_given: boolean | null
  readonly product_id: string | null
  readonly category_id: number | null
  readonly brand: string | null
  readonly title: string | null
  readonly offer_price_micros: string | null
  readonly merchant_name: string | null
  readonly publisher_name: string
}

const NETWORKS: Readonly<Record<Model, string>> = {
  [MODEL.none]: '',
  [MODEL.cpc]: 'CPC',
  [MODEL.cpa]: 'CPA',
  [MODEL.epp]: 'EPP',
}

export const deviceName = ({ device }: ClickFacts): string => deviceWord(device ?? DEVICE.unknown)
export const networkName = ({ model }: ClickFacts): string => NETWORKS[model ?? MODEL.none]

const COOKIE_ID_DIGITS = 32 // 128 bits, like the keyed hash it derives from.

/**
 * Identifies the reader or, without a reader, the page session. It differs per publisher: the log's
 * own hash is the same for all, and two publishers could otherwise find out who reads both.
 */
export function cookieId(facts: ClickFacts): string | null {
  const { pub_id: pubId, visitor_key, session_key } = facts
  const key = (visitor_key ?? session_key)?.toString('hex')
  return key === undefined ? null : hash('sha256', `${pubId} ${key}`).slice(0, COOKIE_ID_DIGITS)
}

/** Class and family: all that is stored of a user agent. */
export function userAgent(facts: ClickFacts): CsvCell {
  const family = facts.ua_family ?? ''
  return { text: family === '' ? deviceName(facts) : `${deviceName(facts)} ${family}` }
}

/** A destination that is not one of the merchant's offers: its home page or a brand's page. */
export function isBrandPage({ product_id }: ClickFacts): string {
  return String(product_id === null)
}

export function productPrice({ offer_price_micros: micros }: ClickFacts): string | null {
  return micros === null ? null : formatExact(micros)
}

/** Whether the publisher named the article itself; otherwise it was read from a page. */
export function isCleanArticleUrl({ is_article_given }: ClickFacts): string {
  return String(is_article_given ?? false)
}
