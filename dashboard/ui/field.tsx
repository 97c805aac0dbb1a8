/** A form field with its label, and the service's error message for its value. */
import { type ComponentProps, type RefObject, useEffect, useRef } from 'react'
import { faultsOf } from '../api.ts'
import { Failure } from './notice.tsx'

type Input = Pick<
  ComponentProps<'input'>,
  'type' | 'placeholder' | 'inputMode' | 'autoComplete' | 'autoCapitalize' | 'maxLength'
>

interface FieldProps extends Input {
  /** The parameter's name in the API. Errors are assigned to fields by this name. */
  readonly name: string
  /** Of the element, where another form of the page has a field of this name. */
  readonly id?: string
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error: unknown
  readonly isOptional?: boolean
}

export function Field(props: FieldProps) {
  const { name, id = name, label, value, onChange, error, isOptional = false, ...input } = props
  const fault = faultsOf(error).find(({ field }) => field === name)
  return (
    <div>
      <label htmlFor={id} className="label">
        {label}
        {isOptional && <span className="font-normal text-soft"> (optional)</span>}
      </label>
      <input
        {...input}
        id={id}
        name={name}
        required={!isOptional}
        className="field aria-invalid:border-bad"
        aria-invalid={fault !== undefined}
        aria-describedby={fault && `${id}-fault`}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      {fault !== undefined && (
        <p id={`${id}-fault`} className="mt-1 text-sm text-bad first-letter:uppercase">
          {fault.rule}
        </p>
      )}
    </div>
  )
}

/** Shows the error of a form that no field shows already. */
export function FormFailure(props: { error: unknown; fields: readonly string[] }) {
  const { error, fields } = props
  const faults = faultsOf(error)
  const isSaid = faults.length > 0 && faults.every(({ field }) => fields.includes(field))
  return error === null || isSaid ? null : <Failure error={error} />
}

/** Moves the focus to the first field with an error. */
export function useFaultFocus(error: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (faultsOf(error).length === 0) return
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [error])
  return form
}
