/** Explains the result of an auction: the winner, the price, and why each other candidate lost. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, type Receipt } from '../api.ts'
import { articleTitle, date, dollars, percent, shortUrl, time } from '../format.ts'
import { useOwner } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { ClickList } from '../ui/click-list.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { Parts } from '../ui/parts.tsx'
import { Title } from '../ui/title.tsx'
import { CandidateList } from './candidate-list.tsx'

type Explanation = NonNullable<Receipt['explanation']>

export function ReceiptPage() {
  const { result } = useParams({ from: PATHS.receipt })
  const receipt = useQuery({
    queryKey: ['receipt', result],
    queryFn: () => api.receipt(result),
    staleTime: 60_000,
  })
  const isUnderItsName = useOwner(receipt.data?.pub_id)
  if (receipt.data === undefined || !isUnderItsName) {
    return (
      <div className="space-y-5">
        <Title>Receipt</Title>
        <Progress query={receipt} />
      </div>
    )
  }
  const { explanation, clicks, link_url } = receipt.data
  const article = articleTitle(receipt.data) ?? 'Deleted article'
  return (
    <div className="space-y-6">
      <div>
        <p className="text-sm text-soft">
          <Link to={PATHS.clicks} className="link">
            Clicks
          </Link>{' '}
          / receipt of{' '}
          <Link to={PATHS.link} params={{ id: receipt.data.auction_id }} className="link">
            its link
          </Link>
        </p>
        <div className="mt-0.5">
          <Title {...headline(receipt.data)} />
        </div>
        <p className="mt-1 text-soft">
          <Parts of={[article, link_url && shortUrl(link_url)]} />
        </p>
      </div>
      {explanation === null ? (
        <EmptyState title="The details of this auction have expired">
          Details are stored for a limited time. A disabled link, or a link whose URL was altered,
          runs no auction. The price paid is still proved by the sealed result of the clicks below.
        </EmptyState>
      ) : (
        <>
          <Outcome explanation={explanation} />
          <CandidateList receipt={receipt.data} explanation={explanation} />
          <Facts receipt={receipt.data} explanation={explanation} />
        </>
      )}
      <Clicks clicks={clicks} />
    </div>
  )
}

function Clicks({ clicks }: Pick<Receipt, 'clicks'>) {
  return (
    <section aria-labelledby="clicks">
      <h2 id="clicks" className="mb-2">
        Clicks on this result
      </h2>
      {clicks.length === 0 ? (
        <p className="text-soft">No clicks yet.</p>
      ) : (
        <ClickList clicks={clicks} hasReceiptLinks={false} />
      )}
    </section>
  )
}

function headline({ explanation, merchants }: Receipt) {
  if (explanation === null) return { children: 'Details have expired' }
  const { won, merch_id, price } = explanation.outcome
  if (!won) return { children: 'No winner' }
  const name = merchants.find((merchant) => merchant.merch_id === merch_id)?.name ?? 'A merchant'
  const at = Number(price) > 0 ? ` at ${dollars(price ?? '0')} per click` : ''
  return { name, children: ` won${at}` }
}

/** The three facts that matter first: what is paid, what you earn, and what set the price. */
function Outcome({ explanation }: { explanation: Explanation }) {
  const { outcome, publisher, replay } = explanation
  const isCommission = outcome.won && Number(outcome.price) === 0
  const share = publisher ? ` (${percent(publisher.share)})` : ''
  const parts = isCommission
    ? [
        { name: 'The merchant pays', value: 'on each order' },
        {
          name: `You may earn a click${share}`,
          value: `≈ ${dollars(outcome.publisher_expects ?? '0')}`,
        },
        { name: 'Set by', value: setterOf(outcome) },
      ]
    : [
        { name: 'The merchant pays', value: dollars(outcome.price ?? '0') },
        { name: `You earn${share}`, value: dollars(outcome.publisher_earns ?? '0') },
        { name: 'Set by', value: setterOf(outcome) },
      ]
  return (
    <section aria-label="Price" className="panel space-y-3 p-4">
      {outcome.won && outcome.price !== null && (
        <dl className="flex flex-wrap gap-x-10 gap-y-3">
          {parts.map(({ name, value }) => (
            <div key={name}>
              <dt className="text-sm text-soft">{name}</dt>
              <dd className="number text-xl font-semibold tracking-tight">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <p className="max-w-prose">{outcome.price_why ?? outcome.reason?.why}</p>
      {isCommission && (
        <p className="max-w-prose text-sm text-soft">
          Most clicks bring no order and earn nothing; an order earns your share of its commission.
          The amount is the average that is expected of a click.
        </p>
      )}
      {outcome.explored && (
        <p className="max-w-prose text-sm text-soft">
          Test auction: a small share of auctions tries less-proven offers.
        </p>
      )}
      <p className="text-sm text-soft">{replayWords(replay)}</p>
    </section>
  )
}

const setterOf = ({ price_set_by: setter }: Explanation['outcome']): string =>
  setter === null ? '–' : SETTERS[setter]

/** The request and settings of the auction, and whether its replay still agrees. */
function Facts({ receipt, explanation }: { receipt: Receipt; explanation: Explanation }) {
  const { request, publisher, outcome, candidates } = explanation
  // Hidden bids enter it as the middles of their ranges.
  const isEstimate = candidates.some(({ value_range }) => value_range !== null)
  const facts: [string, ReactNode][] = [
    ['When', `${date(explanation.at)}, ${time(explanation.at)} UTC`],
    ['Reader', `${request.device}, ${request.country ?? 'country unknown'}`],
    ['Pricing rule', request.pricing === 'first_price' ? 'first price' : 'second price'],
    ['Reference price', amount(request.reference_price)],
    ['Original’s price', amount(request.original_price)],
    ['Locked to one merchant', request.exclusive_match_requested ? 'yes' : 'no'],
    ['Your own lowest price', ownFloor(publisher)],
    ['The platform keeps', amount(outcome.platform_keeps)],
    ['Maximum price increase', percent(publisher?.tolerance ?? 0)],
    [
      `Winner’s chance${isEstimate ? ' (estimate)' : ''}`,
      outcome.propensity === null ? '–' : percent(outcome.propensity, 1),
    ],
    ['Link', receipt.auction_id],
    ['Result number', receipt.auction_result_number],
    ['Computed by', `rules ${explanation.rule_version}, engine ${explanation.engine}`],
  ]
  return (
    <section aria-labelledby="facts" className="panel p-4">
      <h2 id="facts">Inputs of the auction</h2>
      <details className="mt-1">
        <summary className="link w-fit text-sm">Show all</summary>
        <dl className="mt-3 grid gap-x-8 gap-y-2 text-sm sm:grid-cols-2">
          {facts.map(([name, value]) => (
            <div key={name} className="flex justify-between gap-4 border-b border-line pb-2">
              <dt className="text-soft">{name}</dt>
              <dd className="number min-w-0 text-right wrap-anywhere">{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  )
}

/** A candidate's lowest price is the highest of yours, that of its category, and the platform's. */
function ownFloor(publisher: Explanation['publisher']): string {
  if (publisher === null) return '–'
  return Number(publisher.floor) === 0 ? 'none set' : dollars(publisher.floor)
}

const SETTERS = {
  floor: 'the lowest price',
  rival: 'the best rival',
  posted_price: 'its price for locked links',
  bid: 'its own bid',
  contract: 'its contract',
} as const

const amount = (value: string | null): string => (value === null ? '–' : dollars(value))

function replayWords({ kind }: Explanation['replay']): string {
  switch (kind) {
    case 'equal':
      return 'Replay verified'
    case 'different':
      return 'Replay differs. Please report this to the operator.'
    case 'other_rules':
      return 'Not possible: the rules have changed since.'
  }
}
