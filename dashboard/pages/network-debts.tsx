/** What each merchant owes, by the age of the debt. */
import { useQuery } from '@tanstack/react-query'
import { type Ageing, network } from '../network-api.ts'
import { useCan } from '../organization.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'

export function Debts({ onPay }: { onPay: (merchId: number) => void }) {
  const ageing = useQuery({ queryKey: ['network', 'ageing'], queryFn: network.ageing })
  const canWrite = useCan('network.write')
  if (ageing.data === undefined) return <Progress query={ageing} />
  return (
    <DataTable
      id="network-debts"
      label="Owed by merchants"
      isBare
      rows={ageing.data}
      keyOf={({ merch_id }) => merch_id}
      columns={COLUMNS}
      sort={{ by: 'owed' }}
      {...(canWrite && { onRow: ({ merch_id }: Ageing) => onPay(merch_id) })}
      note={canWrite ? 'Choose a merchant to record its payment.' : undefined}
      empty={
        <EmptyState title="No merchant owes anything" icon="check">
          Costs appear here as soon as they are due.
        </EmptyState>
      }
    />
  )
}

const COLUMNS: readonly Column<Ageing>[] = [
  { id: 'merchant', head: 'Merchant', value: ({ merchant }) => merchant },
  { id: 'owed', head: 'Owed', kind: 'money', isSum: true, value: (one) => one.owed_usd },
  {
    ...{ id: 'to30', head: 'Up to 30 days', kind: 'money', isSum: true },
    value: (one) => one.up_to_30_days_usd,
  },
  {
    ...{ id: 'to60', head: '31 to 60 days', kind: 'money', isSum: true },
    value: (one) => one.up_to_60_days_usd,
  },
  {
    ...{ id: 'to90', head: '61 to 90 days', kind: 'money', isSum: true },
    value: (one) => one.up_to_90_days_usd,
  },
  {
    ...{ id: 'over90', head: 'Over 90 days', kind: 'money', isSum: true },
    value: (one) => one.over_90_days_usd,
  },
  { id: 'credit', head: 'Credit', kind: 'money', isSum: true, value: (one) => one.credit_usd },
  { id: 'oldest', head: 'Oldest debt', kind: 'day', value: (one) => one.oldest_due_at },
]
