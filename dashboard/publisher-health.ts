/** Facts for a publisher's morning: best and lost links, missed money, late payments, set-up. */
import type { Payments } from './api.ts'
import { all, first, LONGEST } from './api.ts'
import { shortUrl } from './format.ts'
import { PATHS } from './paths.ts'
import type { Link } from './publisher-api.ts'

/** A link with its health and its figures of the last 30 days, those with money at risk first. */
export type LinkHealth = Pick<
  Link,
  | 'auction_id'
  | 'health'
  | 'money_at_risk'
  | 'clicks'
  | 'earnings'
  | 'earnings_by_day'
  | 'product'
  | 'url'
  | 'article_name'
>

/** The product of a link, or its URL while no feed has it. */
export function linkName({ product, url, article_name }: LinkHealth): string {
  return product?.name ?? (url === '' ? article_name : shortUrl(url))
}

const BEST_MAX = 3

/** Yesterday, in UTC. */
export const earnedYesterday = ({ earnings_by_day: days }: LinkHealth): number =>
  Number(days.at(-2) ?? 0)

/** The links that earned most yesterday, the best first. */
export const bestLinks = (links: readonly LinkHealth[]): readonly LinkHealth[] =>
  links
    .filter((link) => earnedYesterday(link) > 0)
    .toSorted((one, other) => earnedYesterday(other) - earnedYesterday(one))
    .slice(0, BEST_MAX)

interface TagStatus {
  readonly datetime_last_page_view: string | null
}

export const health = {
  links: (pubId: number) => all<LinkHealth>(`/api/v1/publishers/${pubId}/links/?${LONGEST}`),
  tag: (pubId: number) => first<TagStatus>(`/api/v1/publishers/${pubId}/tag_status/`),
}

export interface SetUpStep {
  readonly name: string
  /** The page for it; the last steps are for readers. */
  readonly to?: typeof PATHS.tag | typeof PATHS.links
  readonly isDone: boolean
}

/** The steps to the first earning, in their order. */
export function setUpSteps(tag: TagStatus, links: readonly LinkHealth[]): readonly SetUpStep[] {
  return [
    {
      name: 'Put the page tag into your pages',
      to: PATHS.tag,
      isDone: tag.datetime_last_page_view !== null,
    },
    { name: 'Create the first smart link', to: PATHS.links, isDone: links.length > 0 },
    { name: 'Get the first click', isDone: links.some(({ clicks }) => clicks > 0) },
    { name: 'Earn the first cent', isDone: links.some(({ earnings }) => Number(earnings) > 0) },
  ]
}

/** The links that stopped earning, and what they earned a day before. */
export function lostLinks(links: readonly LinkHealth[]): { count: number; perDay: number } {
  const lost = links.filter(({ money_at_risk: risk }) => Number(risk) > 0)
  const perDay = lost.reduce((sum, { money_at_risk: risk }) => sum + Number(risk), 0)
  return { count: lost.length, perDay }
}

/** Merchants usually pay within a month. */
const LATE_DAYS = 30
const DAY_MS = 86_400_000

/** What merchants have owed for too long. */
export function latePayments({ merchants }: Payments, nowMs: number) {
  const late = merchants.filter(
    ({ due_since: since, due_usd: due }) =>
      since !== null && Number(due) > 0 && nowMs - Date.parse(since) > LATE_DAYS * DAY_MS,
  )
  return { count: late.length, usd: late.reduce((sum, { due_usd: due }) => sum + Number(due), 0) }
}
