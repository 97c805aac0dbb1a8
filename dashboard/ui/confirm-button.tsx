/** A button that asks before it acts. */
import { type RefObject, useState } from 'react'

export function ConfirmButton(props: {
  /** What the button does, such as Remove. */
  label: string
  /** The label for screen readers, with the name of the record. */
  full: string
  question: string
  sure: string
  /** Gets the focus, because the buttons disappear. */
  line: RefObject<HTMLElement | null>
  onConfirm: () => void
}) {
  const { label, full, question, sure, line, onConfirm } = props
  const [isAsking, setAsking] = useState(false)
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm">
      {isAsking && (
        <>
          <span role="status">{question}</span>
          <button
            type="button"
            className="button button-small border-bad text-bad"
            onClick={() => {
              line.current?.focus()
              setAsking(false)
              onConfirm()
            }}
          >
            {sure}
          </button>
        </>
      )}
      {/* One button for both states keeps the keyboard focus. */}
      <button
        type="button"
        className="button button-small"
        aria-label={isAsking ? undefined : full}
        onClick={() => setAsking(!isAsking)}
      >
        {isAsking ? 'Cancel' : label}
      </button>
    </div>
  )
}
