/**
 * Reads dates as networks and spreadsheets write them (docs/spec/networks.md#dates).
 *
 * `04/11/2026` may be in April or in November. One row alone cannot decide, but the whole file can:
 * a row with `13/11/2026` proves that the day comes first.
 */
import { badRequest } from '../platform/errors/api-errors.ts'
import { dayOf, parseTimestamp, utcDay } from '../platform/time/timestamp.ts'

export const DATE_ORDERS = ['dmy', 'mdy', 'ymd'] as const
export type DateOrder = (typeof DATE_ORDERS)[number]

export interface ReportCell {
  readonly line: number
  readonly text: string
}

/** A day, and the instant where the text names a time of day. */
export interface ReportDate {
  readonly day: string
  /** `2026-11-03T17:04:00Z`, or the day alone; a time without a zone is read as UTC. */
  readonly at: string
}

const NUMERIC = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})$/
const YEAR_FIRST = /^\d{4}[./-]/

/**
 * Decides the order of day and month for all dates of a file. Throws a 400 that names two lines
 * when they contradict each other. `hasDecimalComma` decides a file without proof, because regions
 * that write 1,50 put the day first.
 */
export function decideDateOrder(
  cells: readonly ReportCell[],
  { named, hasDecimalComma }: { named?: DateOrder | undefined; hasDecimalComma: boolean },
): DateOrder {
  if (named !== undefined) return named
  const proofs = new Map<DateOrder, ReportCell>()
  let areDotted = false
  for (const cell of cells) {
    const [date = ''] = splitTime(cell.text) ?? []
    if (YEAR_FIRST.test(date)) continue
    const [, first = '', separator, second = ''] = NUMERIC.exec(date) ?? []
    areDotted ||= separator === '.'
    const order = provenOrder(Number(first), Number(second))
    if (order !== null && !proofs.has(order)) proofs.set(order, cell)
  }
  const [one, other] = [...proofs.values()]
  if (one !== undefined && other !== undefined) {
    const rule =
      `line ${one.line} has ${JSON.stringify(one.text)} and line ${other.line} has ` +
      `${JSON.stringify(other.text)}: day and month are not in one order; ` +
      'fix the file, or name date_order in the map'
    throw badRequest([{ field: 'date', rule }])
  }
  const [proven] = proofs.keys()
  return proven ?? (areDotted || hasDecimalComma ? 'dmy' : 'mdy')
}

function provenOrder(first: number, second: number): DateOrder | null {
  if (first > 31) return 'ymd'
  if (first > 12 && second <= 12) return 'dmy'
  return second > 12 && second <= 31 && first <= 12 ? 'mdy' : null
}

/** Reads a date with or without a time; null if it names no existing day. */
export function readReportDate(text: string, order: DateOrder): ReportDate | null {
  const parts = splitTime(text)
  if (parts === null) return null
  const [dateText, time, zone] = parts
  const day = readDay(dateText, order)
  if (day === null || time === null) return day === null ? null : { day, at: day }
  const at = parseTimestamp(`${day}T${time}${zone ?? 'Z'}`)
  if (at === null) return null
  return { day: utcDay(at), at: `${at.toISOString().slice(0, 19)}Z` }
}

const CLOCK =
  /(?<=\d|\p{L}|\.)(?:T|,? +(?:at +)?|: ?)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)? ?([ap]\.?m\.?)?/iu
const ZONE =
  /^(?:z|utc|gmt|[+-]\d{2}:?\d{2}|[+-]\d{2}|(?:utc|gmt) ?[+-]\d{1,2}(?::?\d{2})?|\p{L}{2,5})$/iu

/** Offsets of the zone names that reports use; daylight saving is in the name. */
const ZONES: Readonly<Record<string, string>> = {
  ...{ z: 'Z', utc: 'Z', gmt: 'Z', wet: 'Z', west: '+01:00', bst: '+01:00' },
  ...{ cet: '+01:00', mez: '+01:00', cest: '+02:00', mesz: '+02:00' },
  ...{ eet: '+02:00', eest: '+03:00', msk: '+03:00', jst: '+09:00', kst: '+09:00' },
  ...{ aest: '+10:00', aedt: '+11:00', nzst: '+12:00', nzdt: '+13:00' },
  ...{ est: '-05:00', edt: '-04:00', cst: '-06:00', cdt: '-05:00' },
  ...{ mst: '-07:00', mdt: '-06:00', pst: '-08:00', pdt: '-07:00' },
}

/** The date, `HH:MM:SS` and the zone's offset of a text; null when it has something else too. */
function splitTime(
  written: string,
): readonly [date: string, time: string | null, zone: string | null] | null {
  const text = written.replace(/[\u00a0\u202f]/g, ' ').trim()
  const clock = CLOCK.exec(text)
  if (clock === null) return [text, null, null]
  const [whole, hours = '', minutes = '', seconds = '00', half] = clock
  const hour = readHour(Number(hours), half)
  const rest = text
    .slice(clock.index + whole.length)
    .replace(/(?<=.)\(.*\)$/, '')
    .trim()
  const zone = rest === '' ? null : readZone(rest)
  if (hour === null || zone === undefined) return null
  const time = `${String(hour).padStart(2, '0')}:${minutes}:${seconds}`
  return [text.slice(0, clock.index), time, zone]
}

function readHour(hours: number, half: string | undefined): number | null {
  if (half === undefined) return hours
  if (hours < 1 || hours > 12) return null
  return (hours % 12) + (half.toLowerCase().startsWith('p') ? 12 : 0)
}

/** An offset for parseTimestamp; undefined when the text names no zone that is known here. */
function readZone(text: string): string | undefined {
  if (!ZONE.test(text)) return undefined
  const [, sign, hours = '', minutes = '00'] =
    /^(?:utc|gmt)? ?([+-])(\d{1,2}):?(\d{2})?$/i.exec(text) ?? []
  if (sign !== undefined) return `${sign}${hours.padStart(2, '0')}:${minutes}`
  return ZONES[text.toLowerCase()]
}

function readDay(text: string, order: DateOrder): string | null {
  const numeric = NUMERIC.exec(text) ?? CJK_DATE.exec(text)
  if (numeric !== null) {
    const [, first = '', , second = '', third = ''] = numeric
    if (first.length > 2) return isoDay(first, second, third)
    if (order === 'ymd') return isoDay(first, second, third)
    return order === 'dmy' ? isoDay(third, second, first) : isoDay(third, first, second)
  }
  if (/^\d{8}$/.test(text)) return isoDay(text.slice(0, 4), text.slice(4, 6), text.slice(6))
  return readWordyDay(text)
}

// 2026年11月4日, 2026년 11월 4일. The second group is where NUMERIC has its separator.
const CJK_DATE = /^(\d{4}) ?([年년]) ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]?$/

/** `13 de noviembre de 2026`, `Tue, 03 Nov 2026`. */
function readWordyDay(text: string): string | null {
  const words = text.toLowerCase().match(/\d+|[\p{L}\p{M}]+/gu) ?? []
  const named = words.filter((word) => MONTHS.has(plainWord(word)))
  // `mar 3 nov`: in Romance languages the first word is Tuesday.
  const sure = named.filter((word) => named.length === 1 || !WEEKDAYS.has(plainWord(word)))
  const months = new Set(
    (sure.length > 0 ? sure : named).map((word) => MONTHS.get(plainWord(word))),
  )
  const numbers = words.filter((word) => /^\d/.test(word))
  const others = words.filter(
    (word) => !/^\d/.test(word) && !MONTHS.has(plainWord(word)) && !WEEKDAYS.has(plainWord(word)),
  )
  const [month] = months
  const [first = '', second = ''] = numbers
  if (month === undefined || months.size > 1 || numbers.length !== 2) return null
  if (others.length > 0) return null
  return first.length === 4
    ? isoDay(first, String(month), second)
    : isoDay(second, String(month), first)
}

/** Null if the day does not exist. Two-digit years are of this century. */
function isoDay(year: string, month: string, day: string): string | null {
  if (year.length !== 4 && year.length !== 2) return null
  if (month.length > 2 || day.length > 2) return null
  return dayOf(`${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`)
}

const LANGUAGES = 'en de fr es it pt nl sv da nb fi pl cs sk hu ro tr ru uk el id ca bg'.split(' ')

/** Accents and dots dropped: reports write `févr.`, `fevr` and `FÉVR`. */
function plainWord(word: string): string {
  return word.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
}

interface DateWords {
  readonly months: ReadonlyMap<string, number>
  /** Weekdays, and words that some languages put between the parts of a date. */
  readonly weekdays: ReadonlySet<string>
}

/** Month names and weekdays by language, from the runtime's Unicode data. */
function dateWords(): DateWords {
  const months = new Map<string, number>()
  const ambiguous = new Set<string>()
  const weekdays = new Set('de del di of the st nd rd th er e r г р'.split(' '))
  const add = (written: string, month: number): void => {
    for (const word of written.match(/[\p{L}\p{M}]{3,}/gu) ?? []) {
      const name = plainWord(word)
      if ((months.get(name) ?? month) !== month) ambiguous.add(name)
      months.set(name, month)
    }
  }
  for (const language of LANGUAGES) {
    for (const month of ['long', 'short'] as const) {
      const standing = new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' })
      const dated = new Intl.DateTimeFormat(language, {
        ...{ day: 'numeric', month, year: 'numeric', timeZone: 'UTC' },
      })
      for (let number = 1; number <= 12; number++) {
        const day = new Date(Date.UTC(2026, number - 1, 1))
        add(standing.format(day), number)
        add(dated.formatToParts(day).find(({ type }) => type === 'month')?.value ?? '', number)
      }
    }
    for (const weekday of ['long', 'short'] as const) {
      const names = new Intl.DateTimeFormat(language, { weekday, timeZone: 'UTC' })
      for (let day = 1; day <= 7; day++) {
        const written = names.format(new Date(Date.UTC(2026, 0, day)))
        for (const word of written.match(/[\p{L}\p{M}]{2,}/gu) ?? []) weekdays.add(plainWord(word))
      }
    }
  }
  months.set('sept', 9)
  for (const word of ambiguous) months.delete(word)
  return { months, weekdays }
}

const { months: MONTHS, weekdays: WEEKDAYS } = dateWords()
