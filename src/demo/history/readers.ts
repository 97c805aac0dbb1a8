/** The readers of the generated history: where they come from, when, and with which browser. */
import { DAY_MS, HOUR_MS } from '../../platform/time/timestamp.ts'
import { choose, hexDigits, type Random } from './random.ts'

export interface Reader {
  /** Names the browser, which may return. */
  readonly key: string
  readonly agent: string
  readonly address: string
  readonly country: string
  /** Sends Global Privacy Control, so the service sets no cookie. */
  readonly isPrivate: boolean
}

const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0'
const AGENTS: readonly (readonly [string, number])[] = [
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36`, 17],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${CHROME} Safari/537.36`, 9],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/143.0.0.0`, 6],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0', 4],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15',
    7,
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1',
    31,
  ],
  [`Mozilla/5.0 (Linux; Android 10; K) ${CHROME} Mobile Safari/537.36`, 21],
  [
    'Mozilla/5.0 (iPad; CPU OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/604.1',
    5,
  ],
]

const COUNTRIES: readonly (readonly [string, number])[] = [
  ['US', 54],
  ['GB', 13],
  ['CA', 9],
  ['AU', 6],
  ['DE', 5],
  ['IE', 3],
  ['NL', 3],
  ['NZ', 2],
  ['SE', 2],
  ['FR', 2],
  ['JP', 1],
]

/** One in seventeen browsers sends it. */
const PRIVATE_SHARE = 0.06

/** Declared robots that follow links. */
export const ROBOTS: readonly (readonly [string, number])[] = [
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 5],
  ['Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)', 3],
  ['Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)', 2],
]

export function newReader(random: Random): Reader {
  return {
    key: hexDigits(random, 16),
    agent: choose(random, AGENTS),
    address: publicAddress(random),
    country: choose(random, COUNTRIES),
    isPrivate: random() < PRIVATE_SHARE,
  }
}

/** In 44.0.0.0/8 to 59.0.0.0/8: public, so the rules on addresses apply. Only hashes are stored. */
export function publicAddress(random: Random): string {
  const part = (from: number, count: number) => from + Math.floor(random() * count)
  return `${part(44, 16)}.${part(1, 254)}.${part(1, 254)}.${part(1, 254)}`
}

/** Readers by UTC hour: few at night in America, most in its evening. */
const HOURS = [8, 8, 7, 6, 4, 3, 2, 2, 3, 3, 4, 5, 7, 8, 8, 8, 8, 8, 8, 9, 10, 11, 11, 10] as const
/** By weekday from Sunday on: people read about kitchens on Sundays, about tours before Fridays. */
const WEEKDAYS: Readonly<Record<string, readonly number[]>> = {
  hearthside: [1.35, 0.95, 0.85, 0.85, 0.9, 0.9, 1.2],
  'trail-ledger': [0.95, 0.9, 0.95, 1.1, 1.25, 1.1, 0.75],
}

export function weekdayFactor(publisher: string, dayMs: number): number {
  return WEEKDAYS[publisher]?.[new Date(dayMs).getUTCDay()] ?? 1
}

/** A time of this UTC day. */
export function timeOfDay(random: Random, dayMs: number): number {
  const hour = choose(
    random,
    HOURS.map((weight, index) => [index, weight] as const),
  )
  return Math.min(dayMs + hour * HOUR_MS + Math.floor(random() * HOUR_MS), dayMs + DAY_MS - 1)
}
