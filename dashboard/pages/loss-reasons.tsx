/** Why auctions were lost, the most frequent reason first, with what to change. */
import { Link } from '@tanstack/react-router'
import type { LossWord } from '../../src/auction/loss-code.ts'
import { lossReasonOf } from '../../src/auction/loss-reason.ts'
import { count, percent } from '../format.ts'
import { PATHS } from '../paths.ts'

export function LossReasons({ losses }: { losses: readonly (readonly [string, number])[] }) {
  const total = losses.reduce((sum, [, lost]) => sum + lost, 0)
  if (total === 0) return null
  return (
    <section aria-labelledby="losses" className="panel px-4 py-3">
      <h2 id="losses">Why auctions were lost</h2>
      <ul className="mt-2 divide-y divide-line text-sm">
        {losses.map(([word, lost]) => (
          <li
            key={word}
            className="grid grid-cols-[4rem_1fr] items-baseline gap-x-3 py-2 sm:grid-cols-[4rem_8rem_1fr_auto]"
          >
            <span className="number text-right font-semibold">{percent(lost / total, 0)}</span>
            <meter
              aria-hidden="true"
              className="score h-2 w-full self-center max-sm:hidden"
              min={0}
              max={1}
              value={lost / total}
            />
            <span>
              {lossReasonOf(word)?.merchant ?? word}{' '}
              <span className="number text-soft">{count(lost)} auctions</span>
            </span>
            <Fix word={word} />
          </li>
        ))}
      </ul>
    </section>
  )
}

const FEED = { path: PATHS.merchantFeed, label: 'Open the feed' } as const
const CAMPAIGNS = { path: PATHS.campaigns, label: 'Change campaigns' } as const

/** The page where the merchant can change it; null where only the publisher or nobody can. */
const FIXES: Readonly<Record<string, typeof FEED | typeof CAMPAIGNS | null>> = {
  no_candidates: null,
  inactive: CAMPAIGNS,
  out_of_flight: CAMPAIGNS,
  out_of_stock: FEED,
  stale_feed: FEED,
  device: CAMPAIGNS,
  country: CAMPAIGNS,
  blocked: null,
  exclusive: null,
  confidence: FEED,
  price: FEED,
  paced: CAMPAIGNS,
  unfunded: CAMPAIGNS,
  below_floor: CAMPAIGNS,
  outbid: CAMPAIGNS,
} satisfies Record<LossWord, unknown>

function Fix({ word }: { word: string }) {
  const to = FIXES[word] ?? null
  if (to === null) return null
  return (
    <Link to={to.path} className="link max-sm:col-start-2 max-sm:justify-self-start">
      {to.label}
    </Link>
  )
}
