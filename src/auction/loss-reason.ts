/**
 * The words of loss codes: one for machines, OpenRTB's name where it has one, and a sentence each
 * for the publisher and the merchant.
 */
import { snakeCase } from '../platform/text/snake-case.ts'
import { LOSS, type LossName, lossName } from './loss-code.ts'

export interface LossReason {
  readonly code: number
  readonly word: string // Stable, for JSON, metrics and reports.
  readonly name: string
  readonly publisher: string
  readonly merchant: string
}

const REASONS: Readonly<Record<LossName, Omit<LossReason, 'code' | 'word'>>> = {
  none: {
    name: 'Won',
    publisher: 'The merchant won the auction.',
    merchant: 'Your campaign won the auction.',
  },
  inactive: {
    name: 'Campaign Inactive',
    publisher: 'The merchant has paused its campaign.',
    merchant: 'Your campaign is paused: resume it to compete.',
  },
  outOfFlight: {
    name: 'Campaign Out of Flight',
    publisher: "The merchant's campaign has not started yet, or is over.",
    merchant: 'Your campaign has not started yet, or is over: change its start or end.',
  },
  outOfStock: {
    name: 'Product Out of Stock',
    publisher: 'The merchant has the product out of stock.',
    merchant: 'Your feed says that the product is out of stock.',
  },
  staleFeed: {
    name: 'Feed Too Old',
    publisher: "The merchant's feed is older than 24 hours: its price and stock may be wrong.",
    merchant: 'Your feed is older than 24 hours: import it again.',
  },
  device: {
    name: 'Device Not Targeted',
    publisher: "The merchant's campaign does not run on the reader's device.",
    merchant: "Your campaign's device list leaves out the reader's device.",
  },
  country: {
    name: 'Country Not Targeted',
    publisher: "The merchant's campaign does not run in the reader's country.",
    merchant: "Your campaign's country list leaves out the reader's country, or it is unknown.",
  },
  blocked: {
    name: 'Buyer Seat Blocked',
    publisher: 'Your lists leave the merchant out, or its campaign leaves you out.',
    merchant: "The publisher's lists leave you out, or your campaign leaves the publisher out.",
  },
  exclusive: {
    name: 'Link Is Exclusive',
    publisher: 'The link is locked to its original merchant.',
    merchant: 'The publisher locked the link to another merchant.',
  },
  confidence: {
    name: 'Match Not Certain',
    publisher: "It is less than 95 % certain that the offer is the link's product.",
    merchant: 'It is less than 95 % certain that your offer is the product: give its GTIN.',
  },
  price: {
    name: 'Price Not Acceptable',
    publisher:
      'The offer is more expensive than your tolerance allows, or you require a price it lacks.',
    merchant: 'Your price is above what the publisher accepts for this product, or is not known.',
  },
  paced: {
    name: 'Budget Paced',
    publisher: "The merchant's budget is spread over the day, which kept it out of this auction.",
    merchant: 'Your budget is spread over the day: a larger one would lower your bid less.',
  },
  unfunded: {
    name: 'Budget Exhausted',
    publisher: "The merchant's budget cannot fund another click at the moment.",
    merchant: 'Your budget cannot fund another click at the moment: raise it.',
  },
  belowFloor: {
    name: 'Bid was Below Auction Floor',
    publisher: 'The merchant offers less for a click than the floor.',
    merchant: "A click is worth less to your campaign than the auction's floor.",
  },
  outbid: {
    name: 'Lost to Higher Bid',
    publisher: 'Another offer had the higher score: value times quality times reader benefit.',
    merchant: 'Another offer had the higher score: raise the bid, lower the price, land faster.',
  },
  noCandidates: {
    name: 'No Candidates',
    publisher: 'No merchant with a campaign sells what the link leads to.',
    merchant: 'No merchant with a campaign sells what the link leads to.',
  },
}

const ALL = Object.values(LOSS).map(lossReason)

/** For the API reference: the complete list of words. */
export const WORDS_DESCRIPTION = `Of its code, in the order of the checks: ${ALL.filter(
  ({ code }) => code !== LOSS.none,
)
  .map(({ code, word }) => `${code} ${word}`)
  .join(', ')}`

/** The reason with a machine's word; undefined for one that this version does not know. */
export function lossReasonOf(word: string): LossReason | undefined {
  return ALL.find((reason) => reason.word === word)
}

/** The reason with a code; throws RangeError for an unknown number. */
export function lossReason(code: number): LossReason {
  const name = lossName(code)
  return { code, word: snakeCase(name), ...REASONS[name] }
}
