/** The articles and merchants whose earnings changed most against the compared period. */
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type BreakdownRow, keyOf, readBreakdown } from '../breakdown-api.ts'
import { cents } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { PATHS, type Search } from '../paths.ts'
import { useChosenRange } from '../range.ts'
import { lengthOf } from '../range-days.ts'

const GROUPS = ['article', 'merchant'] as const
const SHOWN_MAX = 6
/** The API breaks down at most two years at a time. */
const DAYS_MAX = 731
/** Smaller changes are noise. */
const CHANGE_USD_MIN = 0.01

interface Changed {
  readonly group: (typeof GROUPS)[number]
  readonly row: BreakdownRow
  readonly change: number
}

export function OverviewChanges() {
  const { pub_id: pubId } = usePublisher()
  const range = useChosenRange()
  const answers = useQueries({
    queries: GROUPS.map((group) => ({
      queryKey: ['breakdown', pubId, range, group, {}],
      queryFn: () => readBreakdown(pubId, { range, group, only: {} }),
      enabled: range.compare !== null && lengthOf(range) <= DAYS_MAX,
    })),
  })
  const changed = GROUPS.flatMap((group, at): Changed[] =>
    (answers[at]?.data?.rows ?? []).map((row) => ({ group, row, change: changeOf(row) })),
  )
    .filter(({ change, row, group }) => Math.abs(change) >= CHANGE_USD_MIN && keyOf(row, group))
    .toSorted((one, other) => Math.abs(other.change) - Math.abs(one.change))
    .slice(0, SHOWN_MAX)
  if (changed.length === 0) return null
  return (
    <section aria-labelledby="changes" className="panel px-4 py-3">
      <h2 id="changes">What changed most</h2>
      <ul className="mt-2 divide-y divide-line text-sm">
        {changed.map((one) => (
          <ChangedLine key={`${one.group} ${keyOf(one.row, one.group)}`} {...one} />
        ))}
      </ul>
    </section>
  )
}

const changeOf = (row: BreakdownRow): number =>
  row.compared_earnings === null ? 0 : Number(row.earnings) - Number(row.compared_earnings)

function ChangedLine({ group, row, change }: Changed) {
  const only = { [group]: keyOf(row, group) ?? '' }
  return (
    <li className="flex items-baseline gap-3 py-1.5">
      <Link
        to={PATHS.performance}
        search={(search: Search) => ({ ...search, only })}
        className="link min-w-0 grow truncate"
      >
        <bdi>{row.name ?? row.url ?? `A ${group}`}</bdi>
      </Link>
      <span className="shrink-0 text-xs text-soft">{group}</span>
      <span
        className={`number w-20 shrink-0 text-right ${change > 0 ? 'text-accent' : 'text-bad'}`}
      >
        {change > 0 ? '+' : ''}
        {cents(String(change))}
      </span>
    </li>
  )
}
