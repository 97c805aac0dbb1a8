/** A window above the page. It holds the focus until it closes. */
import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'
import { BACKDROP, POPUP } from './popup.ts'

export function Dialog(props: {
  title: string
  isOpen: boolean
  onOpenChange: (isOpen: boolean) => void
  children: ReactNode
}) {
  const { title, isOpen, onOpenChange, children } = props
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => onOpenChange(open)}>
      <Base.Portal>
        <Base.Backdrop className={BACKDROP} />
        <Base.Viewport className="fixed inset-0 z-30 flex items-start justify-center overflow-auto p-4 pt-[10vh]">
          <Base.Popup className={`${POPUP} w-full max-w-lg p-5`}>
            <div className="mb-3 flex items-start justify-between gap-4">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              <Base.Close aria-label="Close" className="button button-small button-quiet -m-1">
                <Icon name="close" />
              </Base.Close>
            </div>
            {children}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  )
}

/** A panel at the left edge, for the menu of a phone. */
export function Drawer(props: {
  title: string
  isOpen: boolean
  onOpenChange: (isOpen: boolean) => void
  children: ReactNode
}) {
  const { title, isOpen, onOpenChange, children } = props
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => onOpenChange(open)}>
      <Base.Portal>
        <Base.Backdrop className={BACKDROP} />
        <Base.Popup className="fixed inset-y-0 left-0 z-30 flex w-72 max-w-[85vw] flex-col overflow-y-auto border-r border-line bg-panel p-3 outline-none transition-transform duration-150 data-ending-style:-translate-x-full data-starting-style:-translate-x-full">
          <div className="mb-2 flex items-center justify-between pl-2">
            <Base.Title className="text-sm font-semibold">{title}</Base.Title>
            <Base.Close aria-label="Close" className="button button-small button-quiet">
              <Icon name="close" />
            </Base.Close>
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
