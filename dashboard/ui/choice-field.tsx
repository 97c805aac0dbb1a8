/** A form field whose value is one of a few, with the service's error message. */
import { faultsOf } from '../api.ts'

export function ChoiceField<T extends string>(props: {
  readonly name: string
  readonly label: string
  readonly options: readonly { readonly value: T; readonly label: string }[]
  readonly value: T
  readonly onChange: (value: T) => void
  readonly error: unknown
}) {
  const { name, label, options, value, onChange, error } = props
  const fault = faultsOf(error).find(({ field }) => field === name)
  return (
    <div>
      <label htmlFor={name} className="label">
        {label}
      </label>
      <select
        id={name}
        name={name}
        className="field aria-invalid:border-bad"
        aria-invalid={fault !== undefined}
        aria-describedby={fault && `${name}-fault`}
        value={value}
        onChange={({ target }) => onChange(target.value as T)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {fault !== undefined && (
        <p id={`${name}-fault`} className="mt-1 text-sm text-bad first-letter:uppercase">
          {fault.rule}
        </p>
      )}
    </div>
  )
}
