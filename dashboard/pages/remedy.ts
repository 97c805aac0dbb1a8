/** Why a merchant did not win, in words of a publisher, and what the publisher can do about it. */
import type { LossWord } from '../../src/auction/loss-code.ts'

interface Words {
  readonly name: string
  /** Null where only the merchant can change it. */
  readonly remedy: string | null
}

const WORDS: Readonly<Record<string, Words>> = {
  inactive: { name: 'Campaign paused', remedy: null },
  out_of_flight: { name: 'Campaign not running', remedy: null },
  out_of_stock: {
    name: 'Out of stock',
    remedy: 'Link to a similar product that a merchant has in stock.',
  },
  stale_feed: { name: 'Merchant’s prices are out of date', remedy: null },
  device: { name: 'Not for this device', remedy: null },
  country: { name: 'Not for this country', remedy: null },
  blocked: {
    name: 'Excluded by a list',
    remedy: 'Check your lists of merchants in the settings.',
  },
  exclusive: {
    name: 'Link is locked to one merchant',
    remedy: 'Unlock the link, so that other merchants can win it.',
  },
  confidence: {
    name: 'Not certainly the same product',
    remedy: 'Link to the exact product page of a merchant of the network.',
  },
  price: {
    name: 'Too expensive for the reader',
    remedy: 'Raise the maximum price increase in your settings: try it with What-if first.',
  },
  paced: { name: 'Budget spread over the day', remedy: null },
  unfunded: { name: 'Budget used up', remedy: null },
  below_floor: {
    name: 'Below your lowest price',
    remedy: 'Lower your floor in the settings: try it with What-if first.',
  },
  outbid: { name: 'Outbid', remedy: null },
  no_candidates: {
    name: 'Nobody sells this here',
    remedy: 'Search under Products for a similar product that merchants of the network sell.',
  },
} satisfies Record<LossWord, Words>

export const reasonName = (word: string, name: string): string => WORDS[word]?.name ?? name

export const remedy = (word: string): string | null => WORDS[word]?.remedy ?? null
