/** The reasons why auctions had no winner, the most costly first. */
import { Link } from '@tanstack/react-router'
import type { NoFill } from '../api.ts'
import { cents, count } from '../format.ts'
import { PATHS } from '../paths.ts'
import { ReasonLinks } from './reason-links.tsx'
import { reasonName, remedy } from './remedy.ts'

type Reason = NoFill['reasons'][number]

export function ReasonList({ reasons }: { reasons: readonly Reason[] }) {
  const missed = (reason: Reason) => reason.missed_micros
  const missable = (reason: Reason) => reason.missed_if_clicked_micros
  // Uses the order of the list: by missed earnings, or by possible ones if no click missed
  // anything.
  const drawn = reasons.some(missed) ? missed : missable
  const most = Math.max(...reasons.map(drawn), 1)
  return (
    <section aria-labelledby="reasons">
      <h2 id="reasons" className="mb-2">
        Why nobody won
      </h2>
      <ol className="panel divide-y divide-line">
        {reasons.map((reason) => (
          <ReasonLine key={reason.code} reason={reason} part={drawn(reason) / most} />
        ))}
      </ol>
      <p className="mt-3 max-w-prose text-sm text-soft">
        The amount for a reason is what you would have earned without that one check. If two checks
        exclude a merchant, neither is charged with the loss, so the amounts do not add up. They are
        estimates, because bids count with the middle of the range that receipts show.{' '}
        <Link to={PATHS.whatIf} className="link">
          What if
        </Link>{' '}
        shows what other floors, lists or price limits would have earned.
      </p>
    </section>
  )
}

/** `part` is the share of the longest bar. */
function ReasonLine({ reason, part }: { reason: Reason; part: number }) {
  const { name, sentence, auctions, clicks, auction_result_number: result } = reason
  const advice = remedy(reason.word)
  return (
    <li className="grid gap-x-6 gap-y-1 px-4 py-4 sm:grid-cols-[1fr_auto]">
      <div className="min-w-0">
        <h3 className="font-semibold">{reasonName(reason.word, name)}</h3>
        <p className="max-w-prose">{sentence}</p>
        {advice !== null && <p className="max-w-prose text-sm text-soft">{advice}</p>}
        <meter
          aria-label="Compared with the most costly reason"
          className="score mt-2 h-2 w-full max-w-80"
          min={0}
          max={1}
          value={part}
        />
        <p className="mt-1 text-sm text-soft">
          {plural(auctions, 'auction')}, {plural(clicks, 'click')} ·{' '}
          <Link to={PATHS.receipt} params={{ result }} className="link">
            {auctions === 1 ? 'Receipt' : 'Receipt of the most costly one'}
          </Link>
        </p>
        <ReasonLinks links={reason.links} />
      </div>
      <div className="number sm:text-right">
        <p className="font-semibold">{money(reason.missed_micros)} missed</p>
        <p className="text-sm text-soft">
          {money(reason.missed_if_clicked_micros)} if each had one click
        </p>
      </div>
    </li>
  )
}

const MICROS = 1_000_000
const money = (micros: number): string => cents(String(micros / MICROS))

const plural = (number: number, word: string): string =>
  `${count(number)} ${word}${number === 1 ? '' : 's'}`
