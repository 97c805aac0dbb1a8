/** A box that a button opens beside itself. */
import { Popover as Base } from '@base-ui/react/popover'
import type { ReactNode } from 'react'
import { POPUP } from './popup.ts'

export function Popover(props: {
  /** The name of the box. */
  label: string
  /** The content of the button, which also names it. */
  button: ReactNode
  isOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
  className?: string
  children: ReactNode
}) {
  const { label, button, isOpen, onOpenChange, className = 'button button-small' } = props
  return (
    <Base.Root
      {...(isOpen === undefined ? {} : { open: isOpen })}
      onOpenChange={(open) => onOpenChange?.(open)}
    >
      <Base.Trigger className={className}>{button}</Base.Trigger>
      <Base.Portal>
        <Base.Positioner align="end" sideOffset={4} collisionPadding={8} className="z-30">
          <Base.Popup
            aria-label={label}
            className={`${POPUP} max-h-(--available-height) max-w-(--available-width) overflow-auto p-3`}
          >
            {props.children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
