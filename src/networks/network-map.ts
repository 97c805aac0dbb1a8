/**
 * Says which column of another network's report contains which field (docs/spec/networks.md#maps).
 *
 * For each field, a map names possible columns; the first one in the file is used. Maps of large
 * networks are included. Any other report needs its own map.
 */

import { badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { plainName, readColumnName } from '../platform/money/header-currency.ts'
import { isCurrency } from '../platform/money/read-currency.ts'
import { DECIMAL_SEPARATORS, type DecimalSeparator } from './report-amounts.ts'
import { DATE_ORDERS, type DateOrder } from './report-dates.ts'

/** `date` and `earnings` are needed, and a field that names the publisher. */
export const NETWORK_FIELDS = [
  'date', // of the sale
  'posting_date', // when the network recorded the line: distinguishes lines of one order
  'account', // the publisher's account at the network
  'advertiser',
  'sub_id', // our click id, as our links pass it on
  'publisher', // slug, where the file itself names it
  'article_url',
  'transaction_id', // lines are merged by it
  'original_id', // the transaction or action that a correction corrects
  'order_id', // rows of one order are one sale
  'item', // of an order with several lines
  'clicks',
  'sales', // without such a column, one for each order that earned something
  'revenue',
  'earnings',
  'currency', // of the earnings; and of the revenue unless it has a separate column
  'revenue_currency',
] as const
export type NetworkField = (typeof NETWORK_FIELDS)[number]

/** Words for a line that counts (approved, pending) or does not (declined). */
export interface StatusMap {
  readonly columns: readonly string[]
  readonly approved: readonly string[]
  readonly pending: readonly string[]
  readonly declined: readonly string[]
  /** Older exports of a ready map's network have no such column: all their lines count. */
  readonly is_optional?: true
}

export interface NetworkMap extends Readonly<Partial<Record<NetworkField, readonly string[]>>> {
  readonly status?: StatusMap
  readonly decimal_separator?: DecimalSeparator
  readonly date_order?: DateOrder
  readonly currency_code?: string
}

const STATUS_PARTS = ['columns', 'approved', 'pending', 'declined'] as const
const SETTINGS = ['decimal_separator', 'date_order', 'currency_code'] as const

/** Reads an operator's own map. Throws a 400 that names every fault. */
export function readNetworkMap(text: string): NetworkMap {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw badRequest([{ field: 'map', rule: 'is not valid JSON' }])
  }
  if (!isObject(value)) {
    throw badRequest([{ field: 'map', rule: 'must be an object of fields and column names' }])
  }
  const entries = Object.entries(value)
  const faults = entries.flatMap(([field, entry]) => entryFaults(field, entry))
  if (faults.length > 0) throw badRequest(faults)
  return Object.fromEntries(entries.map(([field, entry]) => [field, readEntry(field, entry)]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function entryFaults(field: string, entry: unknown): Fault[] {
  const fault = (rule: string, name = field): Fault[] => [{ field: `map.${name}`, rule }]
  const allowed = (values: readonly string[]) =>
    values.includes(entry as string) ? [] : fault(`must be one of ${values.join(' ')}`)
  if (field === 'decimal_separator') return allowed(DECIMAL_SEPARATORS)
  if (field === 'date_order') return allowed(DATE_ORDERS)
  if (field === 'currency_code') {
    const isCode = typeof entry === 'string' && isCurrency(entry.toUpperCase())
    return isCode ? [] : fault('must be a currency code of ISO 4217, such as EUR')
  }
  if (field === 'status') return statusFaults(entry)
  if (!(NETWORK_FIELDS as readonly string[]).includes(field)) {
    const known = [...NETWORK_FIELDS, 'status', ...SETTINGS].join(', ')
    return fault(`unknown; known: ${known}`)
  }
  return areTexts(entry) ? [] : fault('must be a column’s name, or a list')
}

function areTexts(entry: unknown): boolean {
  return [entry].flat().every((name) => typeof name === 'string')
}

function statusFaults(entry: unknown): Fault[] {
  if (!isObject(entry)) {
    return [{ field: 'map.status', rule: `must be an object of ${STATUS_PARTS.join(', ')}` }]
  }
  const known: readonly string[] = STATUS_PARTS
  const faults = Object.entries(entry).flatMap(([part, words]): Fault[] => {
    const field = `map.status.${part}`
    if (!known.includes(part)) return [{ field, rule: `unknown; known: ${known.join(', ')}` }]
    return areTexts(words) ? [] : [{ field, rule: 'must be a text, or a list' }]
  })
  if (entry.columns === undefined) {
    faults.push({ field: 'map.status.columns', rule: 'is needed: where the status is' })
  }
  const texts = (part: string) => [entry[part] ?? []].flat().map(String).map(statusWord)
  const all = ['approved', 'pending', 'declined'].flatMap((part) => [...new Set(texts(part))])
  const twice = all.find((word, index) => all.indexOf(word) !== index)
  if (twice !== undefined) {
    faults.push({ field: 'map.status', rule: `${JSON.stringify(twice)} is in two lists` })
  }
  return faults
}

function readEntry(field: string, entry: unknown): unknown {
  if (field === 'currency_code') return String(entry).toUpperCase()
  if ((SETTINGS as readonly string[]).includes(field)) return entry
  if (field !== 'status') return [entry].flat()
  const parts = entry as Record<string, unknown>
  return Object.fromEntries(STATUS_PARTS.map((part) => [part, [parts[part] ?? []].flat()]))
}

export type LineStatus = 'counts' | 'declined'

/** Null if the map does not know the word. */
export function readStatus(word: string, map: StatusMap): LineStatus | null {
  const isIn = (words: readonly string[]) => words.map(statusWord).includes(statusWord(word))
  if (isIn(map.approved) || isIn(map.pending)) return 'counts'
  return isIn(map.declined) ? 'declined' : null
}

function statusWord(word: string): string {
  return word.trim().toLowerCase()
}

/** A field's place in a file. */
export interface FoundColumn {
  /** As the file writes it. */
  readonly name: string
  /** The cells to look in, the first filled one counts: some files have two columns of a name. */
  readonly indexes: readonly number[]
  /** The currency that the name itself has, `Commission (EUR)`. */
  readonly currency: readonly string[]
}

export type FoundColumns = Readonly<Partial<Record<NetworkField | 'status', FoundColumn>>>

/** Finds the map's columns among the cells of a header. */
export function findColumns(map: NetworkMap, header: readonly string[]): FoundColumns {
  const written = header.map((name) => name.replace(/^\ufeff/, '').trim())
  const named = written.map(readColumnName)
  const find = (wanted: readonly string[]): FoundColumn | undefined => {
    for (const isSame of SAME_NAME) {
      for (const name of wanted) {
        const indexes = [...written.keys()].filter((index) =>
          isSame(name.trim(), written[index] ?? '', named[index]?.name ?? ''),
        )
        const [first] = indexes
        if (first === undefined) continue
        return { name: written[first] ?? '', indexes, currency: named[first]?.currency ?? [] }
      }
    }
    return undefined
  }
  const found: Partial<Record<NetworkField | 'status', FoundColumn>> = {}
  for (const field of NETWORK_FIELDS) {
    const column = find(map[field] ?? [])
    if (column !== undefined) found[field] = column
  }
  const status = find(map.status?.columns ?? [])
  if (status !== undefined) found.status = status
  return found
}

type IsSameName = (wanted: string, written: string, plain: string) => boolean

/** The exact name first, then without case and punctuation, then without a currency. */
const SAME_NAME: readonly IsSameName[] = [
  (wanted, written) => written !== '' && wanted.toLowerCase() === written.toLowerCase(),
  (wanted, written) => plainName(written) !== '' && plainName(wanted) === plainName(written),
  (wanted, _, plain) => plain !== '' && readColumnName(wanted).name === plain,
]

/** The columns that a file lacks for this map; none means that it is readable. */
export function missingColumns(map: NetworkMap, found: FoundColumns): Fault[] {
  const needed = (['date', 'earnings'] as const).filter((field) => found[field] === undefined)
  const faults = needed.map((field) => ({ field, rule: missing(map[field] ?? []) }))
  const { status } = map
  if (status === undefined || status.is_optional || found.status !== undefined) return faults
  return [...faults, { field: 'status', rule: missing(status.columns) }]
}

function missing(names: readonly string[]): string {
  if (names.length === 0) return 'the map names no column for it'
  return `no column of the file holds it; looked for ${names.join(', ')}`
}
