/** A publisher's figures broken down by one property, and compared with another period. */
import type { BreakdownRow } from '../src/stats/breakdown-operations.ts'
import { LONGEST, page } from './api.ts'
import type { Group, Search } from './paths.ts'
import type { ChosenRange } from './range.ts'

export type { BreakdownRow }

export interface Asked {
  readonly range: ChosenRange
  readonly group: Exclude<Group, 'time'> | 'day' | 'hour'
  readonly only: NonNullable<Search['only']>
}

/** Rows as the API sends them in one page, and whether there are more. */
export async function readBreakdown(pubId: number, { range, group, only }: Asked) {
  const query = new URLSearchParams({
    ...{ date_from: range.from, date_to: range.to, group_by: group },
    ...(range.compare === null ? {} : { compare: range.compare }),
    ...(range.isUtc ? { time_zone: 'UTC' } : {}),
    ...only,
  })
  const { rows, next } = await page<BreakdownRow>(
    `/api/v1/publishers/${pubId}/breakdown/?${query}&${LONGEST}`,
  )
  return { rows, areCut: next !== null }
}

/** The value by which a row can be filtered; null if it has none. */
export function keyOf(row: BreakdownRow, group: Group): string | null {
  switch (group) {
    case 'article':
      return row.article_id === null ? null : String(row.article_id)
    case 'link':
      return row.auction_id
    case 'merchant':
      return row.merch_id === null ? null : String(row.merch_id)
    case 'product':
      return row.product_id
    case 'device':
      return row.device
    case 'country':
      return row.country
    case 'time':
      return row.hour ?? row.day
  }
}
