/** A form field whose value is one of many, with a search. */
import { Combobox, type Option } from './combobox.tsx'

export function ComboboxField<T>(props: {
  label: string
  placeholder: string
  /** The name of the options in the list. */
  group: string
  options: readonly Option<T>[]
  value: T | null
  onChange: (value: T) => void
}) {
  const { label, group, options, ...rest } = props
  return (
    <div>
      <span aria-hidden="true" className="label">
        {label}
      </span>
      <Combobox
        {...rest}
        label={label}
        groups={[{ name: group, options }]}
        className="button w-full"
      />
    </div>
  )
}
