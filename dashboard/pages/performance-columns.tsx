/** The columns of a merchant's performance, for every grouping. */
import type { Performance, PerformanceGroup } from '../api.ts'
import { cents, percent } from '../format.ts'
import { ratio, sumPerformance } from '../performance-sums.ts'
import { type Column, NONE } from '../table/column.ts'

const HEADS: Readonly<Record<PerformanceGroup, string>> = {
  campaign: 'Campaign',
  publisher: 'Publisher',
  product: 'Product',
  device: 'Device',
  country: 'Country',
  day: 'Day (UTC)',
}

export function columnsOf(
  group: PerformanceGroup,
  nameOf: (row: Performance) => string,
): readonly Column<Performance>[] {
  return [
    {
      id: 'name',
      head: HEADS[group],
      // Days sort by date, not by name.
      value: (row) => row.day ?? nameOf(row),
      cell: (row) => <bdi title={nameOf(row)}>{nameOf(row)}</bdi>,
    },
    { id: 'auctions', head: 'Auctions', kind: 'count', isSum: true, value: (row) => row.auctions },
    {
      ...{ id: 'win_rate', head: 'Won', kind: 'share', value: (row) => row.win_rate },
      total: (rows) => {
        const { won, auctions } = sumPerformance(rows)
        const part = ratio(won, auctions)
        return part === null ? NONE : percent(part, 1)
      },
    },
    { id: 'bid', head: 'Average bid', kind: 'money', value: (row) => row.average_bid },
    { id: 'price', head: 'Price won at', kind: 'money', value: (row) => row.average_price },
    {
      ...{ id: 'paid', head: 'Price of bid', kind: 'share', isHidden: true },
      value: ({ average_bid: bid, average_price: price }) =>
        bid === null || price === null ? null : ratio(Number(price), Number(bid)),
    },
    { id: 'clicks', head: 'Clicks', kind: 'count', isSum: true, value: (row) => row.clicks },
    {
      ...{ id: 'invalid', head: 'Free clicks', kind: 'count', isSum: true, isHidden: true },
      value: (row) => row.invalid_clicks,
    },
    { id: 'cost', head: 'Cost', kind: 'money', isSum: true, value: (row) => row.cost },
    { id: 'orders', head: 'Orders', kind: 'count', isSum: true, value: (row) => row.orders },
    { id: 'revenue', head: 'Revenue', kind: 'money', isSum: true, value: (row) => row.revenue },
    {
      ...{ id: 'roas', head: 'Revenue per $1', kind: 'money' },
      value: ({ roas }) => (roas === null ? null : roas.toFixed(2)),
      total: (rows) => {
        const { revenue, cost } = sumPerformance(rows)
        const roas = ratio(revenue, cost)
        return roas === null ? NONE : cents(String(roas))
      },
    },
  ]
}
