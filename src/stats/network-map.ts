/**
 * Reports of other networks: which of their columns says what.
 *
 * A map names, for each thing we keep, the columns it may stand in, in capitals or not; the first
 * that the file has is taken. Three large networks' public report formats are ready; any other CSV
 * needs a map of its own, a JSON object of the same shape with one name or a list of names per
 * field.
 */
import type { CsvTable } from '../platform/csv.ts'
import { badRequest, type Fault } from '../platform/errors.ts'
import { dayOf } from '../platform/timestamp.ts'

/** What a row may say. `date` and `earnings` are needed, and something that names the publisher. */
export const NETWORK_FIELDS = [
  'date', // of the sale
  'account', // the publisher's account there; part of what an import replaces
  'advertiser',
  'sub_id', // our click id, as our links pass it on
  'publisher', // slug, where the file itself says it
  'article_url',
  'order_id', // rows of one order are one sale
  'clicks',
  'sales', // where there is no such column, one for each order that earned something
  'revenue',
  'earnings',
  'currency', // where there is no such column, that of the amounts’ sign, else USD
] as const
export type NetworkField = (typeof NETWORK_FIELDS)[number]
export type NetworkMap = Readonly<Partial<Record<NetworkField, readonly string[]>>>

export const READY_MAPS: Readonly<Record<string, NetworkMap>> = {
  // Commission records: amounts in US dollars, the sub id in `shopperId` (SID).
  cj: {
    date: ['eventDate', 'Event Date', 'event-date'],
    account: ['websiteId', 'Website ID', 'website-id', 'publisherId'],
    advertiser: ['advertiserName', 'Advertiser Name', 'Advertiser', 'advertiser-name'],
    sub_id: ['shopperId', 'SID'],
    order_id: ['orderId', 'Order ID', 'order-id'],
    revenue: ['saleAmountUsd', 'Sale Amount (USD)', 'Sale Amount', 'sale-amount'],
    earnings: [
      'pubCommissionAmountUsd',
      'Publisher Commission (USD)',
      'Publisher Commission',
      'commission-amount',
    ],
  },
  // The signature orders report: one row per item, the sub id in `Member ID (U1)`.
  rakuten: {
    date: ['Transaction Date'],
    account: ['Publisher ID', 'SID'],
    advertiser: ['Advertiser Name'],
    sub_id: ['Member ID (U1)'],
    order_id: ['Order ID'],
    revenue: ['Sales', 'Gross Sales'],
    earnings: ['Total Commission', 'Gross Total Commissions'],
    currency: ['Currency'],
  },
  // Transactions: amounts in the advertiser's currency, the sub id in the click reference.
  awin: {
    date: ['transactionDate', 'Transaction Date'],
    account: ['publisherId', 'Publisher ID'],
    advertiser: ['advertiserName', 'Advertiser', 'siteName', 'advertiserId'],
    sub_id: ['clickRefs.clickRef', 'clickRef', 'Click Ref'],
    order_id: ['orderRef', 'Order Reference', 'id'],
    revenue: ['saleAmount.amount', 'saleAmount', 'Sale Amount'],
    earnings: ['commissionAmount.amount', 'commissionAmount', 'Commission'],
    currency: ['commissionAmount.currency', 'currency'],
  },
}

/** Reads a map of the operator's own. Throws a 400 that names every fault. */
export function readNetworkMap(text: string): NetworkMap {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw badRequest([{ field: 'map', rule: 'is not valid JSON' }])
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest([{ field: 'map', rule: 'must be an object of fields and column names' }])
  }
  const entries = Object.entries(value)
  const known: readonly string[] = NETWORK_FIELDS
  const faults = entries.flatMap(([field, names]): Fault[] => {
    if (!known.includes(field)) {
      return [{ field: `map.${field}`, rule: `unknown; known: ${NETWORK_FIELDS.join(', ')}` }]
    }
    const isNames = [names].flat().every((name) => typeof name === 'string')
    return isNames ? [] : [{ field: `map.${field}`, rule: 'must be a column’s name, or a list' }]
  })
  if (faults.length > 0) throw badRequest(faults)
  return Object.fromEntries(entries.map(([field, names]) => [field, [names].flat()]))
}

/** Which column of this very file each field stands in; absent: in none. */
export type FoundColumns = Readonly<Partial<Record<NetworkField, string>>>

/** Throws a 400 that names what the file lacks. */
export function findColumns(map: NetworkMap, { headers }: Pick<CsvTable, 'headers'>): FoundColumns {
  const found: Partial<Record<NetworkField, string>> = {}
  for (const field of NETWORK_FIELDS) {
    const wanted = (map[field] ?? []).map((name) => name.trim().toLowerCase())
    const column = wanted.find((name) => headers.includes(name))
    if (column !== undefined) found[field] = column
  }
  const faults = (['date', 'earnings'] as const)
    .filter((field) => found[field] === undefined)
    .map((field) => ({ field, rule: missing(map[field] ?? []) }))
  if (faults.length > 0) throw badRequest(faults)
  return found
}

function missing(names: readonly string[]): string {
  if (names.length === 0) return 'the map names no column for it'
  return `no column of the file says it; looked for ${names.join(', ')}`
}

const ISO_DAY = /^(\d{4}-\d{2}-\d{2})(?:$|[T ])/
const US_DAY = /^(\d{1,2})\/(\d{1,2})\/(\d{2}|\d{4})(?:$| )/

/** The day of `2026-03-02…` or `3/2/26`, null for anything else. */
export function readReportDay(text: string): string | null {
  const iso = ISO_DAY.exec(text)?.[1]
  const [, month = '', day = '', year = ''] = US_DAY.exec(text) ?? []
  const written = `${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return dayOf(iso ?? written)
}

const AMOUNT = /^(-?)[$€£]?(\d{1,3}(?:,\d{3})+|\d{1,12})?(?:\.(\d{0,12}))?$/

/**
 * `-1,295.658` or `$20.00` as whole millionths of its currency, what is smaller cut away; null
 * for anything else. Networks print more decimals than a currency has.
 */
export function readReportAmount(text: string): bigint | null {
  const match = AMOUNT.exec(text.replace(/^\((.*)\)$/, '-$1').trim())
  if (match === null || !/\d/.test(text)) return null
  const whole = (match[2] ?? '0').replaceAll(',', '')
  const millionths = BigInt(`${whole}${(match[3] ?? '').slice(0, 6).padEnd(6, '0')}`)
  return match[1] === '-' ? -millionths : millionths
}
