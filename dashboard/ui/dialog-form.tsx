/** A form in a window: fields, the service's error, one button. It closes after success. */
import type { FormEvent, ReactNode } from 'react'
import { isConflict } from '../api.ts'
import { Dialog } from './dialog.tsx'
import { FormFailure, useFaultFocus } from './field.tsx'
import { useOneAtATime } from './use-one-at-a-time.ts'

export function DialogForm(props: {
  title: string
  /** The label of the button. */
  button: string
  /** The names of the fields that show their own errors. */
  fields: readonly string[]
  error: unknown
  isPending: boolean
  isDangerous?: boolean
  onSubmit: () => Promise<unknown>
  /** Loads the record again, after somebody else has changed it. */
  onReload?: () => void
  onClose: () => void
  /** After success; by default the window closes. */
  onDone?: () => void
  children: ReactNode
}) {
  const { title, button, fields, error, isPending, onSubmit, onReload, onClose } = props
  const { onDone = onClose } = props
  const form = useFaultFocus(error)
  const send = useOneAtATime(onSubmit)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (await send(undefined)) onDone()
  }
  const look = props.isDangerous === true ? 'border-bad text-bad' : 'button-main'
  return (
    <Dialog title={title} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      <form ref={form} onSubmit={submit} aria-label={title} className="space-y-3">
        {props.children}
        <FormFailure error={error} fields={fields} />
        <div className="flex flex-wrap justify-end gap-2 pt-1">
          {isConflict(error) && onReload !== undefined && (
            <button type="button" className="button mr-auto" onClick={onReload}>
              Load the changed record
            </button>
          )}
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className={`button ${look}`} aria-busy={isPending}>
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
