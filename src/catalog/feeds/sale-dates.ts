/**
 * Reads when a sale price applies, from one column (a range) or two (start and end).
 *
 * An ambiguous or invalid date makes the sale unreadable: readers would see a wrong price. A time
 * without a zone is UTC, and a day without a time is the whole day.
 */
import { DAY_MS } from '../../platform/time/timestamp.ts'
import { withoutEmptyWord } from './empty-words.ts'

export interface SaleDates {
  /** A range in one column; empty where there is none. */
  readonly range: string
  readonly start: string
  readonly end: string
}

export type SaleState = 'running' | 'over' | 'not_begun' | 'unreadable'

/** Whether the sale applies at a time; one without any date does. */
export function saleState({ range, start, end }: SaleDates, atMs: number): SaleState {
  const pairs: (readonly [string, string])[] = [[dateText(start), dateText(end)]]
  if (dateText(range) !== '') {
    const split = splitRange(range.trim())
    if (split === null) return 'unreadable'
    pairs.push(split)
  }
  const states = pairs.map((pair) => stateOf(pair, atMs))
  return (
    states.find((state) => state === 'unreadable') ??
    states.find((state) => state !== 'running') ??
    'running'
  )
}

function stateOf([from, to]: readonly [string, string], atMs: number): SaleState {
  const begins = from === '' ? null : readMoment(from)
  const ends = to === '' ? null : readMoment(to)
  if (begins === undefined || ends === undefined) return 'unreadable'
  const beginsMs = begins?.atMs ?? Number.NEGATIVE_INFINITY
  // A sale that ends on a day without a time of it lasts until that day is over.
  const endsMs = ends === null ? Number.POSITIVE_INFINITY : ends.atMs + (ends.isDay ? DAY_MS : 0)
  if (endsMs < beginsMs) return 'unreadable'
  if (atMs < beginsMs) return 'not_begun'
  return atMs < endsMs ? 'running' : 'over'
}

const NO_DATE = /^0000-00-00(?:[T ]00:00(?::00)?)?$/

function dateText(written: string): string {
  const text = withoutEmptyWord(written).trim()
  return NO_DATE.test(text) || text === '0' ? '' : text
}

/** The longest two dates. */
const LENGTH_MAX = 120
/** Separators of two dates, best first. */
const BETWEEN = [
  / (?:-|to|bis|until|till|through|au|al|hasta|do|t\/m|до) /,
  / *(?:–|—|~|\.\.\.?|;|\||=>|->) */,
  /, */,
]

/** The two ends of a range; null when there are not two. */
function splitRange(text: string): readonly [string, string] | null {
  if (text.length > LENGTH_MAX) return null
  const parts = text.split('/')
  // Two slashes or more may be in the dates themselves.
  const ways = [parts, ...BETWEEN.map((between) => text.split(between))]
  const halves = ways.find((way) => way.length === 2) ?? []
  const [from, to] = halves.map((half) => dateText(half))
  return from === undefined || to === undefined ? null : [from, to]
}

interface Moment {
  readonly atMs: number
  /** True for a day without a time. */
  readonly isDay: boolean
}

const TIME = String.raw`(?:[T ,]\s*(?<time>\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s*(?<half>[AP]M)?\s*(?<zone>.*))?`
const YEAR_FIRST = new RegExp(
  String.raw`^(?<y>\d{4})([-/.])(?<m>\d{1,2})\2(?<d>\d{1,2})${TIME}$`,
  'i',
)
const COMPACT = new RegExp(String.raw`^(?<y>\d{4})(?<m>\d{2})(?<d>\d{2})${TIME}$`, 'i')
const YEAR_LAST = new RegExp(
  String.raw`^(?<a>\d{1,2})(?<sign>[-/.])(?<b>\d{1,2})\k<sign>(?<y>\d{4})${TIME}$`,
  'i',
)
const IN_WORDS = /^(?=.*[a-z]{3})(?=.*\b\d{4}\b)[a-z0-9 ,.:+()-]{8,60}$/i
const EPOCH = /^(?:\d{10}|\d{13})$/

/** Undefined: invalid or ambiguous. */
function readMoment(written: string): Moment | undefined {
  const text = written.replace(/\s*\([^()]*\)$/, '').trim() // `(CEST)` behind an offset
  if (text.length > LENGTH_MAX) return undefined
  if (EPOCH.test(text))
    return { atMs: Number(text) * (text.length === 10 ? 1000 : 1), isDay: false }
  const parts = (YEAR_FIRST.exec(text) ?? COMPACT.exec(text) ?? YEAR_LAST.exec(text))?.groups
  if (parts === undefined) return IN_WORDS.test(text) ? inWords(text) : undefined
  const day = parts.a === undefined ? [parts.m, parts.d] : dayAndMonth(parts)
  if (day === null) return undefined
  const [month = '', date = ''] = day
  const dayMs = Date.parse(
    `${parts.y}-${month.padStart(2, '0')}-${date.padStart(2, '0')}T00:00:00Z`,
  )
  // A 31st of February would be read as a day in March.
  if (Number.isNaN(dayMs) || new Date(dayMs).getUTCDate() !== Number(date)) return undefined
  if (parts.time === undefined) return { atMs: dayMs, isDay: true }
  const timeMs = timeOfDay(parts.time, parts.half)
  const offsetMs = readZone(parts.zone ?? '')
  if (timeMs === undefined || offsetMs === undefined) return undefined
  return { atMs: dayMs + timeMs - offsetMs, isDay: false }
}

/** With dots the day comes first; with slashes and hyphens only a number above 12 decides. */
function dayAndMonth({ a = '', b = '', sign }: Record<string, string | undefined>) {
  if (sign === '.' || Number(a) > 12 || a === b) return [b, a]
  return Number(b) > 12 ? [a, b] : null
}

function timeOfDay(text: string, half: string | undefined): number | undefined {
  const [hours = 0, minutes = 0, seconds = 0] = text.replace(',', '.').split(':').map(Number)
  const isLate = half?.toUpperCase() === 'PM'
  const hour = half === undefined ? hours : (hours % 12) + (isLate ? 12 : 0)
  if (hour > 24 || minutes > 59 || seconds > 60) return undefined
  return ((hour * 60 + minutes) * 60 + seconds) * 1000
}

const ZONES: Readonly<Record<string, number>> = {
  ...{ Z: 0, UTC: 0, GMT: 0, WET: 0, WEST: 1, CET: 1, CEST: 2, EET: 2, EEST: 3, MSK: 3, IST: 5.5 },
  ...{ JST: 9, EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7, BST: 1 },
}
const OFFSET = /^(?:UTC|GMT)?\s*([+-])(\d{1,2}):?(\d{2})?$/i

function readZone(written: string): number | undefined {
  const text = written.trim().toUpperCase()
  if (text === '') return 0
  const hours = ZONES[text]
  if (hours !== undefined) return hours * 3_600_000
  const [, sign, whole = '', minutes = '0'] = OFFSET.exec(text) ?? []
  if (sign === undefined || Number(whole) > 14) return undefined
  return (sign === '-' ? -1 : 1) * (Number(whole) * 60 + Number(minutes)) * 60_000
}

/** `Jun 1, 2026 10:00`, `1 June 2026`, `Mon, 01 Jun 2026 00:00:00 +0200`. */
function inWords(text: string): Moment | undefined {
  const hasTime = text.includes(':')
  const hasZone = /(?:\b(?:Z|UTC|GMT|[ECMP][SD]T)|\d{2}.*[+-]\d{2}:?\d{2})$/i.test(text) && hasTime
  const atMs = Date.parse(hasZone ? text : `${text} UTC`)
  return Number.isNaN(atMs) ? undefined : { atMs, isDay: !hasTime }
}
