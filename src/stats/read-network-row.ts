/** One row of another network's report, as far as the row itself tells. */
import { currencyWords, readCurrency } from '../catalog/read-currency.ts'
import { CLICK_ID } from '../events/click-id.ts'
import type { CsvRow } from '../platform/csv.ts'
import { urlKey } from '../platform/url.ts'
import {
  type FoundColumns,
  type NetworkField,
  readReportAmount,
  readReportDay,
} from './network-map.ts'

export interface ReadRow {
  readonly day: string
  readonly account: string
  readonly advertiser: string | null
  readonly clickId: string | null // hex; a sub id that is none of ours names nobody
  readonly slug: string | null
  readonly urlKey: Buffer | null
  readonly orderId: string | null
  readonly clicks: number
  readonly sales: number | null // null: the file does not count them
  readonly currency: string
  readonly revenueMillionths: bigint
  readonly earningsMillionths: bigint
}

/** Why a row is left out. */
export type RowRejection =
  | 'date_unreadable'
  | 'amount_unreadable'
  | 'count_unreadable'
  | 'currency_unknown'
  | 'publisher_unknown'
  | 'rate_missing'

const TEXT_LENGTH_MAX = 2048 // As long as an address may be.
const ACCOUNT_LENGTH_MAX = 255 // It is part of a key, and an index takes 2,704 bytes at most.

export function readNetworkRow({ cells }: CsvRow, columns: FoundColumns): ReadRow | RowRejection {
  const cell = (field: NetworkField): string | null => {
    const column = columns[field]
    const text = column === undefined ? '' : (cells[column] ?? '')
    return text === '' ? null : text.slice(0, TEXT_LENGTH_MAX).toWellFormed()
  }
  const day = readReportDay(cell('date') ?? '')
  if (day === null) return 'date_unreadable'
  const revenueMillionths = readReportAmount(cell('revenue') ?? '0')
  const earningsMillionths = readReportAmount(cell('earnings') ?? '0')
  if (revenueMillionths === null || earningsMillionths === null) return 'amount_unreadable'
  const [clicks, sales] = [readCount(cell('clicks')), readCount(cell('sales'))]
  if (clicks === 'unreadable' || sales === 'unreadable') return 'count_unreadable'
  const named = [cell('currency'), ...[cell('revenue'), cell('earnings')].map(signOf)]
  const currency = readCurrency(currencyWords(named.join(' ')), 'USD')
  if (currency === undefined) return 'currency_unknown'
  const subId = (cell('sub_id') ?? '').toLowerCase()
  return {
    day,
    account: (cell('account') ?? '').slice(0, ACCOUNT_LENGTH_MAX).toWellFormed(),
    advertiser: cell('advertiser'),
    clickId: CLICK_ID.test(subId) ? subId : null,
    slug: cell('publisher')?.toLowerCase() ?? null,
    urlKey: urlKey(cell('article_url') ?? ''),
    orderId: cell('order_id'),
    clicks: clicks ?? 0,
    sales,
    currency,
    revenueMillionths,
    earningsMillionths,
  }
}

/** `£` of `£10.00`, which is not ten dollars, whatever the file lacks a column for. */
function signOf(amount: string | null): string | null {
  return /[$€£]/.exec(amount ?? '')?.[0] ?? null
}

const COUNT = /^-?(\d{1,9}|\d{1,3}(,\d{3}){1,2})$/

/** Networks set thousands apart in counts as they do in amounts. */
function readCount(text: string | null): number | null | 'unreadable' {
  if (text === null) return null
  return COUNT.test(text) ? Number(text.replaceAll(',', '')) : 'unreadable'
}
