/** Which merchants may win: all, all but some, or only some. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePublisher } from '../organization.ts'
import { type NamedMerchant, publisherApi } from '../publisher-api.ts'
import { Choice } from '../ui/choice.tsx'
import type { Trial } from './trial.ts'

const MODES = [
  { value: 'all', label: 'All' },
  { value: 'block', label: 'All but …' },
  { value: 'allow', label: 'Only …' },
] as const
type Mode = (typeof MODES)[number]['value']

export function MerchantLists(props: { trial: Trial; onChange: (part: Partial<Trial>) => void }) {
  const { trial, onChange } = props
  const { pub_id: pubId } = usePublisher()
  const merchants = useQuery({
    queryKey: ['merchants', pubId],
    queryFn: () => publisherApi.merchants(pubId),
    staleTime: Infinity,
  })
  const mode: Mode = trial.allow.length > 0 ? 'allow' : trial.block.length > 0 ? 'block' : 'all'
  const [wanted, setWanted] = useState<Mode>(mode)
  const shown = mode === 'all' ? wanted : mode
  const list = shown === 'allow' ? trial.allow : trial.block
  const listed = (ids: readonly number[]) =>
    shown === 'allow' ? { allow: ids, block: [] } : { allow: [], block: ids }
  return (
    <fieldset className="space-y-2 text-sm">
      <legend className="mb-1 font-medium">Merchants</legend>
      <Choice
        label="Merchants that may win"
        options={MODES}
        value={shown}
        onChange={(next) => {
          setWanted(next)
          onChange({ allow: [], block: [] })
        }}
      />
      {shown !== 'all' &&
        named(merchants.data ?? [], list).map(({ merch_id: id, name }) => (
          <label key={id} className="flex items-center gap-2">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={list.includes(id)}
              onChange={({ target }) =>
                onChange(listed(target.checked ? [...list, id] : list.filter((one) => one !== id)))
              }
            />
            <bdi>{name}</bdi>
          </label>
        ))}
    </fieldset>
  )
}

/** Merchants that a list has already excluded are not among those of the feeds. */
function named(merchants: readonly NamedMerchant[], list: readonly number[]) {
  const unknown = list.filter((id) => merchants.every((one) => one.merch_id !== id))
  return [...merchants, ...unknown.map((id) => ({ merch_id: id, name: `Merchant ${id}` }))]
}
