/** Money of the network: debts of merchants by age, their payments, and payouts to publishers. */
import { useState } from 'react'
import { useAddress } from '../address.ts'
import { useCan } from '../organization.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { PageHead, ReadOnlyNote } from '../ui/page-head.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Debts } from './network-debts.tsx'
import { PaymentList } from './network-payment-list.tsx'
import { PayoutList } from './network-payouts.tsx'
import { RecordPayment } from './network-record-payment.tsx'

const VIEWS = [
  { value: 'debts', label: 'Owed by merchants' },
  { value: 'received', label: 'Payments received' },
  { value: 'payouts', label: 'Payouts' },
] as const
type View = (typeof VIEWS)[number]['value']

export function NetworkPaymentsPage() {
  const [{ view: wanted }, change] = useAddress()
  const view: View = VIEWS.find(({ value }) => value === wanted)?.value ?? 'debts'
  // The merchant whose payment is recorded; null: none chosen yet.
  const [payer, setPayer] = useState<number | null | undefined>()
  return (
    <div className="space-y-4">
      <PageHead
        title="Payments"
        purpose="A merchant’s payment releases the earnings of publishers, which are paid out by month."
      >
        {useCan('network.write') && (
          <button type="button" className="button button-main" onClick={() => setPayer(null)}>
            Record a payment
          </button>
        )}
      </PageHead>
      <ReadOnlyNote permission="network.write" action="record payments or payouts" />
      <Tabs
        label="Kind of money"
        tabs={VIEWS}
        value={view}
        onChange={(value) => change({ view: value === 'debts' ? undefined : value })}
      >
        {view === 'debts' && <Debts onPay={setPayer} />}
        {view === 'received' && <PaymentList />}
        {view === 'payouts' && <PayoutList />}
      </Tabs>
      {payer !== undefined && <RecordPayment payer={payer} onClose={() => setPayer(undefined)} />}
      <CommandLine commands={COMMANDS[view]} />
    </div>
  )
}

const COMMANDS = {
  debts: [{ does: 'List what merchants owe', line: 'souk ageing' }],
  received: [
    { does: 'List payments', line: 'souk payment list' },
    {
      does: 'Record one',
      line: 'souk payment record --merchant <ID> --amount <USD> --on <DAY> --reference <R>',
    },
    {
      does: 'Reverse one',
      line: "souk payment reverse --merchant <ID> --reference <R> --reason '<reason>'",
    },
  ],
  payouts: [
    { does: 'Issue missing statements', line: 'souk statement issue' },
    {
      does: 'Write the payout file of a month',
      line: 'souk payout file --month <M> --out payouts.csv',
    },
  ],
} as const
