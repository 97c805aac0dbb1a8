/** All that was earned, on its way from the reader's click to the payout. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, type Payments } from '../api.ts'
import { dollars } from '../format.ts'
import { PATHS } from '../paths.ts'
import { usePublisher } from '../session.ts'
import { Amount } from '../ui/amount.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { Sums } from '../ui/sums.tsx'
import { Title } from '../ui/title.tsx'
import { MerchantTable } from './merchant-table.tsx'
import { StatementTable } from './statement-table.tsx'

/** It settles all that merchants ever owed, and what they owe changes once a day. */
const FRESH_MS = 60_000

export function PaymentsPage() {
  const { pub_id: pubId } = usePublisher()
  const payments = useQuery({
    queryKey: ['payments', pubId],
    queryFn: () => api.payments(pubId),
    staleTime: FRESH_MS,
  })
  return (
    <div className="space-y-5">
      <Title>Payments</Title>
      <Progress query={payments} />
      {payments.data !== undefined &&
        (payments.data.merchants.length > 0 ? (
          <Account payments={payments.data} />
        ) : (
          <NothingEarned />
        ))}
    </div>
  )
}

function Account({ payments }: { payments: Payments }) {
  const { merchants, statements } = payments
  const stages = stagesOf(payments)
  return (
    <>
      <Way stages={stages} />
      <Sums
        sums={stages.map(({ amount, ...stage }) => ({
          ...stage,
          value: <Amount value={amount} room={0} />,
        }))}
      />
      <MerchantTable merchants={merchants} />
      <StatementTable statements={statements} />
      <p className="max-w-prose text-sm text-soft">
        A day’s clicks are final once the UTC day is over, an order once its merchant can no longer
        cancel it. What a merchant pays releases its oldest debts first. What was released by the
        end of a month is paid out with that month’s statement, which is there a day later; less
        than {dollars(payments.minimum_payout_usd)} is carried into the next one.
      </p>
    </>
  )
}

interface Stage {
  readonly name: string
  readonly amount: string
  readonly note: string
  readonly tone: string
}

function stagesOf(payments: Payments): readonly Stage[] {
  return [
    {
      name: 'Not final yet',
      amount: payments.open_usd,
      note: 'today’s clicks, orders that may be cancelled',
      tone: 'bg-edge',
    },
    {
      name: 'Owed to you',
      amount: payments.due_usd,
      note: 'final, not paid by merchants yet',
      tone: 'bg-accent/35',
    },
    {
      name: 'Ready for payout',
      amount: payments.balance_usd,
      note: `paid by merchants; from ${dollars(payments.minimum_payout_usd)} on`,
      tone: 'bg-accent/65',
    },
    {
      name: 'Paid out',
      amount: payments.paid_out_usd,
      note: 'by all statements so far',
      tone: 'bg-accent',
    },
  ]
}

/** How far the money has come: each stage as wide as its amount; one below zero has no width. */
function Way({ stages }: { stages: readonly Stage[] }) {
  return (
    <div aria-hidden="true" className="flex h-3 gap-0.5 overflow-hidden rounded-full bg-sunk">
      {stages.map(({ name, amount, tone }) => (
        <span
          key={name}
          className={`basis-0 print:[print-color-adjust:exact] ${tone}`}
          style={{ flexGrow: Math.max(0, Number(amount)) }}
        />
      ))}
    </div>
  )
}

function NothingEarned() {
  return (
    <EmptyState title="Nothing earned yet">
      <p>
        What readers’ clicks and purchases earn is told here, from the click to the payout: who owes
        it, since when, and each month’s statement. It begins with a{' '}
        <Link to={PATHS.links} className="link">
          smart link
        </Link>
        .
      </p>
    </EmptyState>
  )
}
