/**
 * How a bid compares with the merchant's own auctions. Rivals' bids are secret, so the merchant's
 * own results are the only honest measure (docs/spec/auction.md#ranges).
 */
import { useQuery } from '@tanstack/react-query'
import { api, type Performance } from '../api.ts'
import { cents, count, percent } from '../format.ts'
import { changeWords, lossesOf, ratio, sumPerformance } from '../performance-sums.ts'
import { rangeOf } from '../range-days.ts'

export function CampaignPosition({ merchId, bid }: { merchId: number; bid: string | null }) {
  const range = rangeOf('30days', Date.now())
  const { data: rows } = useQuery({
    queryKey: ['performance', merchId, range, 'campaign', undefined],
    queryFn: () => api.performance(merchId, range, { group: 'campaign' }),
  })
  if (rows === undefined) return null
  return (
    <p className="rounded-lg bg-sunk px-3 py-2 text-sm text-soft">
      {sentences(rows, bid).join(' ')}
    </p>
  )
}

function sentences(rows: readonly Performance[], bid: string | null): string[] {
  const { auctions, won } = sumPerformance(rows)
  const winRate = ratio(won, auctions)
  if (winRate === null) {
    return [
      'You have entered no auction in the last 30 days to compare with.',
      'The bids of other shops are secret. Once the campaign runs, “Performance” shows how often it wins.',
    ]
  }
  const average = averageOf(
    rows,
    ({ average_bid }) => average_bid,
    ({ auctions: of }) => of,
  )
  const price = averageOf(
    rows,
    ({ average_price }) => average_price,
    ({ won: of }) => of,
  )
  const outbid = lossesOf(rows).find(([word]) => word === 'outbid')?.[1] ?? 0
  return [
    `In the last 30 days your campaigns won ${percent(winRate, 0)} of ${count(auctions)} auctions` +
      `${average === null ? '' : `, with an average bid of ${cents(String(average))}`}` +
      `${price === null ? '' : ` and an average price of ${cents(String(price))}`}.`,
    outbid === 0
      ? 'None was lost to a higher bid.'
      : `${count(outbid)} were lost to a higher score.`,
    ...(bid === null || average === null ? [] : comparison(Number(bid), average)),
  ]
}

function comparison(bid: number, average: number): string[] {
  if (!Number.isFinite(bid) || bid <= 0) return []
  const change = changeWords(bid, average)
  if (change === null || change === 'as before') return ['This bid is about your average.']
  const words = change.replace(' than before', ' than your average bid')
  return [`This bid is ${words}: expect to win ${bid > average ? 'more' : 'less'} often.`]
}

function averageOf(
  rows: readonly Performance[],
  value: (row: Performance) => string | null,
  weight: (row: Performance) => number,
): number | null {
  const known = rows.filter((row) => value(row) !== null)
  const sum = known.reduce((all, row) => all + Number(value(row)) * weight(row), 0)
  return ratio(
    sum,
    known.reduce((all, row) => all + weight(row), 0),
  )
}
