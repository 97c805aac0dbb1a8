/** A choice of one among many, with a search field. The options may be in groups. */
import { Combobox as Base } from '@base-ui/react/combobox'
import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'
import { GROUP_LABEL, ITEM, POPUP } from './popup.ts'

export interface Option<T> {
  readonly value: T
  /** Searched and shown. */
  readonly label: string
  /** Shown at the end of its line. */
  readonly note?: string
}

export function Combobox<T>(props: {
  label: string
  placeholder?: string
  groups: readonly { readonly name: string; readonly options: readonly Option<T>[] }[]
  value: T | null
  onChange: (value: T) => void
  /** Shown in the button; otherwise the label of the chosen option. */
  children?: ReactNode
  className?: string
}) {
  const { label, groups, value, onChange, className = 'button' } = props
  const items = groups.map(({ name, options }) => ({ value: name, items: [...options] }))
  const all = groups.flatMap(({ options }) => options)
  const chosen = all.find((option) => option.value === value) ?? null
  return (
    <Base.Root
      items={items}
      value={chosen}
      itemToStringLabel={(option: Option<T>) => option.label}
      isItemEqualToValue={(one: Option<T>, other: Option<T>) => one.value === other.value}
      onValueChange={(option) => option !== null && onChange(option.value)}
    >
      <Base.Trigger aria-label={label} className={className}>
        <span className="min-w-0 grow truncate text-left">
          {props.children ?? <bdi>{chosen?.label ?? props.placeholder ?? label}</bdi>}
        </span>
        <Icon name="updown" size={14} />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner align="start" sideOffset={4} className="z-30 outline-none">
          <Base.Popup aria-label={label} className={`${POPUP} w-80 max-w-(--available-width)`}>
            <div className="border-b border-line p-1.5">
              <Base.Input
                aria-label={props.placeholder ?? label}
                placeholder={props.placeholder ?? 'Search'}
                className="field field-small"
              />
            </div>
            <Base.Empty>
              <p className="px-4 py-3 text-sm text-soft">Nothing found.</p>
            </Base.Empty>
            <Base.List className="max-h-[min(24rem,var(--available-height))] overflow-y-auto p-1.5 outline-none empty:p-0">
              {(group: (typeof items)[number]) => (
                <Base.Group key={group.value} items={group.items}>
                  <Base.GroupLabel className={GROUP_LABEL}>{group.value}</Base.GroupLabel>
                  <Base.Collection>
                    {(option: Option<T>) => (
                      <Base.Item key={String(option.value)} value={option} className={ITEM}>
                        <bdi className="min-w-0 grow truncate">{option.label}</bdi>
                        {option.note !== undefined && (
                          <span className="text-xs text-soft">{option.note}</span>
                        )}
                        <Base.ItemIndicator>
                          <Icon name="check" size={14} />
                        </Base.ItemIndicator>
                      </Base.Item>
                    )}
                  </Base.Collection>
                </Base.Group>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
