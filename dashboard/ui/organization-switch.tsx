/** The choice among the user's organizations, with a search. */
import { type Membership, nameOf } from '../membership.ts'
import { useChosen, useSwitch } from '../organization.ts'
import { Combobox } from './combobox.tsx'

const KINDS = [
  { kind: 'publisher', name: 'Publishers' },
  { kind: 'merchant', name: 'Merchants' },
  { kind: 'network', name: 'Network' },
] as const

export function OrganizationSwitch({ memberships }: { memberships: readonly Membership[] }) {
  const chosen = useChosen()
  const switchTo = useSwitch()
  const name = chosen?.name ?? ''
  const byName = new Map(memberships.map((one) => [nameOf(one.organization), one]))
  const groups = KINDS.map(({ kind, name: title }) => ({
    name: title,
    options: [...byName]
      .filter(([, { organization }]) => organization.kind === kind)
      .map(([value, one]) => ({ value, label: one.name, note: one.role })),
  }))
  return (
    <Combobox
      label="Organization"
      placeholder="Find an organization"
      groups={groups.filter(({ options }) => options.length > 0)}
      value={chosen ? nameOf(chosen.organization) : null}
      onChange={(value) => {
        const membership = byName.get(value)
        if (membership !== undefined) switchTo(membership)
      }}
      className="button button-small min-w-0 max-w-72 shrink"
    >
      <bdi>{name || 'Choose an organization'}</bdi>
    </Combobox>
  )
}
