/**
 * What the readers of the demo's magazines do: page views, clicks, and purchases after them.
 *
 * Pure: the same seed and time give the same visits. Which merchant wins a click, and what it pays,
 * is not decided here: the auction of the running service decides that.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/time/timestamp.ts'
import { ARTICLES, type DemoArticle } from '../network.ts'
import { choose, exponential, type Random, rounded, uuid } from './random.ts'
import {
  newReader,
  publicAddress,
  type Reader,
  ROBOTS,
  timeOfDay,
  weekdayFactor,
} from './readers.ts'

export const HISTORY_DAYS = 60

export interface PlannedView {
  readonly kind: 'view'
  readonly atMs: number
  readonly session: string // UUID
  readonly reader: Reader
  readonly article: DemoArticle
  /** How many of the article's links came into view. */
  readonly seenLinks: number
  readonly referrer: string
}

/** `repeat`: the same auction result again; `forged`: with another destination. */
export type ClickManner = 'plain' | 'repeat' | 'prefetch' | 'framed' | 'forged' | 'direct'

export interface PlannedClick {
  readonly kind: 'click'
  readonly atMs: number
  readonly session: string // of its view; empty for a click without one
  readonly reader: Reader
  readonly article: DemoArticle
  readonly pick: number // The index of the link in the article.
  readonly manner: ClickManner
  readonly u1: string | null
  readonly purchase: PlannedPurchase | null
}

export type PurchaseFate = 'kept' | 'cancelled' | 'returned' | 'rejected'

export interface PlannedPurchase {
  readonly afterMs: number
  readonly quantity: number
  readonly fate: PurchaseFate
  readonly fateAfterMs: number
}

export type PlannedMoment = PlannedView | PlannedClick

/** Views a day of each article at the end of the history; the magazines have grown since. */
const VIEWS: Readonly<Record<string, number>> = {
  'pour-over-kettles': 120,
  'one-good-knife': 80,
  'hand-grinders': 40,
  'one-night-out': 105,
}
const GROWTH_FROM = 0.25 // of the last day's views, on the first day
/** A well-known newsletter named this article. */
const RUSH = { article: 'one-night-out', daysAgo: 16, factor: 2.6 }

const REFERRERS: readonly (readonly [string, number])[] = [
  ['https://www.google.com/', 52],
  ['', 22],
  ['https://www.bing.com/', 5],
  ['https://duckduckgo.com/', 5],
  ['https://www.reddit.com/', 7],
  ['https://news.slow-mornings.example/', 9],
]
const LABELS: readonly (readonly [string | null, number])[] = [
  ['verdict', 36],
  ['body', 24],
  ['comparison-table', 17],
  ['newsletter', 8],
  [null, 15],
]

/** Of the readers who see a link, by its place in the article. */
const CLICK_SHARES = [0.36, 0.29, 0.24, 0.2, 0.18] as const
const MANNERS: readonly (readonly [ClickManner, number])[] = [
  ['plain', 955],
  ['repeat', 20],
  ['prefetch', 13],
  ['framed', 5],
  ['forged', 3],
]
/** Of the readers who see a link, this share scrolls to the next one. */
const SEEN_NEXT_SHARE = 0.52
const RETURNING_SHARE = 0.12
const PURCHASE_SHARE = 0.036
const FATES: readonly (readonly [PurchaseFate, number])[] = [
  ['kept', 83],
  ['returned', 9],
  ['cancelled', 5],
  ['rejected', 3],
]
const RECENT_READERS = 200

export interface Day {
  readonly dayMs: number
  readonly daysAgo: number
  /** Of the usual number of visits. */
  readonly traffic: number
}

/** The moments of one day, in order; `daysAgo` is 0 for the day that is not over. */
export function planDay(random: Random, day: Day, recent: Reader[]): PlannedMoment[] {
  const moments: PlannedMoment[] = []
  for (const article of ARTICLES) {
    const views = rounded(random, viewsOf(article, day) * (0.88 + 0.24 * random()))
    for (let view = 0; view < views; view++) {
      const isKnown = recent.length > 0 && random() < RETURNING_SHARE
      const known = isKnown ? recent[Math.floor(random() * recent.length)] : undefined
      const reader = known ?? newReader(random)
      if (known === undefined) recent.push(reader)
      moments.push(...visit(random, { reader, article, atMs: timeOfDay(random, day.dayMs) }))
    }
    moments.push(...robotClicks(random, article, { ...day, views }))
  }
  moments.push(...scannerClicks(random, day))
  recent.splice(0, Math.max(0, recent.length - RECENT_READERS))
  return moments.toSorted((one, other) => one.atMs - other.atMs)
}

function viewsOf({ slug, publisher }: DemoArticle, { dayMs, daysAgo, traffic }: Day): number {
  const growth = GROWTH_FROM + ((1 - GROWTH_FROM) * (HISTORY_DAYS - daysAgo)) / HISTORY_DAYS
  const isRush = slug === RUSH.article && daysAgo === RUSH.daysAgo
  const rush = isRush ? RUSH.factor : 1
  return (VIEWS[slug] ?? 0) * traffic * growth * weekdayFactor(publisher, dayMs) * rush
}

interface Visit {
  readonly reader: Reader
  readonly article: DemoArticle
  readonly atMs: number
}

function visit(random: Random, { reader, article, atMs }: Visit): PlannedMoment[] {
  const session = uuid(random)
  const seenLinks = seenOf(random, article)
  const referrer = choose(random, REFERRERS)
  const moments: PlannedMoment[] = [
    { kind: 'view', atMs, session, reader, article, seenLinks, referrer },
  ]
  for (let pick = 0; pick < seenLinks; pick++) {
    if (random() >= (CLICK_SHARES[pick] ?? 0)) continue
    moments.push(...clicksOn(random, { session, reader, article, atMs }, pick))
  }
  return moments
}

function seenOf(random: Random, { picks }: DemoArticle): number {
  let seen = 1
  while (seen < picks.length && random() < SEEN_NEXT_SHARE) seen += 1
  return seen
}

function clicksOn(
  random: Random,
  visited: Visit & { readonly session: string },
  pick: number,
): PlannedClick[] {
  const { session, reader, article } = visited
  const manner = choose(random, MANNERS)
  const isHasty = random() < 0.007 // under the 300 ms that a person needs
  const readMs = (8 + 25 * pick) * 1_000 + exponential(random, 40_000)
  const atMs = Math.floor(visited.atMs + (isHasty ? 90 : readMs))
  const label = choose(random, LABELS)
  const isBuying = manner === 'plain' || manner === 'repeat'
  const purchase = isBuying && random() < PURCHASE_SHARE ? planPurchase(random) : null
  const shared = { kind: 'click', session, reader, article, pick, u1: label } as const
  const click: PlannedClick = { ...shared, atMs, manner, purchase }
  if (manner !== 'repeat') return [click]
  const first: PlannedClick = { ...shared, atMs, manner: 'plain', purchase }
  return [first, { ...click, atMs: atMs + 420, purchase: null }]
}

function planPurchase(random: Random): PlannedPurchase {
  const isLater = random() < 0.3
  const afterMs = isLater
    ? 6 * HOUR_MS + exponential(random, 3 * DAY_MS)
    : 4 * MINUTE_MS + exponential(random, 50 * MINUTE_MS)
  const fate = choose(random, FATES)
  const fateDays = fate === 'returned' ? 5 + 9 * random() : 1 + 3 * random()
  return {
    afterMs: Math.floor(afterMs),
    quantity: choose(random, [
      [1, 88],
      [2, 9],
      [3, 3],
    ]),
    fate,
    fateAfterMs: Math.floor(fateDays * DAY_MS),
  }
}

/** Crawlers follow smart links without the page's script. */
function robotClicks(
  random: Random,
  article: DemoArticle,
  { dayMs, views }: { readonly dayMs: number; readonly views: number },
): PlannedClick[] {
  return Array.from({ length: rounded(random, views * 0.009) }, () => {
    const robot = { ...newReader(random), agent: choose(random, ROBOTS), country: 'US' }
    return directClick(random, { reader: robot, article, atMs: timeOfDay(random, dayMs) })
  })
}

function directClick(random: Random, { reader, article, atMs }: Visit): PlannedClick {
  return {
    ...{ kind: 'click', atMs, session: '', reader, article, manner: 'direct' },
    ...{ pick: Math.floor(random() * article.picks.length), u1: null, purchase: null },
  }
}

/** A mail gateway opens every link of a newsletter at once, every few days. */
function scannerClicks(
  random: Random,
  { dayMs, daysAgo }: { readonly dayMs: number; readonly daysAgo: number },
): PlannedClick[] {
  const article = ARTICLES[daysAgo % ARTICLES.length]
  if (article === undefined || random() > 0.35) return []
  const reader = { ...newReader(random), address: publicAddress(random), isPrivate: true }
  const atMs = timeOfDay(random, dayMs)
  return Array.from({ length: 6 }, (_, index) =>
    directClick(random, { reader, article, atMs: atMs + index * 300 }),
  )
}
