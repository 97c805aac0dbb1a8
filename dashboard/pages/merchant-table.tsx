/** Earnings by merchant, and since when each amount is owed. */
import type { Payments } from '../api.ts'
import { date } from '../format.ts'
import { type MoneyColumn, MoneyTable } from '../ui/money-table.tsx'

type Merchant = Payments['merchants'][number]

const COLUMNS: readonly MoneyColumn<Merchant>[] = [
  { head: 'Owed', amount: (one) => one.due_usd },
  { head: 'Since', cell: ({ due_since: since }) => (since === null ? '–' : date(since)) },
  { head: 'Pending', amount: (one) => one.open_usd },
  { head: 'Released', amount: (one) => one.released_usd },
]

export function MerchantTable({ merchants }: { merchants: readonly Merchant[] }) {
  return (
    <MoneyTable
      id="by-merchant"
      title="By merchant"
      rows={merchants}
      keyOf={(one) => one.merch_id}
      name={{ head: 'Merchant', cell: (one) => <bdi>{one.merchant_name}</bdi> }}
      columns={COLUMNS}
    />
  )
}
