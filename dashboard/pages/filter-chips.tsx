/** The filters of the page Performance, each with a button that removes it. */
import { useQueries } from '@tanstack/react-query'
import { useAddress } from '../address.ts'
import { readBreakdown } from '../breakdown-api.ts'
import { usePublisher } from '../organization.ts'
import { FILTERS, type FilterName } from '../paths.ts'
import { useChosenRange } from '../range.ts'
import { Icon } from '../ui/icon.tsx'

const NAMES: Readonly<Record<FilterName, string>> = {
  article: 'Article',
  link: 'Link',
  merchant: 'Merchant',
  product: 'Product',
  device: 'Device',
  country: 'Country',
}

export function FilterChips() {
  const [{ only = {} }, change] = useAddress()
  const { pub_id: pubId } = usePublisher()
  const range = useChosenRange()
  const chosen = FILTERS.flatMap((name) =>
    only[name] === undefined ? [] : [{ name, value: only[name] }],
  )
  // The URL has IDs; the row of one value has its name.
  const names = useQueries({
    queries: chosen.map(({ name, value }) => ({
      queryKey: ['filter name', pubId, range, name, value],
      queryFn: async () => {
        const { rows } = await readBreakdown(pubId, {
          ...{ range, group: name },
          only: { [name]: value },
        })
        return rows[0]?.name ?? null
      },
      staleTime: Infinity,
      enabled: name !== 'device' && name !== 'country',
    })),
  })
  if (chosen.length === 0) return null
  const remove = (name: FilterName) => {
    const { [name]: _removed, ...rest } = only
    change({ only: Object.keys(rest).length === 0 ? undefined : rest })
  }
  return (
    <ul aria-label="Filters" className="flex flex-wrap gap-2">
      {chosen.map(({ name, value }, at) => {
        const text = names[at]?.data ?? value
        return (
          <li key={name} className="chip max-w-full gap-1.5 bg-tint py-1 pr-1 text-accent">
            {NAMES[name]}: <bdi className="max-w-64 truncate">{text}</bdi>
            <button
              type="button"
              aria-label={`Remove the filter ${NAMES[name]}`}
              className="rounded-full p-1 hover:bg-panel"
              onClick={() => remove(name)}
            >
              <Icon name="close" size={12} />
            </button>
          </li>
        )
      })}
    </ul>
  )
}
