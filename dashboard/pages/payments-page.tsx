/** A publisher's earnings by stage, from pending to paid out. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, type Payments } from '../api.ts'
import { cents, dollars } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { Sums } from '../ui/sums.tsx'
import { Title } from '../ui/title.tsx'
import { MerchantTable } from './merchant-table.tsx'
import { StatementTable } from './statement-table.tsx'

/** The query settles everything merchants ever owed, and the amounts change once a day. */
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
          value: cents(amount),
        }))}
      />
      <MerchantTable merchants={merchants} />
      <StatementTable statements={statements} />
      <p className="max-w-prose text-sm text-soft">
        Clicks become final at the end of their UTC day. An order becomes final when its merchant
        can no longer cancel it. A merchant’s payment covers its oldest debts first. Each month’s
        statement pays out the money received by the end of that month, and appears one day later.
        Less than {dollars(payments.minimum_payout_usd)} is carried over to the next statement.
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
      name: 'Pending',
      amount: payments.open_usd,
      note: 'today’s clicks, and orders that can still be cancelled',
      tone: 'bg-edge',
    },
    {
      name: 'Owed to you',
      amount: payments.due_usd,
      note: 'final, but merchants have not paid yet',
      tone: 'bg-accent/35',
    },
    {
      name: 'Ready for payout',
      amount: payments.balance_usd,
      note: `Received. Paid out once it reaches ${dollars(payments.minimum_payout_usd)}.`,
      tone: 'bg-accent/65',
    },
    {
      name: 'Paid out',
      amount: payments.paid_out_usd,
      note: 'in all statements so far',
      tone: 'bg-accent',
    },
  ]
}

/** A bar of the stages, each as wide as its amount. A negative amount has no width. */
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
        This page shows your earnings from the click to the payout: who owes them, since when, and
        each month’s statement. To get started, create a{' '}
        <Link to={PATHS.links} className="link">
          smart link
        </Link>
        .
      </p>
    </EmptyState>
  )
}
