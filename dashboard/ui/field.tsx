/** A field of a form: its label, and below it what the service found wrong with its value. */
import { type ComponentProps, type RefObject, useEffect, useRef } from 'react'
import { faultsOf } from '../api.ts'
import { Failure } from './notice.tsx'

type Input = Pick<
  ComponentProps<'input'>,
  'type' | 'placeholder' | 'inputMode' | 'autoComplete' | 'autoCapitalize' | 'maxLength' | 'max'
>

interface FieldProps extends Input {
  /** As the call names it: the service's faults are told by it. */
  readonly name: string
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error: unknown
  readonly isOptional?: boolean
}

export function Field(props: FieldProps) {
  const { name, label, value, onChange, error, isOptional = false, ...input } = props
  const fault = faultsOf(error).find(({ field }) => field === name)
  return (
    <div>
      <label htmlFor={name} className="label">
        {label}
        {isOptional && <span className="font-normal text-soft"> (optional)</span>}
      </label>
      <input
        {...input}
        id={name}
        name={name}
        required={!isOptional}
        className="field aria-invalid:border-bad"
        aria-invalid={fault !== undefined}
        aria-describedby={fault && `${name}-fault`}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      {fault !== undefined && (
        <p id={`${name}-fault`} className="mt-1 text-sm text-bad first-letter:uppercase">
          {fault.rule}
        </p>
      )}
    </div>
  )
}

/** What is wrong with a form as a whole; what its fields say already is not said again. */
export function FormFailure(props: { error: unknown; fields: readonly string[] }) {
  const { error, fields } = props
  const faults = faultsOf(error)
  const isSaid = faults.length > 0 && faults.every(({ field }) => fields.includes(field))
  return error === null || isSaid ? null : <Failure error={error} />
}

/** Puts the cursor where the form, refused, has to be changed first. */
export function useFaultFocus(error: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (faultsOf(error).length === 0) return
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [error])
  return form
}
