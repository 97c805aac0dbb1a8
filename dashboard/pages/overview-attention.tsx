/** What needs a publisher's attention, yesterday's best links, and the set-up until it is done. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api } from '../api.ts'
import { cents, microDollars } from '../format.ts'
import { useCan, usePublisher } from '../organization.ts'
import { PATHS } from '../paths.ts'
import {
  bestLinks,
  earnedYesterday,
  health,
  type LinkHealth,
  latePayments,
  linkName,
  lostLinks,
  setUpSteps,
} from '../publisher-health.ts'
import { addDays, utcDay } from '../range-days.ts'
import { Icon } from '../ui/icon.tsx'

/** These facts change slowly, and each costs the service more than a figure. */
const FRESH_MS = 60_000

function useHealth() {
  const { pub_id: pubId } = usePublisher()
  const mayReadPayments = useCan('payments.read')
  const yesterday = addDays(utcDay(Date.now()), -1)
  const fresh = { staleTime: FRESH_MS }
  const links = useQuery({
    ...{ ...fresh, queryKey: ['link health', pubId] },
    queryFn: () => health.links(pubId),
  })
  const tag = useQuery({
    ...{ ...fresh, queryKey: ['tag status', pubId] },
    queryFn: () => health.tag(pubId),
  })
  const noFill = useQuery({
    ...{ ...fresh, queryKey: ['no fill', pubId, yesterday] },
    queryFn: () => api.noFill(pubId, yesterday),
  })
  const payments = useQuery({
    ...{ ...fresh, queryKey: ['payments', pubId], enabled: mayReadPayments },
    queryFn: () => api.payments(pubId),
  })
  return { links: links.data, tag: tag.data, noFill: noFill.data, payments: payments.data }
}

export function OverviewAttention() {
  const { links, tag, noFill, payments } = useHealth()
  if (links === undefined || tag === undefined) return null
  const lost = lostLinks(links)
  const missed = Math.max(0, ...(noFill?.reasons ?? []).map(({ missed_micros: missed }) => missed))
  const late = payments === undefined ? null : latePayments(payments, Date.now())
  const steps = setUpSteps(tag, links)
  const isSetUp = steps.every(({ isDone }) => isDone)
  const hasNothing = lost.count === 0 && missed === 0 && (late?.count ?? 0) === 0
  return (
    <div className="space-y-3">
      {!isSetUp && <SetUp steps={steps} />}
      <section aria-labelledby="attention" className="panel px-4 py-3">
        <h2 id="attention">Needs attention</h2>
        {hasNothing && <p className="mt-2 text-sm text-soft">Nothing at the moment.</p>}
        <ul className="mt-2 divide-y divide-line text-sm">
          {lost.count > 0 && (
            <Line to={PATHS.links} text={`${some(lost.count, 'link')} stopped earning`}>
              {cents(String(lost.perDay))} a day before
            </Line>
          )}
          {missed > 0 && (
            <Line to={PATHS.unfilled} text="Auctions that nobody won yesterday">
              {microDollars(missed)} missed
            </Line>
          )}
          {late !== null && late.count > 0 && (
            <Line to={PATHS.payments} text={`${some(late.count, 'merchant')} paid late`}>
              {cents(String(late.usd))} owed for over 30 days
            </Line>
          )}
        </ul>
      </section>
      <BestLinks links={bestLinks(links)} />
    </div>
  )
}

/** The editor's first question of a day, so it is answered whatever days the page shows. */
function BestLinks({ links }: { links: readonly LinkHealth[] }) {
  if (links.length === 0) return null
  return (
    <section aria-labelledby="best-links" className="panel px-4 py-3">
      <h2 id="best-links">Best links yesterday</h2>
      <ol className="mt-2 divide-y divide-line text-sm">
        {links.map((link) => (
          <li key={link.auction_id} className="flex items-baseline gap-3 py-1.5">
            <Link
              to={PATHS.link}
              params={{ id: link.auction_id }}
              className="link min-w-0 grow truncate"
            >
              <bdi>{linkName(link)}</bdi>
            </Link>
            <span className="number shrink-0 text-accent">
              {cents(String(earnedYesterday(link)))}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

const some = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

function Line(props: {
  to: typeof PATHS.links | typeof PATHS.unfilled | typeof PATHS.payments
  text: string
  children: ReactNode
}) {
  return (
    <li className="flex flex-wrap items-center gap-x-2 py-1.5">
      <span className="text-second">
        <Icon name="alert" />
      </span>
      <Link to={props.to} className="link grow">
        {props.text}
      </Link>
      <span className="number text-soft">{props.children}</span>
    </li>
  )
}

function SetUp({ steps }: { steps: ReturnType<typeof setUpSteps> }) {
  return (
    <section aria-labelledby="set-up" className="panel px-4 py-3">
      <h2 id="set-up">Set-up</h2>
      <ol className="mt-2 space-y-1.5 text-sm">
        {steps.map(({ name, to, isDone }) => (
          <li key={name} className={`flex items-center gap-2 ${isDone ? 'text-soft' : ''}`}>
            <span
              className={`flex size-5 items-center justify-center rounded-full border ${isDone ? 'border-accent text-accent' : 'border-edge'}`}
            >
              {isDone && <Icon name="check" size={12} />}
            </span>
            {isDone || to === undefined ? (
              name
            ) : (
              <Link to={to} className="link">
                {name}
              </Link>
            )}
            <span className="sr-only">{isDone ? ': done' : ': to do'}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
