/**
 * A breakdown of a publisher's figures: which rows are asked for, and which stored totals answer
 * fastest. Pure.
 */
import { SPAN_DAYS, spanBegin } from '../fold/figure-spans.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'

export const PROPERTIES = [
  'article',
  'link',
  'merchant',
  'product',
  'device',
  'country',
  'u1',
] as const
export type Property = (typeof PROPERTIES)[number]
export const GROUPS = ['day', 'hour', ...PROPERTIES] as const
export type Group = (typeof GROUPS)[number]
export const COMPARISONS = ['previous', 'year'] as const
export type Comparison = (typeof COMPARISONS)[number]

/** The values of properties, as stored: `{ device: '2' }`. */
export type Filters = Partial<Record<Property, string>>

export interface Breakdown {
  readonly pubId: number
  readonly group: Group
  readonly filters: Filters
  readonly timeZone: string
}

/** A period: from midnight to midnight in the time zone, the end excluded. */
export interface Period {
  readonly from: Date
  readonly to: Date
}

/**
 * The totals that can answer: `slot` by time only, `spans` by one property over the whole period,
 * `rows` by article and merchant, `property` by one other property and UTC day, `all` by
 * everything. All but the last have whole UTC days or slots only.
 */
export type Source = 'slot' | 'spans' | 'rows' | 'property' | 'all'

export function sourceOf({ group, filters, timeZone }: Breakdown): Source {
  const used = usedProperties(group, filters)
  if (used.length === 0) return 'slot'
  // Days of other zones, and hours, are parts of UTC days.
  if (group === 'hour' || (group === 'day' && timeZone !== 'UTC')) return 'all'
  if (used.length === 1 && group !== 'day') return 'spans'
  if (used.every(isOfRow)) return 'rows'
  return used.length === 1 ? 'property' : 'all'
}

/** Whether the daily totals of a property are those of the statistics' rows. */
export function isOfRow(property: Property): boolean {
  return property === 'article' || property === 'merchant'
}

function usedProperties(group: Group, filters: Filters): Property[] {
  const filtered = PROPERTIES.filter((name) => filters[name] !== undefined)
  const grouped = PROPERTIES.filter((name) => name === group)
  return [...new Set([...grouped, ...filtered])]
}

/** The property of a breakdown that uses exactly one. */
export function onlyProperty({ group, filters }: Breakdown): Property {
  const [property] = usedProperties(group, filters)
  if (property === undefined) throw new Error('the breakdown uses no property')
  return property
}

/**
 * Page views belong to articles: there are none of a link, a merchant or a device, and adding up
 * those of each would count one view several times.
 */
export function hasPageViews({ group, filters }: Breakdown): boolean {
  return usedProperties(group, filters).every((name) => name === 'article')
}

/** The part of a period that whole UTC days cover, and what is left at its ends. */
export function splitAtDays({ from, to }: Period): {
  readonly days: Period | null
  readonly rests: readonly Period[]
} {
  const first = new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS)
  const last = new Date(Math.floor(to.getTime() / DAY_MS) * DAY_MS)
  if (first >= last) return { days: null, rests: [{ from, to }] }
  const rests = [
    { from, to: first },
    { from: last, to },
  ].filter((rest) => rest.from < rest.to)
  return { days: { from: first, to: last }, rests }
}

/** Whole UTC days in spans of one width. */
export interface Spans extends Period {
  readonly days: number
}

/**
 * The fewest spans that cover whole UTC days, in the order of time: at most six single days and
 * three spans of seven at each end.
 */
export function splitIntoSpans({ from, to }: Period): Spans[] {
  const split = (fromMs: number, toMs: number, widths: readonly number[]): Spans[] => {
    const [days, ...narrower] = widths
    if (fromMs >= toMs) return []
    if (days === undefined) return [{ days: 1, from: new Date(fromMs), to: new Date(toMs) }]
    const first = spanBegin(fromMs + (days - 1) * DAY_MS, days)
    const last = spanBegin(toMs, days)
    if (first >= last) return split(fromMs, toMs, narrower)
    return [
      ...split(fromMs, first, narrower),
      { days, from: new Date(first), to: new Date(last) },
      ...split(last, toMs, narrower),
    ]
  }
  return split(from.getTime(), to.getTime(), SPAN_DAYS)
}

/** The days that a range is compared with, and how many days or years later each row is. */
export function comparedDays(
  { dayFrom, dayTo }: { readonly dayFrom: string; readonly dayTo: string },
  comparison: Comparison,
): { readonly dayFrom: string; readonly dayTo: string; readonly shift: string } {
  if (comparison === 'year') {
    const [from, to] = [yearBefore(dayFrom), yearBefore(dayTo)]
    return { dayFrom: from, dayTo: to, shift: '1 year' }
  }
  const days = (Date.parse(dayTo) - Date.parse(dayFrom)) / DAY_MS + 1
  const before = (day: string) =>
    new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10)
  return { dayFrom: before(dayFrom), dayTo: before(dayTo), shift: `${days} days` }
}

/** 29 February becomes the 28th. */
function yearBefore(day: string): string {
  const [year = '', ...rest] = day.split('-')
  const monthDay = rest.join('-')
  return `${String(Number(year) - 1).padStart(4, '0')}-${monthDay === '02-29' ? '02-28' : monthDay}`
}
