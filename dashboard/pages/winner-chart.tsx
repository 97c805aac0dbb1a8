/** Winners of a link's auctions over time: a dot each, as high as the earnings of a click. */
import { cents, count, date } from '../format.ts'
import type { Auction } from '../publisher-api.ts'

const WIDTH = 720
const HEIGHT = 160
const LEFT = 8
const BOTTOM = 24
const TOP = 12
const DOT = 4
/** More merchants share the last tone; the table below names each. */
const TONES = ['text-accent', 'text-second', 'text-bad', 'text-soft'] as const

interface Winner {
  readonly name: string
  readonly wins: number
  readonly tone: (typeof TONES)[number]
}

export function WinnerChart({ auctions }: { auctions: readonly Auction[] }) {
  const won = auctions.filter(({ won: isWon }) => isWon)
  if (won.length < 2) return null
  const winners = rank(won)
  const times = auctions.map(({ at }) => Date.parse(at))
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const most = Math.max(...won.map(earned), 0.01)
  return (
    <figure className="panel p-4">
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1 text-sm">
        <span className="font-medium">What you earn a click, by winner</span>
        <ul className="flex flex-wrap gap-x-4 text-soft">
          {winners.map(({ name, wins, tone }) => (
            <li key={name} className="flex items-center gap-1.5">
              <span aria-hidden="true" className={tone}>
                ●
              </span>
              <bdi>{name}</bdi> {count(wins)}
            </li>
          ))}
        </ul>
      </figcaption>
      <Dots won={won} most={most} first={first} last={last} winners={winners} />
      <p className="number flex justify-between text-xs text-soft">
        <span>{date(new Date(first).toISOString())}</span>
        <span>
          $0 to {cents(String(most))}; {count(auctions.length - won.length)} without a winner
        </span>
        <span>{date(new Date(last).toISOString())}</span>
      </p>
    </figure>
  )
}

function Dots(props: {
  won: readonly Auction[]
  most: number
  first: number
  last: number
  winners: readonly Winner[]
}) {
  const { won, most, first, last, winners } = props
  const x = (at: string) =>
    LEFT + ((Date.parse(at) - first) / Math.max(last - first, 1)) * (WIDTH - LEFT - 2 * DOT)
  const y = (value: number) => HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - TOP)
  const toneOf = new Map(winners.map(({ name, tone }) => [name, tone]))
  return (
    <svg
      role="img"
      aria-label={`Earnings of a click in ${count(won.length)} auctions, up to ${cents(String(most))}. The table below lists them.`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className="mt-2 h-40 w-full"
      preserveAspectRatio="none"
    >
      {[0, most / 2, most].map((value) => (
        <line
          key={value}
          x1={LEFT}
          x2={WIDTH}
          y1={y(value)}
          y2={y(value)}
          className="stroke-line"
          vectorEffect="non-scaling-stroke"
        />
      ))}
      {won.map((auction) => (
        // A line without length and with round ends stays a circle in a stretched picture.
        <path
          key={auction.auction_result_number}
          d={`M${x(auction.at).toFixed(1)} ${y(earned(auction)).toFixed(1)}h0`}
          stroke="currentColor"
          strokeWidth={2 * DOT}
          strokeLinecap="round"
          vectorEffect="non-scaling-stroke"
          opacity="0.7"
          className={toneOf.get(nameOf(auction)) ?? 'text-soft'}
        />
      ))}
    </svg>
  )
}

const nameOf = ({ merchant_name: name, merch_id: id }: Auction) => name ?? `Merchant ${id}`

const earned = ({ earnings_per_click: epc }: Auction) => Number(epc ?? 0)

function rank(won: readonly Auction[]): Winner[] {
  return [...Map.groupBy(won, nameOf)]
    .map(([name, { length }]) => ({ name, wins: length }))
    .toSorted((one, other) => other.wins - one.wins)
    .map((one, at) => ({ ...one, tone: TONES[Math.min(at, TONES.length - 1)] ?? 'text-soft' }))
}
