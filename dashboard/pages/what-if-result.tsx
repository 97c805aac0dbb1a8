/** The figures of a day as it was, and under the settings that somebody tries. */
import { useQuery } from '@tanstack/react-query'
import { cents, count } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { publisherApi, type WhatIf } from '../publisher-api.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'

const MICROS = 1_000_000
const money = (micros: number | null): string =>
  micros === null ? '–' : cents(String(micros / MICROS))

interface Figure {
  readonly name: string
  readonly before: string
  readonly after: string
  readonly change: string
  readonly isBetter: boolean | null
}

export function WhatIfResult({ result }: { result: WhatIf }) {
  const { auctions, clicks, skipped, winner_changed: changed } = result
  return (
    <div className="space-y-4">
      <dl className="grid gap-3 sm:grid-cols-2 xl:grid-cols-4">
        {figuresOf(result).map((figure) => (
          <Card key={figure.name} figure={figure} />
        ))}
      </dl>
      <p className="text-sm text-soft" role="status">
        {count(auctions)} auctions with {count(clicks)} clicks ran again; {count(changed)} had
        another winner.{skipped > 0 && ` ${count(skipped)} could not run again.`} Amounts are
        estimates: a bid that you may not see counts with the middle of its range.
      </p>
      <Winners result={result} />
    </div>
  )
}

function figuresOf({ before, after, difference, auctions }: WhatIf): Figure[] {
  const changeOf = (micros: number | null, isMoreBetter: boolean) => ({
    change: micros === null ? '' : `${micros > 0 ? '+' : ''}${money(micros)}`,
    isBetter: micros === null || micros === 0 ? null : micros > 0 === isMoreBetter,
  })
  const share = (won: number) => `${Math.round((won / Math.max(auctions, 1)) * 100)} %`
  return [
    {
      ...{ name: 'Earnings of the day', before: money(before.earnings_micros) },
      after: money(after.earnings_micros),
      ...changeOf(difference.earnings_micros, true),
    },
    {
      ...{ name: 'Worth of a click', before: money(before.earnings_per_click_micros) },
      after: money(after.earnings_per_click_micros),
      ...changeOf(difference.earnings_per_click_micros, true),
    },
    {
      ...{ name: 'Auctions with a winner', before: share(before.won), after: share(after.won) },
      change: `${difference.won > 0 ? '+' : ''}${count(difference.won)}`,
      isBetter: difference.won === 0 ? null : difference.won > 0,
    },
    {
      ...{ name: 'Price for readers', before: money(before.reader_price_micros) },
      after: money(after.reader_price_micros),
      ...changeOf(difference.reader_price_micros, false),
    },
  ]
}

function Card({ figure }: { figure: Figure }) {
  const { name, before, after, change, isBetter } = figure
  const tone = isBetter === null ? 'text-soft' : isBetter ? 'text-accent' : 'text-bad'
  return (
    <div className="panel px-4 py-3">
      <dt className="text-sm text-soft">{name}</dt>
      <dd className="number text-2xl font-semibold tracking-tight">{after}</dd>
      <dd className="number text-xs text-soft">
        was {before}
        {isBetter !== null && <span className={`ml-2 font-medium ${tone}`}>{change}</span>}
      </dd>
    </div>
  )
}

interface Wins {
  readonly name: string
  readonly before: number
  readonly after: number
}

const COLUMNS: readonly Column<Wins>[] = [
  { id: 'name', head: 'Winner', value: ({ name }) => name },
  { id: 'before', head: 'As it was', kind: 'count', isSum: true, value: (wins) => wins.before },
  { id: 'after', head: 'With this', kind: 'count', isSum: true, value: (wins) => wins.after },
  {
    ...{ id: 'change', head: 'Change', kind: 'count' },
    value: ({ before, after }) => after - before,
  },
]

function Winners({ result: { winners } }: { result: WhatIf }) {
  const { pub_id: pubId } = usePublisher()
  const merchants = useQuery({
    queryKey: ['merchants', pubId],
    queryFn: () => publisherApi.merchants(pubId),
    staleTime: Infinity,
  })
  const names = new Map(merchants.data?.map(({ merch_id: id, name }) => [id, name]))
  const rows = winners.map(({ merch_id: id, before, after }) => ({
    name: id === 0 ? 'Nobody' : (names.get(id) ?? `Merchant ${id}`),
    ...{ before, after },
  }))
  return (
    <DataTable
      id="what-if-winners"
      label="Winners"
      rows={rows}
      keyOf={({ name }) => name}
      columns={COLUMNS}
      sort={{ by: 'after' }}
    />
  )
}
