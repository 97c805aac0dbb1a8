/** Views of one page, of which one is shown. The page keeps the choice in its URL. */
import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'

export function Tabs<T extends string>(props: {
  label: string
  tabs: readonly { readonly value: T; readonly label: string }[]
  value: T
  onChange: (value: T) => void
  /** The content of the chosen tab. */
  children: ReactNode
}) {
  return (
    <Base.Root value={props.value} onValueChange={(value: T) => props.onChange(value)}>
      <Base.List
        aria-label={props.label}
        className="flex gap-1 overflow-x-auto border-b border-line print:hidden"
      >
        {props.tabs.map(({ value, label }) => (
          <Base.Tab
            key={value}
            value={value}
            className="border-b-2 border-transparent px-3 py-2 text-sm font-medium whitespace-nowrap text-soft hover:text-ink focus-visible:-outline-offset-2 data-active:border-accent data-active:text-ink"
          >
            {label}
          </Base.Tab>
        ))}
      </Base.List>
      <Base.Panel value={props.value} className="pt-4 outline-none">
        {props.children}
      </Base.Panel>
    </Base.Root>
  )
}
